/* Stores of packets that clients have not acknowledged. Packets are kept in
 * hoards (sys/hoard.h). escrow_back.c gives them back when a client leaves. */
#include "config.h"

#include "endpoints/client/escrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/client/escrow_impl.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/hoard.h"
#include "job/door.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    /* the head of a packet: 2 * number, plus 1 if it is redirected */
    HEAD_BYTES = 8,
    PIECES =
        128, /* how many numbers a record has; it is cut into fewer packets */
    SOON_MS = 30, /* time in which a client can take a quarter of a MiB */
    KEEPERS = 2,  /* how many escrows may keep more blocks in memory */
    PACKET_MAX = HEAD_BYTES + JOB_DOOR_BYTES_MAX,
};

/* --- numbers of records */

uint64_t ep_escrows_moved(const struct ep_escrows *all)
{
    return all->moved;
}

void ep_escrows_record(struct ep_escrows *all)
{
    all->records++;
}

static uint64_t next_number(const struct ep_escrows *all)
{
    return (all->records + 1) * PIECES;
}

void ep_escrow_begin(struct ep_escrow *escrow)
{
    if (escrow->since == UINT64_MAX)
        escrow->since = next_number(escrow->all);
}

bool ep_escrow_redirects(const struct ep_escrow *escrow)
{
    return escrow->until == UINT64_MAX;
}

/* --- packets that are put into a store */

/* Ends the redirection: from this number on the client gets no redirected
 * packet. */
static void fall_behind(struct ep_escrow *escrow, uint64_t number)
{
    if (escrow->until != UINT64_MAX || escrow->cfg.is_copy)
        return;
    escrow->until = number;
    escrow->is_behind_due = true;
    ep_escrows_soon(escrow->all);
}

/* Tells whether to hold records back for this client, because it has taken
 * something in the last patience_ms. */
static bool is_patient(struct ep_escrow *escrow)
{
    struct ep_escrows *all = escrow->all;
    const unsigned ms = all->cfg.patience_ms;
    const struct timeval later = {.tv_sec = ms / 1000,
                                  .tv_usec = ms % 1000 * 1000};

    if (ep_clock_ms() - escrow->moved_ms >= ms)
        return false;
    all->is_awaited = true;
    if (!event_pending(all->tick, EV_TIMEOUT, NULL))
        event_add(all->tick, &later);
    return true;
}

/* Tells whether to hold records back for a moment. What the client has not
 * taken would be written to the file, which costs more than a short wait for a
 * client that has no processor at the moment. */
static bool is_soon_moving(struct ep_escrow *escrow)
{
    static const struct timeval moment = {.tv_usec = SOON_MS * 1000};
    struct ep_escrows *all = escrow->all;
    const int64_t now_ms = ep_clock_ms();

    if (escrow->kept_blocks == 0 || !ep_hoard_is_saving(escrow->hoard)) {
        escrow->saving_ms = 0;
        return false;
    }
    if (escrow->saving_ms == 0)
        escrow->saving_ms = now_ms;
    if (now_ms - escrow->saving_ms >= SOON_MS)
        return false;
    all->is_awaited = true;
    event_add(all->tick, &moment);
    return true;
}

static bool is_full(const struct ep_escrow *escrow)
{
    return escrow->cfg.is_copy
               ? escrow->copy_bytes >= EP_ESCROW_PACE_BYTES
               : ep_hoard_room(escrow->hoard, 1, PACKET_MAX) == OV_EFULL;
}

bool ep_escrow_has_room(struct ep_escrow *escrow)
{
    if (!escrow->cfg.is_copy &&
        (escrow->until != UINT64_MAX || escrow->rest != NULL))
        return escrow->until != UINT64_MAX;
    return is_full(escrow) ? !is_patient(escrow) : !is_soon_moving(escrow);
}

static void note_moved(struct ep_escrow *escrow)
{
    escrow->moved_ms = ep_clock_ms();
    if (escrow->all->is_awaited)
        ep_escrows_soon(escrow->all);
    escrow->all->is_awaited = false;
}

static int keep_packet(struct ep_escrow *escrow, const uint8_t *head,
                       uint32_t head_bytes, const uint8_t *mem,
                       uint32_t len_bytes)
{
    const uint32_t all_bytes = head_bytes + len_bytes;
    struct ep_escrow_packet *packet = malloc(sizeof(*packet) + all_bytes);

    if (packet == NULL)
        return OV_ENOMEM;
    *packet = (struct ep_escrow_packet){.len_bytes = all_bytes};
    memcpy(packet->mem, head, head_bytes);
    if (len_bytes > 0)
        memcpy(packet->mem + head_bytes, mem, len_bytes);
    *escrow->last = packet;
    escrow->last = &packet->next;
    escrow->rest_bytes += all_bytes;
    return 0;
}

/* Moves packets from `rest` to the hoard, as far as it has room. A packet that
 * does not fit waits until the client takes something. */
static void refill(struct ep_escrow *escrow)
{
    const bool was_full = escrow->rest != NULL;
    int rc = 0;

    while (escrow->rest != NULL && rc == 0) {
        rc = ep_hoard_put(escrow->hoard, escrow->rest->mem,
                          escrow->rest->len_bytes);
        if (rc == 0)
            ep_escrow_drop_rest(escrow);
    }
    if (rc == OV_EFULL && !is_patient(escrow))
        fall_behind(escrow, next_number(escrow->all));
    if (was_full && escrow->rest == NULL)
        ep_escrows_soon(escrow->all);
}

static int put_packet(struct ep_escrow *escrow, enum ep_escrow_what what,
                      const uint8_t *head, uint32_t head_bytes,
                      const uint8_t *mem, uint32_t len_bytes)
{
    int rc = OV_EAGAIN;

    if (escrow->rest == NULL)
        rc =
            ep_hoard_put_parts(escrow->hoard, head, head_bytes, mem, len_bytes);
    if (rc == 0)
        return 0;
    if (what == EP_ESCROW_MORE ||
        (what == EP_ESCROW_FIRST && rc == OV_EAGAIN) ||
        (escrow->cfg.is_copy && rc == OV_EAGAIN &&
         escrow->rest_bytes + head_bytes + len_bytes <= EP_ESCROW_COPIES_BYTES))
        return keep_packet(escrow, head, head_bytes, mem, len_bytes);
    return OV_EFULL;
}

int ep_escrow_put(struct ep_escrow *escrow, enum ep_escrow_what what,
                  const uint8_t *head, uint32_t head_bytes, const uint8_t *mem,
                  uint32_t len_bytes)
{
    uint8_t all[EP_HOARD_HEAD_MAX];
    struct ov_wr wr = ov_wr_init(all, sizeof(all));
    uint64_t number;
    int rc;

    if (ep_escrow_is_empty(escrow))
        escrow->moved_ms = ep_clock_ms();
    escrow->piece = what == EP_ESCROW_MORE ? escrow->piece + 1 : 0;
    OV_ASSERT(escrow->piece < PIECES);
    number = escrow->all->records * PIECES + escrow->piece;
    ov_wr_u64(&wr, 2 * number + (what != EP_ESCROW_COPY));
    ov_wr_bytes(&wr, head, head_bytes);
    OV_ASSERT(!wr.bad);
    rc = put_packet(escrow, what, all, (uint32_t)(wr.at - all), mem, len_bytes);
    if (rc == 0)
        escrow->copy_bytes += head_bytes + len_bytes;
    if (rc == 0 && what != EP_ESCROW_COPY)
        escrow->held_bytes += len_bytes;
    if (rc != 0 && what == EP_ESCROW_FIRST)
        fall_behind(escrow, number);
    if (rc != 0 && what == EP_ESCROW_MORE) {
        escrow->all->lost_bytes += len_bytes;
        ep_escrows_soon(escrow->all);
        rc = 0;
    }
    return rc != 0 ? OV_EFULL : 0;
}

/* --- packets that are sent and acknowledged */

bool ep_escrow_next(struct ep_escrow *escrow, const uint8_t **mem,
                    uint32_t *len_bytes)
{
    int rc;

    while ((rc = ep_hoard_get(escrow->hoard, mem, len_bytes)) == OV_ESYS) {
        ep_escrow_note_lost(escrow, *len_bytes);
        (void)ep_hoard_pass(escrow->hoard);
    }
    if (rc != 0)
        return false;
    *mem += HEAD_BYTES;
    *len_bytes -= HEAD_BYTES;
    escrow->next_bytes = *len_bytes;
    return true;
}

/* Packets that could not be read were never sent, so `messages` may be less
 * than the number of packets that the hoard has passed, until the client has
 * everything. */
bool ep_escrow_taken(struct ep_escrow *escrow, uint64_t messages)
{
    if (messages < escrow->taken || messages > escrow->sent)
        return false;
    escrow->all->moved += messages - escrow->taken;
    escrow->taken = messages;
    ep_hoard_forget(escrow->hoard, messages == escrow->sent
                                       ? ep_hoard_passed(escrow->hoard)
                                       : messages);
    note_moved(escrow);
    refill(escrow);
    if (ep_escrow_is_empty(escrow))
        escrow->held_bytes = escrow->copy_bytes = 0;
    return true;
}

void ep_escrow_settle(struct ep_escrow *escrow)
{
    escrow->is_settled = true;
}

void ep_escrow_pass(struct ep_escrow *escrow)
{
    (void)ep_hoard_pass(escrow->hoard);
    escrow->sent++;
    if (!escrow->cfg.is_copy)
        return;
    escrow->copy_bytes -= escrow->next_bytes;
    (void)ep_escrow_taken(escrow, escrow->sent);
}

bool ep_escrow_is_empty(const struct ep_escrow *escrow)
{
    return escrow->rest == NULL && ep_hoard_is_empty(escrow->hoard);
}

/* --- turns of the loop */

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_escrows_turn(arg);
}

/* Ends the wait for clients that have taken nothing for patience_ms. */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct ep_escrows *all = arg;

    (void)fd;
    (void)what;
    for (struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        if (at->state == EP_ESCROW_SERVES)
            refill(at);
    }
    ep_escrows_soon(all);
}

/* --- opening an escrow, and leaving it */

static void on_hoard(void *arg)
{
    struct ep_escrow *escrow = arg;

    if (escrow->state != EP_ESCROW_SERVES) {
        ep_escrows_soon(escrow->all);
        return;
    }
    refill(escrow);
    escrow->cfg.on_ready(escrow->cfg.arg);
}

static void link_last(struct ep_escrow *escrow)
{
    struct ep_escrow **at = &escrow->all->first;

    while (*at != NULL)
        at = &(*at)->next;
    *at = escrow;
    escrow->next = NULL;
}

int ep_escrow_open(struct ep_escrows *all, const struct ep_escrow_cfg *cfg,
                   struct ep_escrow **out)
{
    struct ep_escrow *escrow = calloc(1, sizeof(*escrow));
    const bool is_kept =
        !cfg->is_copy && all->kept_blocks < KEEPERS * all->cfg.kept_blocks;
    const uint32_t kept = is_kept ? all->cfg.kept_blocks : 0;
    const struct ep_hoard_cfg hoard = {.writer = all->cfg.writer,
                                       .limit_bytes = cfg->limit_bytes,
                                       .kept_blocks = kept,
                                       .on_change = on_hoard,
                                       .arg = escrow};
    int rc = OV_ENOMEM;

    if (escrow != NULL)
        rc = ep_hoard_open(&hoard, &escrow->hoard);
    if (rc != 0) {
        free(cfg->ranges.items);
        free(escrow);
        return rc;
    }
    escrow->all = all;
    escrow->cfg = *cfg;
    escrow->kept_blocks = kept;
    all->kept_blocks += kept;
    escrow->last = &escrow->rest;
    escrow->since = escrow->until = escrow->acknowledged = UINT64_MAX;
    link_last(escrow);
    *out = escrow;
    return 0;
}

void ep_escrow_leave(struct ep_escrow *escrow)
{
    if (escrow == NULL)
        return;
    if (escrow->cfg.is_copy) {
        ep_escrow_free(escrow);
        return;
    }
    if (escrow->until == UINT64_MAX)
        escrow->until = next_number(escrow->all);
    escrow->state = EP_ESCROW_LEFT;
    escrow->unsure = escrow->is_settled ? 0 : escrow->sent - escrow->taken;
    ep_escrow_unlink(escrow);
    link_last(escrow);
    ep_hoard_rewind(escrow->hoard);
    ep_escrows_soon(escrow->all);
}

struct ep_escrows *ep_escrows_open(const struct ep_escrows_cfg *cfg)
{
    struct ep_escrows *all = calloc(1, sizeof(*all));

    if (all == NULL)
        return NULL;
    all->cfg = *cfg;
    all->turn = event_new(cfg->base, -1, 0, on_turn, all);
    all->tick = evtimer_new(cfg->base, on_tick, all);
    if (all->turn != NULL && all->tick != NULL)
        return all;
    (void)ep_escrows_close(all);
    return NULL;
}

uint64_t ep_escrows_close(struct ep_escrows *all)
{
    uint64_t bytes = 0;

    if (all == NULL)
        return 0;
    while (all->first != NULL) {
        OV_ASSERT(all->first->state != EP_ESCROW_SERVES);
        bytes += all->first->held_bytes;
        ep_escrow_free(all->first);
    }
    if (all->turn != NULL)
        event_free(all->turn);
    if (all->tick != NULL)
        event_free(all->tick);
    free(all);
    return bytes;
}
