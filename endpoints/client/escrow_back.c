/* Gives output back that a client had not acknowledged when it left. */
#include "config.h"

#include "endpoints/client/escrow_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoints/client/ranges.h"
#include "endpoints/sys/hoard.h"
#include "job/door.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    TURN_MAX = 64, /* packets that are given back in one turn of the loop */
    BACK_MAX = 8, /* packets given back that the console has not accepted yet */
    MARKS_MAX = 64,
};

/* --- the life of an escrow */

void ep_escrows_soon(const struct ep_escrows *all)
{
    event_active(all->turn, 0, 0);
}

void ep_escrow_drop_rest(struct ep_escrow *escrow)
{
    struct ep_escrow_packet *packet = escrow->rest;

    escrow->rest = packet->next;
    if (escrow->rest == NULL)
        escrow->last = &escrow->rest;
    escrow->rest_bytes -= packet->len_bytes;
    free(packet);
}

void ep_escrow_note_lost(const struct ep_escrow *escrow, uint32_t bytes)
{
    const struct ep_escrows_cfg *cfg = &escrow->all->cfg;

    cfg->on_lost(cfg->arg, bytes, errno);
}

void ep_escrow_unlink(struct ep_escrow *escrow)
{
    struct ep_escrow **at = &escrow->all->first;

    while (*at != escrow)
        at = &(*at)->next;
    *at = escrow->next;
}

static void close_hoard(struct ep_escrow *escrow)
{
    ep_hoard_close(escrow->hoard);
    escrow->hoard = NULL;
    escrow->all->kept_blocks -= escrow->kept_blocks;
    escrow->kept_blocks = 0;
}

void ep_escrow_free(struct ep_escrow *escrow)
{
    ep_escrow_unlink(escrow);
    while (escrow->rest != NULL)
        ep_escrow_drop_rest(escrow);
    close_hoard(escrow);
    ep_ranges_clear(&escrow->cfg.ranges);
    free(escrow);
}

/* --- which client has got which output */

static bool is_in(const struct ep_escrow_cfg *cfg, uint32_t number)
{
    return cfg->ranges.count == 0 ||
           topo_ranges_touches(&cfg->ranges,
                               (struct topo_range){number, number});
}

static bool is_for(const struct ep_escrow *escrow, uint32_t number,
                   uint8_t channel)
{
    const struct ep_escrow_cfg *cfg = &escrow->cfg;

    return number >= cfg->base && number - cfg->base < cfg->size &&
           (cfg->channels & 1u << channel) != 0 && is_in(cfg, number);
}

/* Tells whether another client gets or has got the packet instead of the
 * console, or that client's escrow will give it back. */
static bool is_elsewhere(const struct ep_escrow *escrow, uint64_t number,
                         const struct job_record *rec)
{
    for (const struct ep_escrow *at = escrow->all->first; at != NULL;
         at = at->next) {
        if (at != escrow && at->since <= number &&
            number <
                (at->state == EP_ESCROW_DONE ? at->acknowledged : at->until) &&
            is_for(at, rec->proc, rec->channel))
            return true;
    }
    return false;
}

bool ep_escrows_return(const struct ep_escrows *all, uint32_t number,
                       uint8_t channel)
{
    for (const struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        if (at->state == EP_ESCROW_LEFT && is_for(at, number, channel))
            return true;
    }
    return false;
}

bool ep_escrows_are_back(const struct ep_escrows *all)
{
    const struct ep_escrow *at = all->first;

    while (at != NULL && at->state != EP_ESCROW_LEFT)
        at = at->next;
    return at == NULL && all->out == 0;
}

/* --- packets that are given back */

static void give_packet(struct ep_escrow *escrow, const uint8_t *mem,
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
    ep_escrows_soon(all);
}

/* Frees escrows that are DONE. They are kept as long as another escrow may have
 * the same output, but at most MARKS_MAX of them: output that a freed one had
 * may be shown twice. */
static void drop_marks(struct ep_escrows *all)
{
    struct ep_escrow *oldest = NULL;
    unsigned marks = 0, others = 0;

    for (struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        oldest = oldest == NULL && at->state == EP_ESCROW_DONE ? at : oldest;
        marks += at->state == EP_ESCROW_DONE;
        others += at->state != EP_ESCROW_DONE;
    }
    if (marks > MARKS_MAX || (others == 0 && marks > 0)) {
        ep_escrow_free(oldest);
        drop_marks(all);
    }
}

static void finish_escrow(struct ep_escrow *escrow)
{
    struct ep_escrows *all = escrow->all;

    if (escrow->twice_bytes > 0)
        all->cfg.on_twice(all->cfg.arg, escrow->twice_bytes);
    if (escrow->acknowledged == UINT64_MAX)
        escrow->acknowledged = escrow->until;
    close_hoard(escrow);
    escrow->held_bytes = 0;
    escrow->state = EP_ESCROW_DONE;
    drop_marks(all);
    all->cfg.on_change(all->cfg.arg);
}

/* Gives back the packets that follow those in the hoard, without putting them
 * through the hoard. */
static void give_rest(struct ep_escrow *escrow)
{
    if (escrow->rest == NULL) {
        finish_escrow(escrow);
        return;
    }
    give_packet(escrow, escrow->rest->mem, escrow->rest->len_bytes);
    ep_escrow_drop_rest(escrow);
}

/* Gives back the next packet. Returns false when it cannot be read now. */
static bool give_next(struct ep_escrow *escrow)
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
        ep_escrow_note_lost(escrow, len_bytes);
    else
        give_packet(escrow, mem, len_bytes);
    ep_hoard_drop(escrow->hoard);
    escrow->unsure -= escrow->unsure > 0;
    return true;
}

static void tell_caller(struct ep_escrows *all)
{
    for (struct ep_escrow *at = all->first; at != NULL; at = at->next) {
        if (at->is_behind_due && at->state == EP_ESCROW_SERVES)
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

    while (at != NULL && at->state != EP_ESCROW_LEFT)
        at = at->next;
    return at;
}

/* Stops after TURN_MAX packets, so that other events are handled as well. */
void ep_escrows_turn(struct ep_escrows *all)
{
    static const struct timeval now = {.tv_sec = 0};
    struct ep_escrow *left;

    tell_caller(all);
    for (unsigned i = 0; i < TURN_MAX && all->out < BACK_MAX; i++) {
        left = first_left(all);
        if (left == NULL || !give_next(left))
            return;
    }
    if (all->out < BACK_MAX)
        event_add(all->turn, &now);
}

void ep_escrows_took_back(struct ep_escrows *all)
{
    OV_ASSERT(all->out > 0);
    all->out--;
    ep_escrows_soon(all);
}
