/* Decides whose turn it is, and keeps records until then. */
#include "config.h"

#include "endpoints/output/turns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { NOTE_BYTES = 320 };

/* A record of the caller: in hand, handed on, or to be given back. */
struct hold {
    struct hold *next, *prev;
    struct job_record rec;
};

struct list {
    struct hold *first, *last;
};

struct ep_turns {
    struct ep_turns_cfg cfg;
    struct ep_shelf *shelf; /* owned */
    uint8_t *ended;         /* owned [ranks]: channels that have ended */
    struct event *deliver;
    struct list hand; /* records that have no place yet, in their order */
    struct list out;  /* records that were handed on */
    struct list done; /* records for which on_taken is due */
    uint64_t hand_count;
    uint64_t dropped_bytes;
    uint32_t turn;    /* the rank whose output goes on */
    uint32_t reading; /* records of a part of the shelf that were handed on and
                         are in use; 1 more while they are being handed on */
    int err;          /* on_error is due */
    bool is_open;     /* output no longer waits for the end of ranks */
    bool is_dead;     /* what waits is dropped */
    bool is_finishing;
    bool is_over;
    bool has_noted;
    char note[NOTE_BYTES]; /* on_note is due; empty: it is not */
    char why[NOTE_BYTES];
};

/* ---- lists ---- */

static void list_add(struct list *list, struct hold *hold)
{
    hold->next = NULL;
    hold->prev = list->last;
    if (list->last != NULL)
        list->last->next = hold;
    else
        list->first = hold;
    list->last = hold;
}

static void list_remove(struct list *list, struct hold *hold)
{
    if (hold->prev != NULL)
        hold->prev->next = hold->next;
    else
        list->first = hold->next;
    if (hold->next != NULL)
        hold->next->prev = hold->prev;
    else
        list->last = hold->prev;
}

static void list_free(struct list *list)
{
    while (list->first != NULL) {
        struct hold *hold = list->first;

        list_remove(list, hold);
        free(hold);
    }
}

static void deliver_soon(struct ep_turns *turns)
{
    event_active(turns->deliver, 0, 0);
}

static void give_back_soon(struct ep_turns *turns, struct hold *hold)
{
    list_add(&turns->done, hold);
    deliver_soon(turns);
}

/* ---- the end of order ---- */

static void turns_kill(struct ep_turns *turns)
{
    struct hold *hold;

    if (turns->is_dead)
        return;
    turns->is_dead = true;
    turns->dropped_bytes += ep_shelf_bytes(turns->shelf);
    while ((hold = turns->hand.first) != NULL) {
        list_remove(&turns->hand, hold);
        turns->dropped_bytes += hold->rec.len_bytes;
        give_back_soon(turns, hold);
    }
    turns->hand_count = 0;
    deliver_soon(turns);
}

static void turns_fail(struct ep_turns *turns, int err, const char *why)
{
    if (turns->is_dead)
        return;
    turns->err = err;
    snprintf(turns->why, sizeof(turns->why), "%s", why);
    turns_kill(turns);
}

/* Handles a file that cannot be read: what waited there is lost. */
static void turns_fail_shelf(struct ep_turns *turns, int err)
{
    char why[NOTE_BYTES];

    snprintf(why, sizeof(why),
             "output that waited for the turn of its rank is lost: the "
             "temporary file that held it cannot be read (%s)",
             strerror(err));
    turns_fail(turns, err, why);
}

/* Gives up the order, as the shelf is full. */
static void turns_open_up(struct ep_turns *turns)
{
    const int err = ep_shelf_errno(turns->shelf);

    turns->is_open = true;
    if (err == 0)
        snprintf(turns->note, sizeof(turns->note),
                 "rank %" PRIu32 " has not ended, and there is no more room "
                 "for the output of the ranks behind it (%" PRIu64
                 " MiB): from here on output is not in the order of ranks",
                 turns->turn, turns->cfg.shelf.limit_bytes >> 20);
    else
        snprintf(turns->note, sizeof(turns->note),
                 "rank %" PRIu32 " has not ended, and the output of the ranks "
                 "behind it cannot wait in a temporary file (%s; TMPDIR names "
                 "its directory): from here on output is not in the order of "
                 "ranks",
                 turns->turn,
                 err == ENOTSUP ? "no directory on a disk" : strerror(err));
    deliver_soon(turns);
}

/* ---- handing on ---- */

static void note_end(struct ep_turns *turns, const struct job_record *rec)
{
    if (rec->is_end && rec->rank < turns->cfg.shelf.ranks)
        turns->ended[rec->rank] |= (uint8_t)(1u << rec->channel);
}

static int hand_on(struct ep_turns *turns, struct hold *hold)
{
    struct job_record rec = hold->rec;
    int rc;

    rec.cookie = (uintptr_t)hold;
    list_add(&turns->out, hold);
    rc = turns->cfg.events->on_record(turns->cfg.arg, &rec);
    if (rc != 0)
        list_remove(&turns->out, hold);
    return rc;
}

static void part_end(struct ep_turns *turns)
{
    OV_ASSERT(turns->reading > 0);
    if (--turns->reading == 0)
        ep_shelf_drop(turns->shelf);
}

/* Hands on what waits first of the rank whose turn it is. Returns false when it
 * has to be waited for. */
static bool part_hand_on(struct ep_turns *turns)
{
    struct job_record rec;
    int rc = ep_shelf_get(turns->shelf, turns->turn);

    if (rc == OV_EAGAIN)
        return false;
    if (rc != 0) {
        turns_fail_shelf(turns, errno);
        return false;
    }
    turns->reading = 1;
    while (rc == 0 && ep_shelf_next(turns->shelf, &rec)) {
        note_end(turns, &rec);
        rec.cookie = (uintptr_t)turns;
        turns->reading++;
        rc = turns->cfg.events->on_record(turns->cfg.arg, &rec);
        if (rc != 0)
            turns->reading--;
    }
    if (rc != 0)
        turns_fail(turns, ENOMEM, "cannot show output: out of memory");
    part_end(turns);
    return turns->reading == 0;
}

/* True when this rank has no more output, except what may be on the shelf. */
static bool has_ended(const struct ep_turns *turns, uint32_t rank)
{
    const struct ep_turns_cfg *cfg = &turns->cfg;

    return turns->is_open ||
           (turns->is_finishing && turns->hand.first == NULL) ||
           (turns->ended[rank] & cfg->channels) == cfg->channels ||
           (cfg->has_turn != NULL && !cfg->has_turn(cfg->turn_arg, rank));
}

/* Finds the rank whose turn it is. */
static void turn_pass(struct ep_turns *turns)
{
    while (turns->turn < turns->cfg.shelf.ranks &&
           !ep_shelf_has(turns->shelf, turns->turn) &&
           has_ended(turns, turns->turn))
        turns->turn++;
}

/* Finds a place for the first record in hand. Returns false when there is none
 * yet. */
static bool hand_place(struct ep_turns *turns)
{
    struct hold *hold = turns->hand.first;
    int rc = 0;

    list_remove(&turns->hand, hold);
    turns->hand_count--;
    if (hold->rec.rank > turns->turn && turns->turn < turns->cfg.shelf.ranks) {
        rc = ep_shelf_put(turns->shelf, &hold->rec);
        if (rc == 0)
            give_back_soon(turns, hold);
    } else {
        note_end(turns, &hold->rec);
        if (hand_on(turns, hold) != 0) {
            turns->dropped_bytes += hold->rec.len_bytes;
            give_back_soon(turns, hold);
            turns_fail(turns, ENOMEM, "cannot show output: out of memory");
        }
    }
    if (rc == 0)
        return !turns->is_dead;
    /* It stays the first one in hand. */
    hold->next = turns->hand.first;
    hold->prev = NULL;
    if (hold->next != NULL)
        hold->next->prev = hold;
    else
        turns->hand.last = hold;
    turns->hand.first = hold;
    turns->hand_count++;
    if (rc == OV_EAGAIN)
        return false;
    turns_open_up(turns);
    return true;
}

static void turns_pump(struct ep_turns *turns)
{
    while (!turns->is_dead && turns->reading == 0) {
        turn_pass(turns);
        if (turns->turn < turns->cfg.shelf.ranks &&
            ep_shelf_has(turns->shelf, turns->turn)) {
            if (!part_hand_on(turns))
                break;
        } else if (turns->hand.first == NULL || !hand_place(turns)) {
            break;
        }
    }
    if (turns->is_finishing && !turns->is_over)
        deliver_soon(turns);
}

/* ---- from the loop ---- */

static void on_change(void *arg)
{
    turns_pump(arg);
}

/* True when everything was handed on. */
static bool is_through(const struct ep_turns *turns)
{
    return turns->reading == 0 && turns->hand.first == NULL &&
           turns->done.first == NULL &&
           (turns->is_dead || turns->turn >= turns->cfg.shelf.ranks);
}

static void tell(struct ep_turns *turns)
{
    const struct ep_turns_events *events = turns->cfg.events;
    const int err = turns->err;

    if (turns->note[0] != '\0' && !turns->has_noted) {
        turns->has_noted = true;
        events->on_note(turns->cfg.arg, turns->note);
    }
    turns->err = 0;
    if (err != 0)
        events->on_error(turns->cfg.arg, err, turns->why);
}

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
    struct ep_turns *turns = arg;
    const struct ep_turns_events *events = turns->cfg.events;
    struct hold *hold;

    (void)fd;
    (void)what;
    tell(turns);
    while ((hold = turns->done.first) != NULL) {
        const uint64_t cookie = hold->rec.cookie;

        list_remove(&turns->done, hold);
        free(hold);
        events->on_taken(turns->cfg.arg, cookie);
    }
    if (turns->is_finishing && !turns->is_over && is_through(turns)) {
        turns->is_over = true;
        events->on_over(turns->cfg.arg);
    }
}

/* ---- the calls ---- */

int ep_turns_open(const struct ep_turns_cfg *cfg, struct ep_turns **out)
{
    struct ep_turns *turns = calloc(1, sizeof(*turns));
    struct ep_shelf_cfg shelf = cfg->shelf;
    int rc;

    if (turns == NULL)
        return OV_ENOMEM;
    turns->cfg = *cfg;
    shelf.on_change = on_change;
    shelf.arg = turns;
    turns->ended = calloc(shelf.ranks, 1);
    turns->deliver = event_new(cfg->base, -1, 0, on_deliver, turns);
    rc = ep_shelf_open(&shelf, &turns->shelf);
    if (rc != 0 || turns->ended == NULL || turns->deliver == NULL) {
        ep_turns_close(turns);
        return OV_ENOMEM;
    }
    *out = turns;
    return 0;
}

void ep_turns_close(struct ep_turns *turns)
{
    if (turns == NULL)
        return;
    ep_shelf_close(turns->shelf);
    if (turns->deliver != NULL)
        event_free(turns->deliver);
    list_free(&turns->hand);
    list_free(&turns->out);
    list_free(&turns->done);
    free(turns->ended);
    free(turns);
}

static struct hold *hold_new(const struct job_record *rec)
{
    struct hold *hold = malloc(sizeof(*hold));

    if (hold != NULL)
        *hold = (struct hold){.rec = *rec};
    return hold;
}

int ep_turns_pass(struct ep_turns *turns, const struct job_record *rec)
{
    struct hold *hold = hold_new(rec);
    int rc = hold == NULL ? OV_ENOMEM : hand_on(turns, hold);

    if (rc != 0)
        free(hold);
    return rc;
}

int ep_turns_record(struct ep_turns *turns, const struct job_record *rec)
{
    struct hold *hold;

    if (turns->is_dead || rec->rank >= turns->cfg.shelf.ranks)
        return ep_turns_pass(turns, rec);
    hold = hold_new(rec);
    if (hold == NULL)
        return OV_ENOMEM;
    list_add(&turns->hand, hold);
    turns->hand_count++;
    turns_pump(turns);
    return 0;
}

void ep_turns_taken(struct ep_turns *turns, uint64_t cookie)
{
    struct hold *hold = (struct hold *)(uintptr_t)cookie;

    if (cookie == (uintptr_t)turns) {
        part_end(turns);
    } else {
        cookie = hold->rec.cookie;
        list_remove(&turns->out, hold);
        free(hold);
        turns->cfg.events->on_taken(turns->cfg.arg, cookie);
    }
    turns_pump(turns);
}

void ep_turns_finish(struct ep_turns *turns)
{
    if (turns->is_finishing)
        return;
    turns->is_finishing = true;
    turns_pump(turns);
}

void ep_turns_give_up(struct ep_turns *turns)
{
    turns_kill(turns);
}

uint64_t ep_turns_pending(const struct ep_turns *turns)
{
    uint64_t due = turns->err != 0 || turns->done.first != NULL ||
                   (turns->note[0] != '\0' && !turns->has_noted);

    if (!turns->is_dead && turns->is_open &&
        turns->turn < turns->cfg.shelf.ranks)
        due++;
    if (turns->is_finishing && !turns->is_over)
        due++;
    return due + turns->hand_count;
}

uint64_t ep_turns_dropped(const struct ep_turns *turns)
{
    return turns->dropped_bytes;
}
