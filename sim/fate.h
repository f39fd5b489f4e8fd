/* What happens to a process, as the seed decides from the job's description.
 * Its node and the onlookers compute the same. */
#ifndef SIM_FATE_H
#define SIM_FATE_H

#include "sim/random.h"
#include "sim/state.h"

/* A random number for a process; each `use` gives another one. */
static inline uint64_t sim_fate_draw(const struct sim_world *w, uint32_t number,
                                     uint32_t use)
{
    return sim_random_mix(sim_random_mix(w->cfg.seed ^ ~UINT64_C(0)) ^
                          (uint64_t)use << 32 ^ number);
}

static inline bool sim_fate_is_unstarted(const struct sim_world *w,
                                         const struct sim_told *job,
                                         uint32_t rank)
{
    return sim_fate_draw(w, job->desc.base + rank, 0) % 100 <
           job->fate.unstarted;
}

/* How the process ends, as a status of waitpid(): 0, an exit code, or one of
 * the first eight signals. */
static inline int sim_fate_status(const struct sim_world *w,
                                  const struct sim_told *job, uint32_t rank)
{
    uint64_t how = sim_fate_draw(w, job->desc.base + rank, 1);

    if (how % 100 >= job->fate.failing)
        return 0;
    how /= 100;
    return (int)(how % 2 == 0 ? (1 + how / 2 % 255) << 8 : 1 + how / 2 % 8);
}

static inline uint64_t sim_fate_lasts_ns(const struct sim_world *w,
                                         const struct sim_told *job,
                                         uint32_t rank)
{
    return sim_fate_draw(w, job->desc.base + rank, 2) % (job->lasts_ns + 1);
}

#endif
