/* Output that comes from the launcher. */
#include "pmix_api/helper/intake.h"

#include "pmix_api/helper/back.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/talk.h"

static struct {
    uint32_t redirected; /* outputs so far, from 1 on */
    uint64_t bytes;      /* of these */
    uint64_t stray_bytes;
} intake;

/* The stream is given back to where it went before. */
static void check_behind(struct pull *pull)
{
    if (!pull->redirects || pull->is_behind ||
        (!px_queue_has(&pull->queue, pull->bound_bytes) &&
         !px_queue_is_tight(&pull->queue)))
        return;
    pull->is_behind = true;
    px_talk(&(struct px_msg){.kind = PX_BEHIND, .id = pull->id});
}

/* It is the pull's, if it has room for it. */
static void note(struct pull *pull, const struct px_output *o)
{
    uint64_t others = intake.bytes - (o->is_redirected ? o->len_bytes : 0);

    px_trail_note(&pull->trail,
                  (struct px_trail_mark){px_pull_own_bytes(pull), others});
}

/* What is redirected has its place in the order of all that is. */
static struct px_output placed(const struct px_output *output)
{
    struct px_output o = *output;

    if (o.is_redirected && o.to == 0)
        o.to = intake.redirected;
    return o;
}

static void store(struct pull *pull, const struct px_output *o)
{
    if (pull->show != NULL)
        px_show_put(pull->show, o, &pull->queue);
    else
        px_queue_put(&pull->queue, o);
}

void px_pulls_store(struct pull *pull, const struct px_output *output)
{
    struct px_output o = placed(output);

    note(pull, output);
    store(pull, &o);
}

/* One that is behind has copies of what is redirected to others. */
static void store_its(const struct pull *pulls, struct pull *pull,
                      const struct px_output *output)
{
    struct px_output o = placed(output);

    if (pull->is_behind && px_back_is_with_other(pulls, pull, &o))
        o.is_redirected = false;
    store(pull, &o);
}

static bool put(struct pull *pulls, struct pull *pull,
                const struct px_output *o, uint64_t now_ms, bool stays)
{
    uint8_t bit = (uint8_t)(1u << o->channel);
    uint32_t nth = o->rank - pull->first;

    if (pull->live == NULL || o->rank < pull->first || nth >= pull->procs ||
        (o->to != 0 ? o->to != pull->id : (pull->live[nth] & bit) == 0))
        return false;
    if (o->is_turn) {
        pull->live[nth] |= bit;
        pull->since = 0;
        px_forward_yield(pulls, pull, o->rank, 1);
    }
    if (o->is_redirected && pull->redirects && pull->since == 0)
        pull->since = intake.redirected;
    note(pull, o);
    if (stays && px_serve_pass(pull, o, now_ms)) {
        pull->passed_bytes += o->len_bytes;
        return pull->redirects;
    }
    store_its(pulls, pull, o);
    check_behind(pull);
    return pull->redirects;
}

/* Of those that are over. */
static bool put_back(struct pull *pulls, const struct px_output *o)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state == PULL_OVER && px_back_put(&pulls[i], o))
            return true;
    }
    return false;
}

void px_pulls_put(const struct px_output *output, uint64_t now_ms, bool stays)
{
    struct pull *pulls = px_pulls_lock();
    bool is_taken = false;

    px_forward_resume(pulls);
    if (output->is_redirected && ++intake.redirected == 0)
        intake.redirected = 1;
    if (output->is_redirected)
        intake.bytes += output->len_bytes;
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *pull = &pulls[i];

        if (pull->state != PULL_FREE && pull->state != PULL_OVER)
            is_taken |= put(pulls, pull, output, now_ms, stays);
    }
    if (!is_taken && (output->is_redirected || output->is_turn))
        is_taken = put_back(pulls, output);
    if (output->is_redirected && !is_taken)
        intake.stray_bytes += output->len_bytes;
    px_pulls_unlock();
}

uint64_t px_intake_stray(void)
{
    uint64_t stray = intake.stray_bytes;

    intake.stray_bytes = 0;
    return stray;
}

uint64_t px_intake_bytes(void)
{
    return intake.bytes;
}
