/* Redirected output that has come back. */
#include "endpoints/run/back.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/taps.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/panic.h"

/* Above those of records and of lines of tools. */
#define COOKIE_FIRST ((uint64_t)1 << 63)

struct back {
    struct back *next;
    struct job_record rec;
    bool is_shown;
    uint8_t takers; /* places that have yet to take it */
    uint8_t left;   /* bits of those that have yet to write it */
    uint8_t *mem;   /* owned, until all have taken it */
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

bool ep_run_back_add(struct run_back *all, const struct job_record *rec)
{
    struct back *back = calloc(1, sizeof(*back));

    if (back == NULL)
        return false;
    back->mem = malloc(rec->len_bytes + 1);
    if (back->mem == NULL) {
        free(back);
        return false;
    }
    back->rec =
        (struct job_record){.cookie = COOKIE_FIRST + all->made++,
                            .proc = rec->proc,
                            .rank = rec->proc,
                            .channel = rec->channel,
                            .is_end = rec->is_end,
                            .mem = rec->len_bytes > 0 ? back->mem : NULL,
                            .len_bytes = rec->len_bytes};
    if (rec->len_bytes > 0)
        memcpy(back->mem, rec->mem, rec->len_bytes);
    *all->last = back;
    all->last = &back->next;
    return true;
}

static bool is_of(const struct back *back, uint32_t rank, uint8_t channel)
{
    return back->rec.rank == rank && back->rec.channel == channel;
}

/* --- to the console */

static bool show(struct run *r, struct back *back)
{
    struct job_record *rec = &back->rec;
    int places;

    rec->host = ep_run_host_of_rank(&r->plan, rec->rank);
    rec->time_ns = r->options.style.has_time ? ep_clock_unix_ns() : 0;
    back->is_shown = true;
    if (rec->len_bytes > 0)
        back->left = (uint8_t)((1u << ep_output_places(r->output)) - 1);
    places = ep_output_record(r->output, rec);
    back->takers = (uint8_t)(places > 0 ? places : 0);
    return places > 0;
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
            waits_before(all, back, back->rec.rank, back->rec.channel) ||
            !may(r, back->rec.rank, back->rec.channel))
            continue;
        if (show(r, back))
            continue;
        ep_voice_say(&r->voice,
                     "a record of rank %u cannot be shown: out of memory",
                     back->rec.rank);
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
        if ((*at)->is_shown && (*at)->takers == 0 && (*at)->left == 0)
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

bool ep_run_back_is(uint64_t cookie)
{
    return cookie >= COOKIE_FIRST;
}

bool ep_run_back_taken(struct run_back *all, uint64_t cookie)
{
    struct back *at = all->first;

    while (at != NULL && at->rec.cookie != cookie)
        at = at->next;
    OV_ASSERT(at != NULL && at->takers > 0);
    if (--at->takers > 0)
        return false;
    free(at->mem);
    at->mem = NULL;
    drop_done(all);
    return true;
}
