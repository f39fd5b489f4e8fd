/* Passes on what the dvm says of processes that make no progress. */
#include "commands/submit/stalled.h"

#include <stdbool.h>
#include <stdlib.h>

#include "commands/attach/show.h"
#include "commands/attach/words.h"
#include "endpoints/client/ranges.h"
#include "endpoints/run/beside.h"
#include "job/door.h"
#include "topo/ranges.h"

static struct {
    const struct show_job *job;
    struct run_beside *beside; /* owned; NULL: no command is run */
    struct topo_ranges named;  /* owned: processes that RANGES have named */
} stalled;

int stalled_open(struct event_base *base, pid_t dvm, const struct show_job *job,
                 const char *command)
{
    const struct run_beside_cfg cfg = {.base = base,
                                       .voice = words_voice(),
                                       .pid = dvm,
                                       .job = job->nspace,
                                       .command = command};

    stalled.job = job;
    return command != NULL ? ep_run_beside_open(&cfg, &stalled.beside) : 0;
}

void stalled_close(void)
{
    ep_run_beside_close(stalled.beside);
    stalled.beside = NULL;
    ep_ranges_clear(&stalled.named);
}

/* Runs the command beside the processes that were named. */
static void run_beside(uint32_t base)
{
    const uint32_t size = stalled.job->size;
    bool *ranks = calloc((size_t)size + 1, sizeof(*ranks));

    for (uint32_t rank = 0; ranks != NULL && rank < size; rank++)
        ranks[rank] = topo_ranges_touches(
            &stalled.named, (struct topo_range){base + rank, base + rank});
    if (ranks != NULL)
        ep_run_beside(stalled.beside, ranks, size);
    free(ranks);
    ep_ranges_clear(&stalled.named);
}

void stalled_hear(const struct job_door *msg, uint32_t base)
{
    const uint32_t size = stalled.job->size;
    const struct topo_range all = {base, base + size - 1};

    if (msg->kind == JOB_DOOR_RANGES && stalled.beside != NULL) {
        (void)ep_ranges_read(&stalled.named, msg->rest, all, size);
    } else if (msg->kind == JOB_DOOR_STALLED) {
        if (msg->text[0] != '\0')
            words_say("%s", msg->text);
        if (stalled.named.count > 0)
            run_beside(base);
    }
}
