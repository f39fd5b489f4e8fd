/* Output of a further job that nobody wants. */
#include "endpoints/run/want.h"

#include <stdlib.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/tap.h"
#include "job/order.h"
#include "overlay/base/err.h"

int ep_run_want_open(struct run_want *want, uint32_t base, uint32_t size,
                     uint32_t channels)
{
    *want = (struct run_want){.base = base, .size = size, .channels = channels};
    want->shut = calloc(size, sizeof(*want->shut));
    return want->shut == NULL ? OV_ENOMEM : 0;
}

void ep_run_want_close(struct run_want *want)
{
    free(want->shut);
    want->shut = NULL;
}

/* Returns how many processes it is about. */
static uint32_t tell(struct run *r, struct run_want *want, uint8_t channel,
                     bool is_wanted)
{
    uint8_t bit = (uint8_t)(1u << channel);
    struct job_order order = {
        .kind = JOB_CONTROL_WANT, .channels = bit, .is_wanted = is_wanted};
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < want->size; rank++) {
        if (((want->shut[rank] & bit) != 0) != is_wanted ||
            ep_run_tap_wants(r, want->base + rank, channel) != is_wanted)
            continue;
        want->shut[rank] ^= bit;
        ep_run_orders_add(r->orders, &order, want->base + rank);
        count++;
    }
    ep_run_orders_rest(r->orders, &order);
    return count;
}

static bool tell_all(struct run *r, struct run_want *want, bool is_wanted)
{
    uint32_t count = 0;

    for (uint8_t channel = OV_CHANNEL_STDOUT; channel < OV_CHANNELS;
         channel++) {
        if ((want->channels & 1u << channel) != 0)
            count += tell(r, want, channel, is_wanted);
    }
    if (count > 0)
        ep_voice_note(&r->voice, "%s %u channels of processes %u to %u%s",
                      is_wanted ? "somebody wants" : "nobody wants", count,
                      want->base, want->base + want->size - 1,
                      is_wanted ? "" : ": they are dropped on their nodes");
    return count > 0;
}

void ep_run_want_record(struct run *r, struct run_want *want, uint32_t number,
                        uint8_t channel, uint32_t len_bytes)
{
    if (len_bytes == 0 || ep_run_tap_wants(r, number, channel))
        return;
    if ((want->shut[number - want->base] & 1u << channel) != 0)
        return; /* it was on its way */
    want->unwanted_bytes += len_bytes;
    if (want->unwanted_bytes < RUN_UNWANTED_BYTES)
        return;
    want->unwanted_bytes = 0;
    (void)tell_all(r, want, false);
}

void ep_run_want_hold(struct run *r, const struct topo_range *range,
                      bool is_held)
{
    const struct job_order order = {
        .kind = JOB_CONTROL_WANT,
        .channels = (1u << OV_CHANNELS) - (1u << OV_CHANNEL_STDOUT),
        .is_wanted = true,
        .is_held_back = is_held,
        .ranges = {*range},
        .ranges_count = 1,
    };

    ep_run_orders_give(r->orders, &order);
    ep_voice_note(
        &r->voice, "processes %u to %u are %s", range->first, range->last,
        is_held ? "held back: nobody takes what they write" : "read again");
}

bool ep_run_want_again(struct run *r, struct run_want *want)
{
    return tell_all(r, want, true);
}
