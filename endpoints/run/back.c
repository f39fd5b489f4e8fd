/* Redirected output that has come back. */
#include "endpoints/run/back.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/taps.h"
#include "endpoints/sys/clock.h"

/* Above those of records and of lines of tools. */
#define COOKIE_FIRST ((uint64_t)1 << 63)

struct back {
    struct back *next;
    uint64_t cookie;
    uint32_t rank;
    uint8_t channel;
    bool is_end, is_shown, is_taken;
    uint8_t left; /* bits of places that have yet to write it */
    struct ov_buf buf;
    uint8_t *mem; /* owned, until it is taken */
};

void ep_run_back_open(struct run_back *all)
{
    *all = (struct run_back){.first = NULL};
    all->last = &all->first;
}

static void drop(struct run_back *all, struct back **at)
{
    struct back *back = *at;

    *at = back->next;
    if (all->last == &back->next)
        all->last = at;
    free(back->mem);
    free(back);
}

void ep_run_back_close(struct run_back *all)
{
    while (all->first != NULL)
        drop(all, &all->first);
}

bool ep_run_back_add(struct run_back *all, const struct ep_tap_output *output)
{
    struct back *back = calloc(1, sizeof(*back));
    uint32_t len = output->len_bytes;

    if (back == NULL)
        return false;
    back->mem = malloc(len + 1);
    if (back->mem == NULL) {
        free(back);
        return false;
    }
    if (len > 0)
        memcpy(back->mem, output->mem, len);
    back->cookie = COOKIE_FIRST + all->made++;
    back->rank = output->rank;
    back->channel = output->channel;
    back->is_end = output->is_end;
    back->buf = (struct ov_buf){
        .mem = back->mem, .cap_bytes = len, .len_bytes = len, .refs = 1};
    *all->last = back;
    all->last = &back->next;
    return true;
}

static bool is_of(const struct back *back, uint32_t rank, uint8_t channel)
{
    return back->rank == rank && back->channel == channel;
}

/* --- to the console */

static bool show(struct run *r, struct back *back)
{
    struct ep_console_record rec = {
        .proc = back->rank,
        .rank = back->rank,
        .host = ep_run_host_of_rank(&r->plan, back->rank),
        .time_ns = r->options.style.has_time ? ep_clock_unix_ns() : 0,
        .channel = back->channel,
        .is_eof = back->is_end,
        .buf = &back->buf,
        .len_bytes = back->buf.len_bytes,
        .cookie = back->cookie,
    };

    back->is_shown = true;
    if (rec.len_bytes > 0)
        back->left = (uint8_t)((1u << ep_output_places(r->output)) - 1);
    return ep_output_record(r->output, &rec) == 0;
}

static bool waits_before(const struct run_back *all, const struct back *end,
                         uint32_t rank, uint8_t channel)
{
    for (const struct back *at = all->first; at != end; at = at->next) {
        if (!at->is_shown && is_of(at, rank, channel))
            return true;
    }
    return false;
}

void ep_run_back_show(struct run *r, struct run_back *all,
                      bool (*may)(const struct run *r, uint32_t rank,
                                  uint8_t channel))
{
    for (struct back *back = all->first; back != NULL; back = back->next) {
        if (back->is_shown ||
            waits_before(all, back, back->rank, back->channel) ||
            !may(r, back->rank, back->channel))
            continue;
        if (show(r, back))
            continue;
        ep_voice_say(&r->voice,
                     "a record of rank %u cannot be shown: out of memory",
                     back->rank);
        ep_run_abort(r, 1);
        return;
    }
}

bool ep_run_back_has(const struct run_back *all, uint32_t rank, uint8_t channel)
{
    for (const struct back *at = all->first; at != NULL; at = at->next) {
        if (is_of(at, rank, channel))
            return true;
    }
    return false;
}

bool ep_run_back_waits(const struct run_back *all, uint32_t rank,
                       uint8_t channel)
{
    return waits_before(all, NULL, rank, channel);
}

bool ep_run_back_is_waiting(const struct run_back *all)
{
    for (const struct back *at = all->first; at != NULL; at = at->next) {
        if (!at->is_shown)
            return true;
    }
    return false;
}

/* --- it is there */

static void drop_done(struct run_back *all)
{
    struct back **at = &all->first;

    while (*at != NULL) {
        if ((*at)->is_taken && (*at)->left == 0)
            drop(all, at);
        else
            at = &(*at)->next;
    }
}

bool ep_run_back_written(struct run_back *all, uint32_t place, uint32_t rank,
                         uint8_t channel)
{
    uint8_t bit = (uint8_t)(1u << place);

    for (struct back *at = all->first; at != NULL; at = at->next) {
        if (!is_of(at, rank, channel) || (at->left & bit) == 0)
            continue;
        at->left &= (uint8_t)~bit;
        drop_done(all);
        return true;
    }
    return false;
}

bool ep_run_back_taken(struct run_back *all, uint64_t cookie)
{
    if (cookie < COOKIE_FIRST)
        return false;
    for (struct back *at = all->first; at != NULL; at = at->next) {
        if (at->cookie != cookie)
            continue;
        at->is_taken = true;
        free(at->mem);
        at->mem = NULL;
        at->buf.mem = NULL;
        break;
    }
    drop_done(all);
    return true;
}
