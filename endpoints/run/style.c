/* Turns the options about output into the configuration of its takers. */
#include "endpoints/run/style.h"

#include <string.h>

#include "endpoints/sys/path.h"

static struct ep_names names_of(const struct ep_run_options *options)
{
    struct ep_names names = {.kind = EP_NAMES_NONE};

    if (options->output != NULL || options->error != NULL) {
        names.kind = EP_NAMES_EXACT;
        names.text = options->output;
        names.err = options->error != NULL ? options->error : options->output;
    } else if (options->output_dir != NULL) {
        names.kind = EP_NAMES_DIR;
        names.text = options->output_dir;
    } else if (options->output_file != NULL) {
        names.kind = strchr(options->output_file, '%') != NULL
                         ? EP_NAMES_PATTERN
                         : EP_NAMES_FILE;
        names.text = options->output_file;
    }
    return names;
}

void ep_run_output_cfg(const struct ep_run_options *options, const char *nspace,
                       struct ep_output_cfg *cfg)
{
    *cfg = (struct ep_output_cfg){
        .names = names_of(options),
        .file_only = options->file_only || options->output != NULL,
        .fold_how = options->fold,
    };
    ep_console_cfg_init(&cfg->console);
    cfg->console.is_raw = options->raw;
    cfg->console.style = options->style;
    cfg->console.style.nspace = nspace;
}

void ep_run_style_fit(struct text_style *style, uint32_t ranks,
                      const char *(*host_of)(const void *arg, uint32_t rank),
                      const void *arg)
{
    style->rank_digits = text_style_digits(ranks);
    style->host_bytes = 0;
    if (style->label != TEXT_LABEL_HOST)
        return;
    for (uint32_t rank = 0; rank < ranks; rank++)
        text_style_widen(style, host_of(arg, rank));
}

/* Files that a pattern names are checked only when they are written to. */
static int look_at(const char *option, const char *path, int *fd, char *why)
{
    *fd = -1;
    if (path == NULL || strchr(path, '%') != NULL)
        return 0;
    return ep_path_write(option, path, fd, why);
}

int ep_run_output_look(const struct ep_run_options *options, int fds[2],
                       char *why)
{
    int rc = look_at("--output", options->output, &fds[0], why);

    fds[1] = -1;
    return rc == 0 ? look_at("--error", options->error, &fds[1], why) : rc;
}
