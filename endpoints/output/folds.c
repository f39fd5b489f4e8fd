/* Gives records to the channels, and back to the caller. */
#include "config.h"

#include "endpoints/output/folds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/output/fold_lane.h"
#include "endpoints/sys/clock.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "text/folded.h"

/* A record of the caller: in hand, handed on as it is, or to be given back. Its
 * address is its cookie, with a bit that tells it from a batch. */
struct held {
    struct held *next, *prev; /* prev: only while it is handed on */
    struct job_record rec;
};

enum { HELD_BIT = 1 };

struct held_list {
    struct held *first, **last;
};

struct ep_folds {
    struct ep_folds_cfg cfg;
    struct text_style style, plain;
    struct fold_lane lanes[TEXT_CHANNELS]; /* all zero: it is not folded */
    struct event *deliver, *timer;
    uint64_t timer_ns; /* when the timer fires; UINT64_MAX: it is not set */
    /* For each channel, records that wait until the console has room. */
    struct held_list hand[TEXT_CHANNELS];
    struct held_list done; /* records for which on_taken is due */
    struct held *passed;   /* records that the console has as they are */
    uint64_t hand_count;
    uint64_t dropped_bytes;
    int err;                 /* on_error is due */
    bool is_full, has_noted; /* on_note is due; was called */
    bool is_dead;
    bool is_finishing;
    bool is_over;
};

/* ---- lists ---- */

static void list_add(struct held_list *list, struct held *held)
{
    held->next = NULL;
    if (list->first == NULL)
        list->last = &list->first;
    *list->last = held;
    list->last = &held->next;
}

static struct held *list_pop(struct held_list *list)
{
    struct held *held = list->first;

    if (held != NULL)
        list->first = held->next;
    return held;
}

static void list_free(struct held_list *list)
{
    struct held *held;

    while ((held = list_pop(list)) != NULL)
        free(held);
}

static void deliver_soon(struct ep_folds *folds)
{
    event_active(folds->deliver, 0, 0);
}

static void give_back_soon(struct ep_folds *folds, struct held *held)
{
    list_add(&folds->done, held);
    deliver_soon(folds);
}

/* ---- the end ---- */

static void folds_kill(struct ep_folds *folds)
{
    struct held *held;

    if (folds->is_dead)
        return;
    folds->is_dead = true;
    for (int i = 1; i < TEXT_CHANNELS; i++) {
        if (folds->lanes[i].fold != NULL)
            folds->dropped_bytes += ep_fold_lane_waiting(&folds->lanes[i]);
        while ((held = list_pop(&folds->hand[i])) != NULL) {
            folds->dropped_bytes += held->rec.len_bytes;
            give_back_soon(folds, held);
        }
    }
    folds->hand_count = 0;
    deliver_soon(folds);
}

static void check(struct ep_folds *folds, int rc)
{
    if (rc == 0 || folds->is_dead)
        return;
    folds->err = ENOMEM;
    folds_kill(folds);
}

/* ---- the lanes ---- */

static int on_record(void *arg, const struct job_record *rec)
{
    struct ep_folds *folds = arg;

    return folds->cfg.events->on_record(folds->cfg.arg, rec);
}

static void on_written(void *arg, uint32_t rank, uint8_t channel,
                       const void *mem, uint32_t len_bytes)
{
    struct ep_folds *folds = arg;

    folds->cfg.events->on_written(folds->cfg.arg, rank, channel, mem,
                                  len_bytes);
}

static void on_full(void *arg)
{
    struct ep_folds *folds = arg;

    folds->is_full = true;
    deliver_soon(folds);
}

static struct fold_lane *lane_of(struct ep_folds *folds, uint8_t channel)
{
    struct fold_lane *lane =
        channel < TEXT_CHANNELS ? &folds->lanes[channel] : NULL;

    return lane != NULL && lane->fold != NULL ? lane : NULL;
}

static bool is_empty(const struct ep_folds *folds)
{
    for (int i = 1; i < TEXT_CHANNELS; i++) {
        const struct fold_lane *lane = &folds->lanes[i];

        if (lane->fold != NULL &&
            (folds->hand[i].first != NULL || !ep_fold_lane_is_empty(lane)))
            return false;
    }
    return true;
}

static void timer_set(struct ep_folds *folds, uint64_t now_ns)
{
    uint64_t at_ns = UINT64_MAX, left_ns;
    struct timeval tv;

    for (int i = 1; i < TEXT_CHANNELS; i++) {
        const struct fold_lane *lane = &folds->lanes[i];
        const uint64_t lane_ns =
            lane->fold != NULL && ep_fold_out_has_room(&lane->out)
                ? ep_fold_lane_deadline(lane)
                : UINT64_MAX;

        at_ns = lane_ns < at_ns ? lane_ns : at_ns;
    }
    /* A timer that fires too early looks again. */
    if (at_ns >= folds->timer_ns)
        return;
    folds->timer_ns = at_ns;
    left_ns = at_ns > now_ns ? at_ns - now_ns : 0;
    tv.tv_sec = (time_t)(left_ns / 1000000000);
    tv.tv_usec = (suseconds_t)(left_ns % 1000000000 / 1000 + 1);
    event_add(folds->timer, &tv);
}

/* Takes the records of a channel that wait, and shows what is final. */
static int lane_pump(struct ep_folds *folds, int channel, uint64_t now_ns)
{
    struct fold_lane *lane = &folds->lanes[channel];
    struct held *held;
    int rc = 0;

    if (ep_fold_lane_is_full(lane))
        rc = ep_fold_lane_show(lane, now_ns);
    while (rc == 0 && ep_fold_lane_has_room(lane) &&
           (held = list_pop(&folds->hand[channel])) != NULL) {
        folds->hand_count--;
        rc = ep_fold_lane_record(lane, &held->rec, now_ns);
        give_back_soon(folds, held);
        if (rc == 0 && ep_fold_lane_is_full(lane))
            rc = ep_fold_lane_show(lane, now_ns);
    }
    if (rc == 0 && folds->is_finishing && folds->hand[channel].first == NULL)
        rc = ep_fold_lane_finish(lane, now_ns);
    return rc == 0 ? ep_fold_lane_show(lane, now_ns) : rc;
}

static void folds_pump(struct ep_folds *folds)
{
    const uint64_t now_ns = ep_clock_ns();

    for (int i = 1; !folds->is_dead && i < TEXT_CHANNELS; i++) {
        if (folds->lanes[i].fold != NULL)
            check(folds, lane_pump(folds, i, now_ns));
    }
    if (!folds->is_dead)
        timer_set(folds, now_ns);
    if (folds->is_finishing && !folds->is_over)
        deliver_soon(folds);
}

/* ---- from the loop ---- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ep_folds *folds = arg;

    (void)fd;
    (void)what;
    folds->timer_ns = UINT64_MAX;
    folds_pump(folds);
}

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
    struct ep_folds *folds = arg;
    const struct ep_folds_events *events = folds->cfg.events;
    const int err = folds->err;
    struct held *held;

    (void)fd;
    (void)what;
    if (folds->is_full && !folds->has_noted) {
        folds->has_noted = true;
        events->on_note(folds->cfg.arg,
                        "there is no more room for whole outputs (--fold=end): "
                        "what there is of them is shown, and from here on "
                        "lines are folded as they come");
    }
    folds->err = 0;
    if (err != 0)
        events->on_error(folds->cfg.arg, err,
                         "cannot show output: out of memory");
    while ((held = list_pop(&folds->done)) != NULL) {
        const uint64_t cookie = held->rec.cookie;

        free(held);
        events->on_taken(folds->cfg.arg, cookie);
    }
    if (folds->is_finishing && !folds->is_over &&
        (folds->is_dead || is_empty(folds))) {
        folds->is_over = true;
        events->on_over(folds->cfg.arg);
    }
}

/* ---- the calls ---- */

static int open_lanes(struct ep_folds *folds)
{
    const struct ep_folds_cfg *cfg = &folds->cfg;
    struct fold_lane_cfg lane = {
        .how = cfg->how,
        .ranks = cfg->ranks,
        .has_hosts = cfg->style.label == TEXT_LABEL_HOST,
        .style = &folds->style,
        .plain = &folds->plain,
        .on_record = on_record,
        .on_written = on_written,
        .on_full = on_full,
        .arg = folds,
    };
    int rc = 0;

    for (lane.channel = 1; rc == 0 && lane.channel < TEXT_CHANNELS;
         lane.channel++) {
        struct fold_lane *it = &folds->lanes[lane.channel];

        if ((cfg->channels & 1u << lane.channel) == 0)
            continue;
        rc = ep_fold_lane_open(it, &lane);
        for (uint32_t rank = 0;
             rc == 0 && cfg->has_turn != NULL && rank < cfg->ranks; rank++) {
            if (!cfg->has_turn(cfg->turn_arg, rank))
                rc = ep_fold_lane_end(it, rank, 0);
        }
    }
    return rc;
}

int ep_folds_open(const struct ep_folds_cfg *cfg, struct ep_folds **out)
{
    struct ep_folds *folds = calloc(1, sizeof(*folds));

    if (folds == NULL)
        return OV_ENOMEM;
    folds->cfg = *cfg;
    folds->timer_ns = UINT64_MAX;
    folds->style = cfg->style;
    text_folded_style(&folds->style);
    if (cfg->how != EP_FOLD_LIVE)
        folds->style.has_time = false;
    folds->deliver = event_new(cfg->base, -1, 0, on_deliver, folds);
    folds->timer = event_new(cfg->base, -1, EV_TIMEOUT, on_timer, folds);
    if (folds->deliver == NULL || folds->timer == NULL ||
        open_lanes(folds) != 0) {
        ep_folds_close(folds);
        return OV_ENOMEM;
    }
    *out = folds;
    return 0;
}

static void passed_end(struct ep_folds *folds, struct held *held)
{
    *(held->prev != NULL ? &held->prev->next : &folds->passed) = held->next;
    if (held->next != NULL)
        held->next->prev = held->prev;
    free(held);
}

void ep_folds_close(struct ep_folds *folds)
{
    if (folds == NULL)
        return;
    for (int i = 1; i < TEXT_CHANNELS; i++)
        ep_fold_lane_close(&folds->lanes[i]);
    if (folds->deliver != NULL)
        event_free(folds->deliver);
    if (folds->timer != NULL)
        event_free(folds->timer);
    for (int i = 1; i < TEXT_CHANNELS; i++)
        list_free(&folds->hand[i]);
    list_free(&folds->done);
    while (folds->passed != NULL)
        passed_end(folds, folds->passed);
    free(folds);
}

static struct held *held_new(const struct job_record *rec)
{
    struct held *held = malloc(sizeof(*held));

    if (held != NULL)
        *held = (struct held){.rec = *rec};
    return held;
}

static void passed_add(struct ep_folds *folds, struct held *held)
{
    held->next = folds->passed;
    if (held->next != NULL)
        held->next->prev = held;
    folds->passed = held;
}

int ep_folds_pass(struct ep_folds *folds, const struct job_record *rec)
{
    struct held *held = held_new(rec);
    struct job_record its = *rec;
    int rc;

    if (held == NULL)
        return OV_ENOMEM;
    its.cookie = (uintptr_t)held | HELD_BIT;
    passed_add(folds, held);
    rc = folds->cfg.events->on_record(folds->cfg.arg, &its);
    if (rc != 0)
        passed_end(folds, held);
    return rc;
}

int ep_folds_record(struct ep_folds *folds, const struct job_record *rec)
{
    struct held *held;

    if (rec->rank >= folds->cfg.ranks || lane_of(folds, rec->channel) == NULL)
        return ep_folds_pass(folds, rec);
    held = held_new(rec);
    if (held == NULL)
        return OV_ENOMEM;
    if (folds->is_dead) {
        folds->dropped_bytes += rec->len_bytes;
        give_back_soon(folds, held);
        return 0;
    }
    list_add(&folds->hand[rec->channel], held);
    folds->hand_count++;
    folds_pump(folds);
    return 0;
}

void ep_folds_taken(struct ep_folds *folds, uint64_t cookie)
{
    struct held *held;

    if ((cookie & HELD_BIT) == 0) {
        ep_fold_out_taken((struct fold_batch *)(uintptr_t)cookie);
    } else {
        held = (struct held *)(uintptr_t)(cookie & ~(uint64_t)HELD_BIT);
        cookie = held->rec.cookie;
        passed_end(folds, held);
        folds->cfg.events->on_taken(folds->cfg.arg, cookie);
    }
    folds_pump(folds);
}

void ep_folds_written(struct ep_folds *folds, uint32_t proc, uint8_t channel,
                      const void *mem, uint32_t len_bytes)
{
    struct fold_lane *lane = lane_of(folds, channel);

    if (lane != NULL &&
        (proc < folds->cfg.ranks ||
         (proc >= EP_FOLD_PROC_FIRST && proc <= EP_FOLD_PROC_LAST)))
        ep_fold_out_written(&lane->out, proc, mem, len_bytes);
    else
        on_written(folds, proc, channel, mem, len_bytes);
}

void ep_folds_finish(struct ep_folds *folds)
{
    if (folds->is_finishing)
        return;
    folds->is_finishing = true;
    folds_pump(folds);
}

void ep_folds_give_up(struct ep_folds *folds)
{
    folds_kill(folds);
}

uint64_t ep_folds_pending(const struct ep_folds *folds)
{
    uint64_t due = folds->err != 0 || folds->done.first != NULL;

    if (!folds->is_dead && !is_empty(folds))
        due++;
    if (folds->is_finishing && !folds->is_over)
        due++;
    return due + folds->hand_count;
}

uint64_t ep_folds_dropped(const struct ep_folds *folds)
{
    return folds->dropped_bytes;
}
