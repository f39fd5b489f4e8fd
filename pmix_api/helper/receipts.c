/* Counts the OUTPUT messages that the session may forget. */
#include "pmix_api/helper/receipts.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct receipt {
    uint64_t channel;
    uint64_t delivery; /* number of the delivery that contains the OUTPUT; 0:
                          none so far */
};

struct px_receipts {
    uint64_t count; /* how many OUTPUTs have come */
    uint64_t taken; /* how many OUTPUTs the session may forget */
    /* All OUTPUT messages before the one with this number were delivered. */
    uint64_t given_to;
    uint64_t last; /* number of the last delivery */
    /* Deliveries from this number on do not count as read. */
    uint64_t limit;
    struct receipt all[PX_RECEIPTS_MAX]; /* a ring, indexed by the number of the
                                            OUTPUT */
};

int px_receipts_open(struct px_receipts **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return OV_ENOMEM;
    (*out)->limit = UINT64_MAX;
    return 0;
}

void px_receipts_close(struct px_receipts *receipts)
{
    free(receipts);
}

static struct receipt *output_at(struct px_receipts *receipts, uint64_t number)
{
    return &receipts->all[number % PX_RECEIPTS_MAX];
}

void px_receipts_add(struct px_receipts *receipts, uint64_t channel)
{
    OV_ASSERT(!px_receipts_are_full(receipts));
    *output_at(receipts, receipts->count++) =
        (struct receipt){.channel = channel};
}

void px_receipts_give(struct px_receipts *receipts, uint64_t channel,
                      uint64_t delivery)
{
    for (uint64_t at = receipts->given_to; at < receipts->count; at++) {
        struct receipt *output = output_at(receipts, at);

        if (output->channel == channel && output->delivery == 0)
            output->delivery = delivery;
    }
    while (receipts->given_to < receipts->count &&
           output_at(receipts, receipts->given_to)->delivery != 0)
        receipts->given_to++;
    receipts->last = delivery;
}

void px_receipts_miss(struct px_receipts *receipts, uint64_t delivery)
{
    if (delivery < receipts->limit)
        receipts->limit = delivery;
}

uint64_t px_receipts_take(struct px_receipts *receipts, uint64_t taken)
{
    while (receipts->taken < receipts->given_to) {
        uint64_t delivery = output_at(receipts, receipts->taken)->delivery;

        if (delivery > taken || delivery >= receipts->limit)
            break;
        receipts->taken++;
    }
    return receipts->taken;
}

bool px_receipts_are_full(const struct px_receipts *receipts)
{
    return receipts->count - receipts->taken == PX_RECEIPTS_MAX;
}

bool px_receipts_are_settled(const struct px_receipts *receipts, uint64_t taken)
{
    return taken >= receipts->last;
}

bool px_receipts_are_empty(const struct px_receipts *receipts)
{
    return receipts->taken == receipts->count;
}
