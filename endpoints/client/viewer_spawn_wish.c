/* Turns a client's request for a job into the form that the launcher takes. */
#include <stdio.h>

#include "endpoints/client/viewer_impl.h"
#include "job/request.h"

static struct ep_client_sinks sinks_of(const struct job_request *request)
{
    static const enum ep_names_kind kinds[JOB_REQUEST_FILES] = {
        [JOB_REQUEST_NO_FILES] = EP_NAMES_NONE,
        [JOB_REQUEST_DIR] = EP_NAMES_DIR,
        [JOB_REQUEST_FILE] = EP_NAMES_FILE,
        [JOB_REQUEST_PATTERN] = EP_NAMES_PATTERN,
    };

    return (struct ep_client_sinks){
        .names = {.kind = kinds[request->files], .text = request->name},
        .style = {.label = (enum text_label_mode)request->label,
                  .format = (enum text_format_kind)request->format,
                  .has_time = request->has_time},
        .is_raw = request->is_raw,
        .merges_stderr = request->merges_stderr,
        .is_shown = request->is_shown,
        .is_show_needed = request->needs_shown,
    };
}

bool ep_viewer_spawn_wish(struct ep_viewers *all,
                          const struct job_request *request,
                          struct ep_client_spawned *out, char *why)
{
    const struct ep_client_spawn spawn = {
        .apps = request->apps,
        .apps_count = request->apps_count,
        .has_stddiag = request->has_stddiag,
        .has_stdin = request->has_stdin,
        .reader = request->reader,
        .keeps_last = request->keeps_last,
        .watch = {request->stall_ms, request->stall_all},
        .output = sinks_of(request),
        .cache_bytes = request->cache_bytes,
        .cache_channels = request->forwards,
    };
    bool is_made;

    if (spawn.output.names.kind == EP_NAMES_PATTERN &&
        ep_names_fault(request->name) != NULL) {
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "'%.128s' is not a pattern for names of output files",
                 request->name);
        return false;
    }
    all->asked = request;
    is_made = all->cfg.events->on_spawn(all->cfg.arg, &spawn, out, why);
    all->asked = NULL;
    return is_made;
}
