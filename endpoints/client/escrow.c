/* Packets in hoards: those that clients have not acknowledged, and the way back
 * of those whose client has gone. */
#include "config.h"

#include "endpoints/client/escrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/sys/clock.h"
#include "endpoints/sys/hoard.h"
#include "job/door.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    HEAD_BYTES = 8, /* of a packet: 2 * number, and 1 where it is redirected */
    PIECES = 128,   /* numbers of a record: more than it has packets */
    PACKET_MAX = HEAD_BYTES + JOB_DOOR_BYTES_MAX,
    TURN_MAX = 64, /* packets that go back in one turn of the loop, */
    BACK_MAX = 8,  /* and those that are not on their way yet */
    MARKS_MAX = 64,
};

/* What finds no room in the hoard for the moment. */
struct packet {
    struct packet *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

enum state {
    SERVES, /* a client */
    LEFT,   /* what it has goes back when its turn comes */
    DONE,   /* it has nothing, and only says what its client has had */
};

/* A client has had, or will have, the redirected packets from `since` to before
 * `until`; one that is done had those to before `acknowledged`. Packets of one
 * record that goes to several clients have the same numbers in each. */
struct ep_escrow {
    struct ep_escrow *next;
    struct ep_escrows *all;
    struct ep_escrow_cfg cfg;
    struct ep_hoard *hoard;      /* owned; NULL when it is done */
    struct packet *rest, **last; /* owned: behind what is in the hoard; */
    uint64_t rest_bytes;         /* so many */
    enum state state;
    uint64_t since, until, acknowledged; /* numbers */
    unsigned piece;                      /* of the record that is put */
    uint64_t sent, taken;                /* messages */
    uint64_t unsure; /* of those that go back: the client may have read them, */
    uint64_t twice_bytes; /* so much by now */
    uint64_t held_bytes;  /* redirected since it was empty, at most */
    uint64_t copy_bytes;  /* that wait, of copies, */
    uint32_t next_bytes;  /* and of the next message */
    int64_t moved_ms;     /* it took something, or was empty, last */
    bool is_behind_due, is_settled;
};

struct ep_escrows {
    struct ep_escrows_cfg cfg;
    struct event *turn, *tick; /* owned */
    bool is_awaited;           /* records wait for one of them */
    /* Owned: those with a client, then the others in the order in which their
     * clients have left. */
    struct ep_escrow *first;
    uint64_t records; /* redirected so far */
    uint64_t moved;
    uint64_t lost_bytes; /* for want of memory; to be told */
    unsigned out;        /* went back, and are not on their way yet */
};

static void soon(const struct ep_escrows *all)
{
    event_active(all->turn, 0, 0);
}

/* --- who has what */

static bool is_in(const struct ep_escrow_cfg *cfg, uint32_t number)
{
    uint32_t low = 0, high = cfg->ranges_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (cfg->ranges[mid].last < number)
            low = mid + 1;
        else
            high = mid;
    }
    return cfg->ranges_count == 0 ||
           (low < cfg->ranges_count && cfg->ranges[low].first <= number);
}

static bool is_for(const struct ep_escrow *escrow, uint32_t number,
                   uint8_t channel)
{
    const struct ep_escrow_cfg *cfg = &escrow->cfg;

    return number >= cfg->base && number - cfg->base < cfg->size &&
           (cfg->channels & 1u << channel) != 0 && is_in(cfg, number);
}

/* Another client has it, had it, or its escrow is to give it back. */
static bool is_elsewhere(const struct ep_escrow *escrow, uint64_t number,
                         const struct job_record *rec)
{
    for (const struct ep_escrow *at = escrow->all->first; at != NULL;
         at = at->next) {
        if (at != escrow && at->since <= number &&
            number < (at->state == DONE ? at->acknowledged : at->until) &&
            is_for(at, rec->proc, rec->channel))
            return true;
    }
    return false;
}

bool ep_escrows_return(const struct ep_escrows *all, uint32_t number,
                       uint8_t channel)
{
    for (const struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        if (at->state == LEFT && is_for(at, number, channel))
            return true;
    }
    return false;
}

bool ep_escrows_are_back(const struct ep_escrows *all)
{
    const struct ep_escrow *at = all->first;

    while (at != NULL && at->state != LEFT)
        at = at->next;
    return at == NULL && all->out == 0;
}

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

/* --- what is put */

/* It has no packet from this one on. */
static void fall_behind(struct ep_escrow *escrow, uint64_t number)
{
    if (escrow->until != UINT64_MAX || escrow->cfg.is_copy)
        return;
    escrow->until = number;
    escrow->is_behind_due = true;
    soon(escrow->all);
}

/* Somebody waits for it: its client moves. */
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
    return !is_full(escrow) || !is_patient(escrow);
}

static void note_moved(struct ep_escrow *escrow)
{
    escrow->moved_ms = ep_clock_ms();
    if (escrow->all->is_awaited)
        soon(escrow->all);
    escrow->all->is_awaited = false;
}

static int keep(struct ep_escrow *escrow, const uint8_t *mem,
                uint32_t len_bytes)
{
    struct packet *packet = malloc(sizeof(*packet) + len_bytes);

    if (packet == NULL)
        return OV_ENOMEM;
    *packet = (struct packet){.len_bytes = len_bytes};
    memcpy(packet->mem, mem, len_bytes);
    *escrow->last = packet;
    escrow->last = &packet->next;
    escrow->rest_bytes += len_bytes;
    return 0;
}

static void drop_rest(struct ep_escrow *escrow)
{
    struct packet *packet = escrow->rest;

    escrow->rest = packet->next;
    if (escrow->rest == NULL)
        escrow->last = &escrow->rest;
    escrow->rest_bytes -= packet->len_bytes;
    free(packet);
}

/* What cannot go to the file at all waits until the client takes something. */
static void refill(struct ep_escrow *escrow)
{
    const bool was_full = escrow->rest != NULL;
    int rc = 0;

    while (escrow->rest != NULL && rc == 0) {
        rc = ep_hoard_put(escrow->hoard, escrow->rest->mem,
                          escrow->rest->len_bytes);
        if (rc == 0)
            drop_rest(escrow);
    }
    if (rc == OV_EFULL && !is_patient(escrow))
        fall_behind(escrow, next_number(escrow->all));
    if (was_full && escrow->rest == NULL)
        soon(escrow->all);
}

static int put(struct ep_escrow *escrow, enum ep_escrow_what what,
               const uint8_t *mem, uint32_t len_bytes)
{
    int rc = OV_EAGAIN;

    if (escrow->rest == NULL)
        rc = ep_hoard_put(escrow->hoard, mem, len_bytes);
    if (rc == 0)
        return 0;
    if (what == EP_ESCROW_MORE ||
        (what == EP_ESCROW_FIRST && rc == OV_EAGAIN) ||
        (escrow->cfg.is_copy && rc == OV_EAGAIN &&
         escrow->rest_bytes + len_bytes <= EP_ESCROW_COPIES_BYTES))
        return keep(escrow, mem, len_bytes);
    return OV_EFULL;
}

int ep_escrow_put(struct ep_escrow *escrow, enum ep_escrow_what what,
                  const uint8_t *head, uint32_t head_bytes, const uint8_t *mem,
                  uint32_t len_bytes)
{
    uint8_t packet[PACKET_MAX];
    struct ov_wr wr = ov_wr_init(packet, sizeof(packet));
    uint64_t number;
    int rc;

    if (ep_escrow_is_empty(escrow))
        escrow->moved_ms = ep_clock_ms();
    escrow->piece = what == EP_ESCROW_MORE ? escrow->piece + 1 : 0;
    OV_ASSERT(escrow->piece < PIECES);
    number = escrow->all->records * PIECES + escrow->piece;
    ov_wr_u64(&wr, 2 * number + (what != EP_ESCROW_COPY));
    ov_wr_bytes(&wr, head, head_bytes);
    ov_wr_bytes(&wr, mem, len_bytes);
    OV_ASSERT(!wr.bad);
    rc = put(escrow, what, packet, (uint32_t)(wr.at - packet));
    if (rc == 0)
        escrow->copy_bytes += head_bytes + len_bytes;
    if (rc == 0 && what != EP_ESCROW_COPY)
        escrow->held_bytes += len_bytes;
    if (rc != 0 && what == EP_ESCROW_FIRST)
        fall_behind(escrow, number);
    if (rc != 0 && what == EP_ESCROW_MORE) {
        escrow->all->lost_bytes += len_bytes;
        soon(escrow->all);
        rc = 0;
    }
    return rc != 0 ? OV_EFULL : 0;
}

/* --- what is sent, and taken */

static void note_lost(struct ep_escrow *escrow, uint32_t bytes)
{
    const struct ep_escrows_cfg *cfg = &escrow->all->cfg;

    cfg->on_lost(cfg->arg, bytes, errno);
}

bool ep_escrow_next(struct ep_escrow *escrow, const uint8_t **mem,
                    uint32_t *len_bytes)
{
    int rc;

    while ((rc = ep_hoard_get(escrow->hoard, mem, len_bytes)) == OV_ESYS) {
        note_lost(escrow, *len_bytes);
        (void)ep_hoard_pass(escrow->hoard);
    }
    if (rc != 0)
        return false;
    *mem += HEAD_BYTES;
    *len_bytes -= HEAD_BYTES;
    escrow->next_bytes = *len_bytes;
    return true;
}

/* What was lost was not sent, so the client's count is behind that of the hoard
 * then, until it has all. */
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

/* --- what goes back */

static void give(struct ep_escrow *escrow, const uint8_t *mem,
                 uint32_t len_bytes)
{
    struct ep_escrows *all = escrow->all;
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    const uint64_t head = ov_rd_u64(&rd);
    struct job_door msg;
    struct job_record rec;

    if (escrow->acknowledged == UINT64_MAX)
        escrow->acknowledged = head / 2;
    if (head % 2 == 0 || job_door_decode(rd, &msg) != 0)
        return;
    rec = (struct job_record){.proc = msg.first,
                              .channel = msg.channel,
                              .is_end = msg.is_end,
                              .len_bytes = (uint32_t)ov_rd_left(&msg.rest)};
    rec.mem = rec.len_bytes > 0 ? msg.rest.at : NULL;
    if (is_elsewhere(escrow, head / 2, &rec))
        return;
    all->out++;
    if (all->cfg.on_back(all->cfg.arg, &rec)) {
        escrow->twice_bytes += escrow->unsure > 0 ? rec.len_bytes : 0;
        return;
    }
    all->out--;
    all->lost_bytes += rec.len_bytes;
    soon(all);
}

static void unlink_one(struct ep_escrow *escrow)
{
    struct ep_escrow **at = &escrow->all->first;

    while (*at != escrow)
        at = &(*at)->next;
    *at = escrow->next;
}

static void free_one(struct ep_escrow *escrow)
{
    unlink_one(escrow);
    while (escrow->rest != NULL)
        drop_rest(escrow);
    ep_hoard_close(escrow->hoard);
    free(escrow->cfg.ranges);
    free(escrow);
}

/* Those that only say what was had are of use to others, and that many to
 * nobody: what they do not say any more may be shown twice. */
static void drop_marks(struct ep_escrows *all)
{
    struct ep_escrow *oldest = NULL;
    unsigned marks = 0, others = 0;

    for (struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        oldest = oldest == NULL && at->state == DONE ? at : oldest;
        marks += at->state == DONE;
        others += at->state != DONE;
    }
    if (marks > MARKS_MAX || (others == 0 && marks > 0)) {
        free_one(oldest);
        drop_marks(all);
    }
}

static void finish(struct ep_escrow *escrow)
{
    struct ep_escrows *all = escrow->all;

    if (escrow->twice_bytes > 0)
        all->cfg.on_twice(all->cfg.arg, escrow->twice_bytes);
    if (escrow->acknowledged == UINT64_MAX)
        escrow->acknowledged = escrow->until;
    ep_hoard_close(escrow->hoard);
    escrow->hoard = NULL;
    escrow->held_bytes = 0;
    escrow->state = DONE;
    drop_marks(all);
    all->cfg.on_change(all->cfg.arg);
}

/* Behind all that is in the hoard; what waits for that need not go there. */
static void give_rest(struct ep_escrow *escrow)
{
    if (escrow->rest == NULL) {
        finish(escrow);
        return;
    }
    give(escrow, escrow->rest->mem, escrow->rest->len_bytes);
    drop_rest(escrow);
}

/* The next packet. False: there is none now. */
static bool step(struct ep_escrow *escrow)
{
    const uint8_t *mem;
    uint32_t len_bytes;
    int rc = ep_hoard_get(escrow->hoard, &mem, &len_bytes);

    if (rc == OV_EAGAIN)
        return false;
    escrow->all->moved++;
    if (rc == OV_ENOENT) {
        give_rest(escrow);
        return true;
    }
    if (rc == OV_ESYS)
        note_lost(escrow, len_bytes);
    else
        give(escrow, mem, len_bytes);
    ep_hoard_drop(escrow->hoard);
    escrow->unsure -= escrow->unsure > 0;
    return true;
}

static void tell(struct ep_escrows *all)
{
    for (struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        if (at->is_behind_due && at->state == SERVES)
            all->cfg.on_behind(all->cfg.arg);
        at->is_behind_due = false;
    }
    if (all->lost_bytes > 0)
        all->cfg.on_lost(all->cfg.arg, all->lost_bytes, 0);
    all->lost_bytes = 0;
    all->cfg.on_change(all->cfg.arg);
}

static struct ep_escrow *first_left(const struct ep_escrows *all)
{
    struct ep_escrow *at = all->first;

    while (at != NULL && at->state != LEFT)
        at = at->next;
    return at;
}

/* Others have their turn in between. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval now = {.tv_sec = 0};
    struct ep_escrows *all = arg;
    struct ep_escrow *left;

    (void)fd;
    (void)what;
    tell(all);
    for (unsigned i = 0; i < TURN_MAX && all->out < BACK_MAX; i++) {
        left = first_left(all);
        if (left == NULL || !step(left))
            return;
    }
    if (all->out < BACK_MAX)
        event_add(all->turn, &now);
}

/* Those who are not waited for any more. */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct ep_escrows *all = arg;

    (void)fd;
    (void)what;
    for (struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        if (at->state == SERVES)
            refill(at);
    }
    soon(all);
}

void ep_escrows_took_back(struct ep_escrows *all)
{
    OV_ASSERT(all->out > 0);
    all->out--;
    soon(all);
}

/* --- it comes and goes */

static void on_hoard(void *arg)
{
    struct ep_escrow *escrow = arg;

    if (escrow->state != SERVES) {
        soon(escrow->all);
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
    const struct ep_hoard_cfg hoard = {.writer = all->cfg.writer,
                                       .limit_bytes = cfg->limit_bytes,
                                       .on_change = on_hoard,
                                       .arg = escrow};
    int rc = OV_ENOMEM;

    if (escrow != NULL)
        rc = ep_hoard_open(&hoard, &escrow->hoard);
    if (rc != 0) {
        free(cfg->ranges);
        free(escrow);
        return rc;
    }
    escrow->all = all;
    escrow->cfg = *cfg;
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
        free_one(escrow);
        return;
    }
    if (escrow->until == UINT64_MAX)
        escrow->until = next_number(escrow->all);
    escrow->state = LEFT;
    escrow->unsure = escrow->is_settled ? 0 : escrow->sent - escrow->taken;
    unlink_one(escrow);
    link_last(escrow);
    ep_hoard_rewind(escrow->hoard);
    soon(escrow->all);
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
        OV_ASSERT(all->first->state != SERVES);
        bytes += all->first->held_bytes;
        free_one(all->first);
    }
    if (all->turn != NULL)
        event_free(all->turn);
    if (all->tick != NULL)
        event_free(all->tick);
    free(all);
    return bytes;
}
