/* The jobs of a session, one by one, for a client that lists them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/viewer_impl.h"
#include "endpoints/sys/clock.h"
#include "topo/hosts.h"

enum { NS_PER_S = 1000000000, FOLDED_BYTES = 40 };

/* Returns the first job that is not over and whose base is at least this
 * number. */
static const struct ep_seen_job *find_job(const struct ep_viewers *all,
                                          uint32_t base)
{
    const struct ep_seen_job *job =
        all->cfg.events != NULL ? all->seen.jobs : NULL;

    while (job != NULL &&
           (job->base < base || job->is_over || job->stage == JOB_DOOR_OVER))
        job = job->next;
    return job;
}

/* Counts the hosts of a job, and folds some of their names into a text. */
static uint32_t list_hosts(const struct ep_seen_job *job, char *text)
{
    struct topo_hosts hosts;
    uint32_t count;
    char *folded;

    topo_hosts_init(&hosts);
    for (uint32_t i = 0; i < job->parts; i++) {
        const char *host = job->places[i].host;

        if (topo_hosts_find(&hosts, host, strlen(host)) == TOPO_NONE)
            (void)topo_hosts_add(&hosts, host, strlen(host), 0);
    }
    folded = topo_hosts_fold_short(&hosts, FOLDED_BYTES);
    snprintf(text, EP_VIEWERS_HOSTS_BYTES, "%s", folded != NULL ? folded : "?");
    count = hosts.count;
    free(folded);
    topo_hosts_fini(&hosts);
    return count;
}

static struct job_door_row row_of(const struct ep_viewers *all,
                                  const struct ep_seen_job *job)
{
    const uint64_t now_s = ep_clock_unix_ns() / NS_PER_S;
    struct ep_client_flow flow = {.quiet_ns = UINT64_MAX};

    all->cfg.events->on_flow(all->cfg.arg, job->base, &flow);
    return (struct job_door_row){
        .name = job->name,
        .left = job->size - job->exited,
        .age_s = now_s > job->stage_s[0] ? now_s - job->stage_s[0] : 0,
        .output_bytes = flow.output_bytes,
        .quiet_s =
            flow.quiet_ns != UINT64_MAX ? flow.quiet_ns / NS_PER_S : UINT64_MAX,
        .stdin_bytes = flow.stdin_bytes,
        .waiting_bytes = flow.waiting_bytes,
    };
}

void ep_viewers_list(const struct ep_viewers *all, uint32_t base,
                     char hosts[EP_VIEWERS_HOSTS_BYTES],
                     struct job_door *answer)
{
    const struct ep_seen_job *job = find_job(all, base);

    *answer =
        (struct job_door){.kind = JOB_DOOR_LISTED, .is_over = job == NULL};
    if (job == NULL)
        return;
    answer->is_dvm = job->is_daemons;
    answer->first = job->base;
    answer->count = job->size;
    answer->host = hosts;
    answer->row = row_of(all, job);
    answer->row.hosts = list_hosts(job, hosts);
    snprintf(answer->text, sizeof(answer->text), "%s", job->words.command);
}

bool ep_viewers_groups(const struct ep_viewers *all, uint32_t base,
                       struct text_buf *text, bool *is_more)
{
    const struct ep_seen_job *job = find_job(all, base);

    if (job == NULL || job->base != base || job->is_daemons)
        return false;
    *is_more = !all->cfg.events->on_groups(all->cfg.arg, base, text);
    return true;
}
