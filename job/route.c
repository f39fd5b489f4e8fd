/* Decides where output goes when a tool may redirect it and give it back. */
#include "job/route.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct waiter {
    uint32_t next; /* cookie of the next record that waits */
    uint32_t channel;
};

struct job_route {
    uint32_t channels, cookies;
    uint32_t *shown;        /* owned [channels]: how many writes of records the
                               places still owe, counted for each place */
    struct waiter *waiters; /* owned: [cookies] */
    uint32_t first, last;   /* cookies of the first and last record that waits;
                               first == `cookies`: none waits */
    uint32_t waiting;       /* how many records wait */
    struct job_route_back *backs, **backs_last; /* borrowed */
};

/* Where a record goes: the first index is whom it is for, the second the state
 * of its channel. */
static const enum job_route_to moves[JOB_ROUTE_WISHES][JOB_ROUTE_STATES] = {
    [JOB_ROUTE_FOR_PLACES] = {[JOB_ROUTE_CLEAR] = JOB_ROUTE_TO_PLACES,
                              [JOB_ROUTE_SHOWN] = JOB_ROUTE_TO_PLACES,
                              [JOB_ROUTE_KEPT] = JOB_ROUTE_WAITS,
                              [JOB_ROUTE_BACK] = JOB_ROUTE_TO_PLACES},
    [JOB_ROUTE_FOR_TOOL] = {[JOB_ROUTE_CLEAR] = JOB_ROUTE_TO_TOOL,
                            [JOB_ROUTE_SHOWN] = JOB_ROUTE_WAITS,
                            [JOB_ROUTE_KEPT] = JOB_ROUTE_WAITS,
                            [JOB_ROUTE_BACK] = JOB_ROUTE_WAITS},
    [JOB_ROUTE_FOR_LATER] = {[JOB_ROUTE_CLEAR] = JOB_ROUTE_WAITS,
                             [JOB_ROUTE_SHOWN] = JOB_ROUTE_WAITS,
                             [JOB_ROUTE_KEPT] = JOB_ROUTE_WAITS,
                             [JOB_ROUTE_BACK] = JOB_ROUTE_WAITS},
    [JOB_ROUTE_FOR_ASKER] = {[JOB_ROUTE_CLEAR] = JOB_ROUTE_TO_TOOL,
                             [JOB_ROUTE_SHOWN] = JOB_ROUTE_TO_TOOL,
                             [JOB_ROUTE_KEPT] = JOB_ROUTE_TO_TOOL,
                             [JOB_ROUTE_BACK] = JOB_ROUTE_TO_TOOL},
};

int job_route_open(uint32_t channels, uint32_t cookies, struct job_route **out)
{
    struct job_route *route = calloc(1, sizeof(*route));

    *out = route;
    if (route == NULL)
        return OV_ENOMEM;
    route->channels = channels;
    route->cookies = cookies;
    route->first = route->last = cookies;
    route->backs_last = &route->backs;
    route->shown = calloc(channels, sizeof(*route->shown));
    route->waiters = calloc(cookies, sizeof(*route->waiters));
    return route->shown == NULL || route->waiters == NULL ? OV_ENOMEM : 0;
}

void job_route_close(struct job_route *route)
{
    if (route == NULL)
        return;
    free(route->shown);
    free(route->waiters);
    free(route);
}

/* --- states of a channel */

enum job_route_state job_route_state(const struct job_route *route,
                                     uint32_t channel)
{
    enum job_route_state state =
        route->shown[channel] > 0 ? JOB_ROUTE_SHOWN : JOB_ROUTE_CLEAR;

    for (const struct job_route_back *at = route->backs; at != NULL;
         at = at->next) {
        if (at->channel == channel && !at->is_shown)
            return JOB_ROUTE_KEPT;
        if (at->channel == channel)
            state = JOB_ROUTE_BACK;
    }
    return state;
}

static bool has_waiting(const struct job_route *route, uint32_t channel)
{
    for (uint32_t at = route->first; at != route->cookies;
         at = route->waiters[at].next) {
        if (route->waiters[at].channel == channel)
            return true;
    }
    return false;
}

/* --- records */

static void add_waiter(struct job_route *route, uint32_t cookie,
                       uint32_t channel)
{
    route->waiters[cookie] =
        (struct waiter){.next = route->cookies, .channel = channel};
    if (route->first == route->cookies)
        route->first = cookie;
    else
        route->waiters[route->last].next = cookie;
    route->last = cookie;
    route->waiting++;
}

enum job_route_to job_route_record(struct job_route *route, uint32_t cookie,
                                   uint32_t channel, enum job_route_wish wish)
{
    enum job_route_to to = JOB_ROUTE_WAITS;

    OV_ASSERT(cookie < route->cookies && channel < route->channels);
    if (!has_waiting(route, channel))
        to = moves[wish][job_route_state(route, channel)];
    if (to == JOB_ROUTE_WAITS)
        add_waiter(route, cookie, channel);
    return to;
}

void job_route_shown(struct job_route *route, uint32_t channel, uint32_t places)
{
    OV_ASSERT(channel < route->channels);
    route->shown[channel] += places;
}

/* While a piece that came back is not written by this place, the record written
 * must be of this piece: pieces go to the places only when these have nothing
 * else of the channel, and later records go after it. */
bool job_route_written(struct job_route *route, uint32_t channel,
                       uint32_t place, bool *is_due)
{
    const uint8_t bit = (uint8_t)(1u << place);

    *is_due = true;
    for (struct job_route_back *at = route->backs; at != NULL; at = at->next) {
        if (at->channel != channel || (at->left & bit) == 0)
            continue;
        at->left &= (uint8_t)~bit;
        return false;
    }
    OV_ASSERT(channel < route->channels);
    if (route->shown[channel] > 0)
        route->shown[channel]--;
    *is_due = route->shown[channel] == 0;
    return true;
}

/* --- turns */

void job_route_turn(struct job_route *route, struct job_route_turn *turn)
{
    turn->next = route->first;
    route->first = route->last = route->cookies;
    route->waiting = 0;
}

bool job_route_next(const struct job_route *route, struct job_route_turn *turn,
                    uint32_t *cookie)
{
    if (turn->next == route->cookies)
        return false;
    *cookie = turn->next;
    turn->next = route->waiters[*cookie].next;
    return true;
}

uint32_t job_route_waiting(const struct job_route *route)
{
    uint32_t kept = 0;

    for (const struct job_route_back *at = route->backs; at != NULL;
         at = at->next)
        kept += !at->is_shown;
    return route->waiting + (kept > 0);
}

/* --- output that has come back */

void job_route_back_add(struct job_route *route, struct job_route_back *back,
                        uint32_t channel)
{
    OV_ASSERT(channel < route->channels);
    *back = (struct job_route_back){.channel = channel};
    *route->backs_last = back;
    route->backs_last = &back->next;
}

struct job_route_back *job_route_backs(const struct job_route *route)
{
    return route->backs;
}

/* The check that all output was written counts each record in the order of its
 * channel; output that came back was counted when the tool got it. So it may go
 * to the places only when they have nothing else of the channel to write. */
struct job_route_back *job_route_back_due(const struct job_route *route)
{
    for (struct job_route_back *at = route->backs; at != NULL; at = at->next) {
        if (!at->is_shown && route->shown[at->channel] == 0)
            return at;
    }
    return NULL;
}

void job_route_back_shown(struct job_route_back *back, uint32_t places,
                          bool has_bytes)
{
    back->is_shown = true;
    back->takers = (uint8_t)places;
    back->left = (uint8_t)(has_bytes ? (1u << places) - 1 : 0);
}

bool job_route_back_taken(struct job_route_back *back)
{
    OV_ASSERT(back->takers > 0);
    return --back->takers == 0;
}

struct job_route_back *job_route_back_pop(struct job_route *route, bool any)
{
    struct job_route_back **at = &route->backs;
    struct job_route_back *back;

    while (*at != NULL && !any &&
           !((*at)->is_shown && (*at)->takers == 0 && (*at)->left == 0))
        at = &(*at)->next;
    back = *at;
    if (back == NULL)
        return NULL;
    *at = back->next;
    if (route->backs_last == &back->next)
        route->backs_last = at;
    return back;
}
