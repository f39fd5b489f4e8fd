/* Output of a further job that nobody wants. */
#include "endpoints/run/want.h"

#include <stdlib.h>

#include "job/want.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/tap.h"
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

/* Ranges of neighbours for one order, which goes out when it is full. */
struct order {
    struct job_want_order head;
    struct topo_range ranges[JOB_WANT_RANGES_MAX];
    uint32_t count;
};

static void give(struct run *r, struct order *order)
{
    uint8_t body[JOB_WANT_ORDER_BYTES];
    struct ov_wr wr = ov_wr_init(body, sizeof(body));

    if (order->count == 0)
        return;
    job_want_order_encode(&wr, &order->head);
    for (uint32_t i = 0; i < order->count; i++) {
        ov_wr_u32(&wr, order->ranges[i].first);
        ov_wr_u32(&wr, order->ranges[i].last);
    }
    order->count = 0;
    ep_run_orders_send(r->orders, JOB_CONTROL_WANT, body,
                       (uint32_t)(wr.at - body));
}

static void add(struct run *r, struct order *order, uint32_t number)
{
    if (order->count > 0 &&
        order->ranges[order->count - 1].last + 1 == number) {
        order->ranges[order->count - 1].last = number;
        return;
    }
    if (order->count == JOB_WANT_RANGES_MAX)
        give(r, order);
    order->ranges[order->count++] = (struct topo_range){number, number};
}

/* Returns how many processes it is about. */
static uint32_t tell(struct run *r, struct run_want *want, uint8_t channel,
                     bool is_wanted)
{
    uint8_t bit = (uint8_t)(1u << channel);
    struct order order = {.head = {.channels = bit, .is_wanted = is_wanted}};
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < want->size; rank++) {
        if (((want->shut[rank] & bit) != 0) != is_wanted ||
            ep_run_tap_wants(r, want->base + rank, channel) != is_wanted)
            continue;
        want->shut[rank] ^= bit;
        add(r, &order, want->base + rank);
        count++;
    }
    give(r, &order);
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
    struct order order = {
        .head = {.channels = (1u << OV_CHANNELS) - (1u << OV_CHANNEL_STDOUT),
                 .is_wanted = true,
                 .is_held_back = is_held},
        .ranges = {*range},
        .count = 1,
    };

    give(r, &order);
    ep_voice_note(
        &r->voice, "processes %u to %u are %s", range->first, range->last,
        is_held ? "held back: nobody takes what they write" : "read again");
}

bool ep_run_want_again(struct run *r, struct run_want *want)
{
    return tell_all(r, want, true);
}
