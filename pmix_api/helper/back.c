/* Redirected output that goes back to the launcher. */
#include "pmix_api/helper/back.h"

#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/settle.h"
#include "pmix_api/helper/talk.h"

/* How many more the launcher takes; below 0 where one was cut. */
static int room = PX_BACK_MAX;
static uint32_t drained; /* one pull at a time; 0: none */

/* Only the run's own job has something to go back to. */
bool px_back_is_due(const struct pull *pull)
{
    return pull->redirects && pull->live != NULL &&
           pull->first < px_job_own_size();
}

bool px_back_put(struct pull *pull, const struct px_output *output)
{
    uint8_t bit = (uint8_t)(1u << output->channel);
    uint32_t nth = output->rank - pull->first;

    if (!px_back_is_due(pull) || output->rank < pull->first ||
        nth >= pull->procs)
        return false;
    if (output->is_turn && output->to == pull->id) {
        pull->live[nth] |= bit;
        pull->since = 0;
    }
    if (!output->is_redirected || (pull->live[nth] & bit) == 0)
        return false;
    px_pulls_store(pull, output);
    return true;
}

/* --- what waits */

/* It has this output, or has had it: also where it is over, and will give it
 * back when its turn comes. */
static bool has(const struct pull *other, const struct px_output *o)
{
    uint32_t nth = o->rank - other->first;

    return other->state != PULL_FREE && other->redirects &&
           other->live != NULL && o->rank >= other->first &&
           nth < other->procs && (other->live[nth] & 1u << o->channel) != 0 &&
           other->since != 0 && o->to >= other->since;
}

static bool is_elsewhere(const struct pull *pulls, const struct pull *pull,
                         const struct px_output *o)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (&pulls[i] != pull && has(&pulls[i], o))
            return true;
    }
    return false;
}

bool px_back_is_with_other(const struct pull *pulls, const struct pull *pull,
                           const struct px_output *output)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (&pulls[i] != pull && !pulls[i].is_behind && has(&pulls[i], output))
            return true;
    }
    return false;
}

/* What was put together may be longer than one can be. */
static void give_back(const struct px_output *output)
{
    struct px_output o = {.rank = output->rank,
                          .channel = output->channel,
                          .is_redirected = true,
                          .mem = output->mem};
    uint32_t left = output->len_bytes;

    do {
        o.len_bytes = left < PX_OUTPUT_BYTES_MAX ? left : PX_OUTPUT_BYTES_MAX;
        left -= o.len_bytes;
        o.is_end = output->is_end && left == 0;
        px_talk_output(&o);
        if (left > 0)
            o.mem += o.len_bytes;
        room--;
    } while (left > 0);
}

/* True when nothing is left. */
static bool drain(struct pull *pulls, struct pull *pull)
{
    static uint8_t mem[PX_QUEUE_PACKET_MAX]; /* under the lock */
    struct px_output o;

    while (room > 0) {
        if (!px_queue_get(&pull->queue, 0, true, mem, &o))
            return true;
        if (!o.is_redirected) {
            if (!px_forward_give(pulls, pull, &o) && !pull->is_behind)
                pull->lost_bytes += o.len_bytes;
            continue;
        }
        pull->lost_bytes += o.dropped_bytes;
        if (!is_elsewhere(pulls, pull, &o))
            give_back(&o);
    }
    return false;
}

bool px_back_step(struct pull *pulls, struct pull *pull, uint64_t *lost_bytes)
{
    if (!px_back_is_due(pull)) {
        *lost_bytes = pull->redirects && pull->live != NULL
                          ? px_queue_bytes(&pull->queue)
                          : 0;
        return false;
    }
    if (!pull->is_stopping)
        px_talk(&(struct px_msg){.kind = PX_STOP, .id = pull->id});
    pull->is_stopping = true;
    /* What the library was handed may be lost with its tool. */
    if (!pull->is_stopped || (drained != 0 && drained != pull->id) ||
        px_deliver_asked() > 0)
        return true;
    if (pull->is_forsaken)
        return false;
    drained = pull->id;
    pull->is_drained = true;
    if (!drain(pulls, pull))
        return true;
    drained = 0;
    *lost_bytes = pull->lost_bytes;
    return false;
}

/* --- what is lost */

void px_back_lost(const void *request, uint64_t bytes)
{
    struct pull *pulls = px_pulls_lock();

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state != PULL_FREE && pulls[i].to.request == request)
            pulls[i].lost_bytes += bytes;
    }
    px_pulls_unlock();
}

void px_back_forsake(struct pull *pull, bool is_gone)
{
    if (!px_back_is_due(pull) || pull->is_forsaken ||
        (is_gone && px_settle_has_all(pull)))
        return;
    pull->is_forsaken = px_settle_is_kept() && !pull->is_drained;
    if (!pull->is_forsaken && !pull->is_behind)
        pull->lost_bytes += px_lag_forsake(pull->to.tool);
    if (!pull->is_forsaken)
        return;
    pull->kept_from = is_gone ? pull->at.read : px_settle_given(pull);
    if (is_gone)
        pull->at.sent = pull->at.read; /* we may die before END is heard */
}

/* --- the launcher */

void px_back_stopped(uint32_t id)
{
    struct pull *pull = px_pulls_find(px_pulls_lock(), id);

    if (pull != NULL)
        pull->is_stopped = true;
    px_pulls_unlock();
}

void px_back_taken(void)
{
    px_pulls_lock();
    room++;
    px_pulls_unlock();
}

bool px_back_is_busy(void)
{
    const struct pull *pulls = px_pulls_lock();
    bool is_busy = false;

    for (unsigned i = 0; i < PULLS_MAX; i++)
        is_busy |= pulls[i].state == PULL_OVER && pulls[i].is_stopping;
    px_pulls_unlock();
    return is_busy;
}
