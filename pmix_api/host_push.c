/* Who has a stdin, and what tools push to it. */
#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "pmix_api/host_impl.h"

enum { STDIN_BYTES = 10 }; /* of the message */

static void set_bits(struct px_host *host, uint32_t first, uint32_t last,
                     uint8_t set, uint8_t clear)
{
    for (uint32_t rank = first; rank < host->cfg.size && rank <= last; rank++) {
        host->stdin_state[rank] &= (uint8_t)~clear;
        host->stdin_state[rank] |= set;
    }
}

/* A helper that is started again must know whose stdin a tool has closed. */
static void note_closed(struct px_host *host)
{
    for (uint32_t rank = 0; rank < host->cfg.size; rank++) {
        if (host->stdin_state[rank] & PX_STDIN_NAMED)
            host->stdin_state[rank] &= (uint8_t)~PX_STDIN_OPEN;
    }
}

int px_push_heard(struct px_host *host, const struct px_push *heard)
{
    struct ov_push push;

    if (ov_push_decode(heard->mem, heard->len_bytes, &push) ||
        heard->len_bytes > host->cfg.push_bytes ||
        host->pushes_held >= 2 * PX_PUSHES_MAX)
        return OV_EPROTO;
    if ((push.flags & OV_PUSH_NEW) != 0)
        set_bits(host, 0, UINT32_MAX, 0, PX_STDIN_NAMED);
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        set_bits(host, range.first, range.last, PX_STDIN_NAMED, 0);
    }
    if ((push.flags & OV_PUSH_CLOSE) != 0)
        note_closed(host);
    host->pushes_held++;
    host->cfg.events->on_push(host->cfg.arg, heard->mem, heard->len_bytes);
    return 0;
}

void px_push_begin(struct px_host *host)
{
    host->stdin_told = 0;
    host->grants_due = PX_PUSHES_MAX;
}

bool px_push_is_told(const struct px_host *host)
{
    return host->stdin_told == host->cfg.size && host->grants_due == 0;
}

uint32_t px_push_runs(const struct px_host *host, struct ov_wr *wr)
{
    uint32_t rank = host->stdin_told;

    while (rank < host->cfg.size && wr->end - wr->at >= STDIN_BYTES) {
        uint8_t open = host->stdin_state[rank] & PX_STDIN_OPEN;
        struct px_msg msg = {.kind = PX_STDIN,
                             .in = {.is_open = open != 0, .first = rank}};

        while (rank < host->cfg.size &&
               (host->stdin_state[rank] & PX_STDIN_OPEN) == open)
            rank++;
        msg.in.last = rank - 1;
        px_msg_encode(wr, &msg);
    }
    return rank;
}
