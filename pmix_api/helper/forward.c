/* Output of a job for the tool that has spawned it. */
#include "pmix_api/helper/forward.h"

#include <string.h>

#include "pmix_api/helper/back.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/pulls_impl.h"

enum { OUTPUTS = 0xe }; /* of the bits 1 << channel */

uint32_t px_forward_begin(const pmix_proc_t *tool, const pmix_info_t info[],
                          size_t infos, uint32_t output)
{
    struct pull *pull;
    uint32_t id = 0;

    px_pulls_lock();
    pull = px_pulls_slot();
    if (pull != NULL) {
        (void)px_wish_read(info, infos, &pull->wish);
        pull->is_forward = true;
        pull->output = output;
        pull->spawner = *tool;
        pull->state = PULL_SPAWNING;
        id = pull->id;
    }
    px_pulls_unlock();
    return id;
}

static bool dress(struct pull *pull, const struct px_job *job)
{
    if (!px_show_is_wanted(pull->output))
        return true;
    pull->show = px_show_open(pull->output, job);
    return pull->show != NULL;
}

static void want(struct pull *pull, uint8_t channels)
{
    for (uint32_t n = 0; n < pull->procs; n++)
        px_pulls_want(pull, pull->first + n, channels);
}

void px_forward_job(uint32_t id, const struct px_job *job)
{
    struct topo_range span = {job->base, job->base + job->size - 1};
    struct pull *pull = px_pulls_find(px_pulls_lock(), id);

    if (pull != NULL && pull->live == NULL) {
        px_job_set_wish(job->base, &pull->wish);
        px_job_set_spawner(job->base, pull->to.tool, &pull->spawner);
        pull->wish.copies = true; /* it has no console */
        if (dress(pull, job) && px_pulls_span(pull, &pull->wish, span))
            want(pull, job->forwards & OUTPUTS);
        else
            pull->state = PULL_OVER;
    }
    px_pulls_unlock();
}

void px_forward_leave(const pmix_proc_t *tool)
{
    struct pull *pulls = px_pulls_lock();

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state == PULL_SPAWNING &&
            PMIX_CHECK_PROCID(&pulls[i].spawner, tool))
            pulls[i].state = PULL_OVER;
    }
    px_pulls_unlock();
    px_deliver_wake();
}

static void settle(uint32_t id, enum pull_state state, const void *request)
{
    struct pull *pull = px_pulls_find(px_pulls_lock(), id);

    if (pull != NULL && pull->state == PULL_SPAWNING) {
        pull->to.request = request;
        pull->state = state;
    }
    px_pulls_unlock();
    px_deliver_wake();
}

void px_forward_bind(uint32_t id, const void *request)
{
    settle(id, PULL_KNOWN, request);
}

void px_forward_drop(uint32_t id)
{
    settle(id, PULL_OVER, NULL);
}

static bool is_among(const void *request, const void *const *requests,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (requests[i] == request)
            return true;
    }
    return false;
}

void px_forward_sweep(const void *const *requests, size_t count)
{
    struct pull *pulls = px_pulls_lock();

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state == PULL_KNOWN &&
            !is_among(pulls[i].to.request, requests, count))
            pulls[i].state = PULL_OVER;
    }
    px_pulls_unlock();
}

static bool is_known(const struct pull *pulls, const void *request)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state == PULL_KNOWN && pulls[i].to.request == request)
            return true;
    }
    return false;
}

static bool is_any_asked(const struct pull *pulls)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state == PULL_ASKED)
            return true;
    }
    return false;
}

bool px_forward_stranger(const void *const *requests, size_t count,
                         const void **out)
{
    const struct pull *pulls = px_pulls_lock();
    bool is_told = !is_any_asked(pulls);

    *out = NULL;
    for (size_t i = 0; is_told && i < count; i++) {
        if (!is_known(pulls, requests[i]))
            *out = requests[i];
    }
    px_pulls_unlock();
    return is_told;
}

static bool is_of(const struct pull *pull, uint32_t base)
{
    return pull->state != PULL_FREE && pull->is_forward && pull->live != NULL &&
           pull->first == base;
}

void px_forward_end(uint32_t base)
{
    struct pull *pulls = px_pulls_lock();

    for (unsigned i = 0; i < PULLS_MAX; i++)
        pulls[i].is_ending |= is_of(&pulls[i], base);
    px_pulls_unlock();
    px_deliver_wake();
}

static uint64_t waiting(const struct pull *pull)
{
    return px_queue_bytes(&pull->queue) +
           (px_queue_is_idle(&pull->queue) ? 0 : 1);
}

uint64_t px_forward_left_bytes(uint32_t base)
{
    const struct pull *pulls = px_pulls_lock();
    uint64_t sum = 0;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (is_of(&pulls[i], base) && pulls[i].state != PULL_OVER)
            sum += waiting(&pulls[i]);
    }
    px_pulls_unlock();
    return sum;
}

static void yield(struct pull *from, const struct pull *to, uint32_t number)
{
    if (number >= from->first && number - from->first < from->procs)
        from->live[number - from->first] &=
            (uint8_t)~to->live[number - to->first];
}

void px_forward_yield(struct pull *pulls, const struct pull *pull,
                      uint32_t first, uint32_t count)
{
    for (unsigned i = 0; i < PULLS_MAX && !pull->is_forward; i++) {
        struct pull *from = &pulls[i];

        if (from->state == PULL_FREE || !from->is_forward ||
            from->live == NULL || from->to.tool != pull->to.tool)
            continue;
        for (uint32_t n = 0; n < count; n++)
            yield(from, pull, first + n);
    }
}

/* --- a pull of it goes, and the tool does not */

static bool covers(const struct pull *pull, uint32_t number)
{
    return pull->live != NULL && number >= pull->first &&
           number - pull->first < pull->procs;
}

/* Who gets what the tool does not pull; NULL: nobody. */
static struct pull *heir_of(struct pull *pulls, const struct pull *gone,
                            uint32_t number)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *to = &pulls[i];

        if ((to->state == PULL_KNOWN || to->state == PULL_SPAWNING) &&
            to->is_forward && to->to.tool == gone->to.tool &&
            covers(to, number))
            return to;
    }
    return NULL;
}

/* What the tool still pulls of a process. */
static uint8_t pulled(const struct pull *pulls, const void *tool,
                      uint32_t number)
{
    uint8_t bits = 0;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        const struct pull *pull = &pulls[i];

        if (pull->state != PULL_FREE && pull->state != PULL_OVER &&
            !pull->is_forward && pull->to.tool == tool && covers(pull, number))
            bits |= pull->live[number - pull->first];
    }
    return bits;
}

static bool has_forwards(const struct pull *pulls, const void *tool)
{
    bool has = false;

    for (unsigned i = 0; i < PULLS_MAX; i++)
        has |= pulls[i].state != PULL_FREE && pulls[i].state != PULL_OVER &&
               pulls[i].is_forward && pulls[i].to.tool == tool;
    return has;
}

bool px_forward_give(struct pull *pulls, const struct pull *gone,
                     const struct px_output *o)
{
    struct pull *to = heir_of(pulls, gone, o->rank);

    if (to == NULL || (to->live[o->rank - to->first] & 1u << o->channel) == 0)
        return false;
    px_pulls_store(to, o);
    return true;
}

/* What came for it since the library has forgotten it. What goes back to the
 * launcher is looked at then. */
static void hand_over(struct pull *pulls, struct pull *gone)
{
    static uint8_t mem[PX_QUEUE_PACKET_MAX]; /* under the lock */
    struct px_output o;

    if (px_back_is_due(gone))
        return;
    while (px_queue_get(&gone->queue, 0, true, mem, &o))
        (void)px_forward_give(pulls, gone, &o);
}

static void resume(struct pull *pulls, struct pull *gone)
{
    for (uint32_t n = gone->first; n - gone->first < gone->procs; n++) {
        uint8_t bits = gone->live[n - gone->first];
        struct pull *to = bits != 0 ? heir_of(pulls, gone, n) : NULL;

        if (to != NULL)
            to->live[n - to->first] |= bits & to->wanted[n - to->first] &
                                       ~pulled(pulls, gone->to.tool, n);
    }
    hand_over(pulls, gone);
}

void px_forward_resume(struct pull *pulls)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *gone = &pulls[i];

        if (gone->state != PULL_OVER || gone->is_settled)
            continue;
        gone->is_settled = true;
        if (!gone->is_forward && gone->live != NULL &&
            has_forwards(pulls, gone->to.tool))
            resume(pulls, gone);
    }
}

/* --- */

void px_forward_check(struct pull *pull)
{
    if (pull->state == PULL_KNOWN && pull->is_ending && !pull->is_doubted &&
        waiting(pull) == 0)
        pull->state = PULL_OVER;
}
