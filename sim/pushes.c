/* Makes the pushes of tools from the seed. */
#include "sim/pushes.h"

#include <stdlib.h>

#include "job/job.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "sim/stdin.h"

enum { JOB_SHIFT = 16 };

/* The pushes to a stream, in the order in which tools made them. */
struct list {
    uint32_t *serials; /* owned: job << JOB_SHIFT | number */
    uint32_t count;
};

struct sim_pushes {
    struct list lists[SIM_STREAMS];
};

int sim_pushes_open(struct sim_world *w)
{
    const struct sim_job *job = &w->cfg.job;
    uint32_t most = job->tool.pushes;

    w->pushes = calloc(1, sizeof(*w->pushes));
    if (w->pushes == NULL)
        return OV_ENOMEM;
    w->jobs.pushers = job->tool.pushes > 0;
    for (uint32_t i = 0; i < job->further_count; i++) {
        most += job->further[i].tool.pushes;
        w->jobs.pushers += job->further[i].tool.pushes > 0;
    }
    for (uint32_t i = 1; i < SIM_STREAMS && most > 0; i++) {
        w->pushes->lists[i].serials = calloc(most, sizeof(uint32_t));
        if (w->pushes->lists[i].serials == NULL)
            return OV_ENOMEM;
    }
    return 0;
}

void sim_pushes_close(struct sim_world *w)
{
    for (uint32_t i = 0; w->pushes != NULL && i < SIM_STREAMS; i++)
        free(w->pushes->lists[i].serials);
    free(w->pushes);
}

/* --- the pushes */

static struct topo_range some_of(const struct job *job, uint64_t draw)
{
    uint32_t first = (uint32_t)(draw % job->size);
    uint32_t more = (uint32_t)(draw / job->size % (job->size - first));

    return (struct topo_range){job->base + first, job->base + first + more};
}

/* Makes a push. Each names its set of processes, so that it is one frame and
 * the set need not be named again. The last push to a further job is for all
 * its processes, and closes their stdin; half of the others, as the seed
 * chooses, are for some processes only. */
static uint32_t make_push(const struct sim_world *w, uint32_t serial,
                          uint8_t *mem)
{
    const struct sim_told *job = &w->jobs.told[serial >> JOB_SHIFT];
    uint32_t number = serial & ((1u << JOB_SHIFT) - 1);
    bool closes = job->tasks != NULL && number + 1 == job->tool.pushes;
    uint64_t draw =
        sim_random_mix(sim_random_mix(w->cfg.seed ^ UINT64_C(0x9054)) ^ serial);
    struct topo_range set = {job->desc.base,
                             job->desc.base + job->desc.size - 1};
    struct ov_wr wr = ov_wr_init(mem, SIM_PUSH_MESSAGE_MAX);

    if (!closes && draw % 2 == 0)
        set = some_of(&job->desc, draw / 2);
    ov_push_encode(&wr, OV_PUSH_NEW | (closes ? OV_PUSH_CLOSE : 0), &set, 1);
    for (uint32_t i = 0; i < job->tool.push_bytes; i++)
        ov_wr_u8(&wr, (uint8_t)(draw + i));
    OV_ASSERT(!wr.bad);
    return (uint32_t)(wr.at - mem);
}

uint32_t sim_pushes_nth(const struct sim_world *w, uint32_t stream,
                        uint32_t nth, uint8_t *mem)
{
    const struct list *list = &w->pushes->lists[stream];

    return nth < list->count ? make_push(w, list->serials[nth], mem) : 0;
}

/* --- when tools push */

static void plan_push(struct sim_world *w, uint32_t job, uint32_t number,
                      uint64_t after_ns)
{
    sim_push(w, w->step.now_ns + after_ns, SIM_ITEM_PUSH, 0,
             (struct sim_item){.arg = job, .era = number});
}

void sim_pushes_begin(struct sim_world *w, uint32_t job)
{
    const struct sim_tool *tool = &w->jobs.told[job].tool;

    if (tool->pushes > 0)
        plan_push(w, job, 0, tool->at_ns);
}

bool sim_pushes_on_push(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev)
{
    const struct sim_told *job = &w->jobs.told[item->arg];
    uint32_t stream = job->tasks == NULL ? JOB_STREAM_STDIN : JOB_STREAM_PUSHED;
    struct list *list = &w->pushes->lists[stream];
    uint8_t mem[SIM_PUSH_MESSAGE_MAX];

    (void)ev;
    w->step.now_ns = item->at_ns;
    list->serials[list->count++] = item->arg << JOB_SHIFT | item->era;
    sim_stdin_push(w, stream, item->arg, mem,
                   make_push(w, list->serials[list->count - 1], mem));
    if (item->era + 1 < job->tool.pushes)
        plan_push(w, item->arg, item->era + 1, job->tool.every_ns);
    else if (stream == JOB_STREAM_STDIN)
        sim_stdin_expect(w, false);
    return false;
}
