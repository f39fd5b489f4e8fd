/* Where output goes when a tool may redirect it: the table, and random runs
 * with console, files and a tool that comes and goes. */
#include "job/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum {
    CHANNELS = 3,
    COOKIES = 16,
    PLACES = 2,
    RECORDS_MAX = 400, /* the most records of a channel */
    BACKS_MAX = 4,     /* the most records given back and not yet accepted */
    STEPS = 3000,
    ROUNDS = 300
};

/* --- the table */

/* Puts a channel into each of its states. */
static void prepare(struct job_route *route, enum job_route_state state,
                    struct job_route_back *back)
{
    if (state == JOB_ROUTE_SHOWN)
        job_route_shown(route, 0, 1);
    if (state == JOB_ROUTE_KEPT || state == JOB_ROUTE_BACK)
        job_route_back_add(route, back, 0);
    if (state == JOB_ROUTE_BACK)
        job_route_back_shown(job_route_back_due(route), 1, true);
    assert_int_equal(job_route_state(route, 0), state);
}

static void each_row_of_the_table(void **state)
{
    static const char want[JOB_ROUTE_WISHES][JOB_ROUTE_STATES + 1] = {
        [JOB_ROUTE_FOR_PLACES] = "ppwp",
        [JOB_ROUTE_FOR_TOOL] = "twww",
        [JOB_ROUTE_FOR_LATER] = "wwww",
        [JOB_ROUTE_FOR_ASKER] = "tttt",
    };

    (void)state;
    for (unsigned wish = 0; wish < JOB_ROUTE_WISHES; wish++) {
        for (unsigned is = 0; is < JOB_ROUTE_STATES; is++) {
            struct job_route_back back;
            struct job_route *route;
            enum job_route_to to;

            assert_int_equal(job_route_open(1, 1, &route), 0);
            prepare(route, (enum job_route_state)is, &back);
            to = job_route_record(route, 0, 0, (enum job_route_wish)wish);
            assert_int_equal("wpt"[to], want[wish][is]);
            assert_int_equal(job_route_waiting(route),
                             (to == JOB_ROUTE_WAITS) + (is == JOB_ROUTE_KEPT));
            job_route_close(route);
        }
    }
}

static void what_waits_goes_first(void **state)
{
    struct job_route *route;
    struct job_route_turn turn;
    uint32_t cookie;
    bool is_due;

    (void)state;
    assert_int_equal(job_route_open(2, 4, &route), 0);
    job_route_shown(route, 0, 1);
    assert_int_equal(job_route_record(route, 3, 0, JOB_ROUTE_FOR_TOOL),
                     JOB_ROUTE_WAITS);
    assert_int_equal(job_route_record(route, 1, 0, JOB_ROUTE_FOR_PLACES),
                     JOB_ROUTE_WAITS);
    assert_int_equal(job_route_record(route, 2, 1, JOB_ROUTE_FOR_TOOL),
                     JOB_ROUTE_TO_TOOL);
    assert_true(job_route_written(route, 0, 0, &is_due));
    assert_true(is_due);
    job_route_turn(route, &turn);
    assert_int_equal(job_route_waiting(route), 0);
    assert_true(job_route_next(route, &turn, &cookie));
    assert_int_equal(cookie, 3);
    assert_int_equal(job_route_record(route, 3, 0, JOB_ROUTE_FOR_TOOL),
                     JOB_ROUTE_TO_TOOL);
    assert_true(job_route_next(route, &turn, &cookie));
    assert_int_equal(cookie, 1);
    assert_int_equal(job_route_record(route, 1, 0, JOB_ROUTE_FOR_LATER),
                     JOB_ROUTE_WAITS);
    assert_false(job_route_next(route, &turn, &cookie));
    assert_int_equal(job_route_waiting(route), 1);
    job_route_close(route);
    job_route_close(NULL);
}

static void what_has_come_back_waits_for_what_is_there(void **state)
{
    struct job_route_back first, second, other;
    struct job_route *route;
    bool is_due;

    (void)state;
    assert_int_equal(job_route_open(2, 1, &route), 0);
    job_route_shown(route, 0, 1);
    job_route_back_add(route, &first, 0);
    job_route_back_add(route, &second, 0);
    assert_null(job_route_back_due(route));
    job_route_back_add(route, &other, 1);
    assert_ptr_equal(job_route_back_due(route), &other);
    job_route_back_shown(&other, 1, false);
    assert_true(job_route_written(route, 0, 0, &is_due));
    assert_true(is_due);
    assert_ptr_equal(job_route_back_due(route), &first);
    job_route_back_shown(&first, 1, true);
    assert_ptr_equal(job_route_back_due(route), &second);
    assert_null(job_route_back_pop(route, false));
    /* the record is only an end: nothing is written */
    assert_true(job_route_back_taken(&other));
    assert_ptr_equal(job_route_back_pop(route, false), &other);
    assert_ptr_equal(job_route_back_pop(route, true), &first);
    assert_ptr_equal(job_route_back_pop(route, true), &second);
    assert_null(job_route_back_pop(route, true));
    job_route_back_add(route, &first, 0);
    assert_ptr_equal(job_route_backs(route), &first);
    job_route_close(route);
}

/* --- random runs
 *
 * A record is a number of its channel, from 0 on. A place has a queue of
 * records and writes them in order. The tool keeps the records that it has not
 * read; when it leaves it gives them back, in order, a few at a time.
 */

struct queue {
    uint32_t of[RECORDS_MAX];
    unsigned first, count;
};

struct back {
    struct job_route_back at;
    uint32_t number;
};

struct world {
    struct job_route *route;
    struct chance chance;
    uint32_t made[CHANNELS];     /* how many records each channel has
                                  * had so far */
    uint32_t at_cookie[COOKIES]; /* channel * RECORDS_MAX + number,
                                  * for each cookie */
    bool is_used[COOKIES];       /* the cookies of records that wait */
    struct queue places[PLACES][CHANNELS]; /* the records that each place has to
                                            * write */
    struct queue taken[PLACES][CHANNELS]; /* the records that are given back, to
                                           * be taken */
    uint32_t written[PLACES][CHANNELS];   /* the number of the next record to be
                                           * written */
    struct queue tool[CHANNELS];          /* the records that the tool has not
                                           * read */
    bool is_tool[CHANNELS];               /* the channel is redirected */
    bool is_giving[CHANNELS];             /* records of the channel are being
                                           * given back */
    uint32_t counted[CHANNELS];           /* the number of the next record that
                                           * the proof counts */
    uint32_t done[PLACES][CHANNELS];  /* how many records were written at each
                                       * place, or read by the tool */
    unsigned backs;                   /* how many records given back are not
                                       * accepted yet */
    unsigned moves[JOB_ROUTE_STATES]; /* how many records came in each state
                                       * of the channel */
};

static uint32_t below(struct world *w, uint32_t n)
{
    return chance_in(&w->chance, 0, n - 1);
}

static void put(struct queue *queue, uint32_t number)
{
    queue->of[(queue->first + queue->count++) % RECORDS_MAX] = number;
}

static uint32_t get(struct queue *queue)
{
    uint32_t number = queue->of[queue->first];

    assert_true(queue->count > 0);
    queue->first = (queue->first + 1) % RECORDS_MAX;
    queue->count--;
    return number;
}

/* The proof counts a record when it goes to the tool, or when it is written. */
static void count(struct world *w, uint32_t channel, uint32_t number)
{
    assert_int_equal(number, w->counted[channel]);
    w->counted[channel]++;
}

static enum job_route_wish wish_of(const struct world *w, uint32_t channel)
{
    if (w->is_giving[channel])
        return JOB_ROUTE_FOR_LATER;
    return w->is_tool[channel] ? JOB_ROUTE_FOR_TOOL : JOB_ROUTE_FOR_PLACES;
}

static void route(struct world *w, uint32_t cookie)
{
    uint32_t channel = w->at_cookie[cookie] / RECORDS_MAX;
    uint32_t number = w->at_cookie[cookie] % RECORDS_MAX;

    w->moves[job_route_state(w->route, channel)]++;
    w->is_used[cookie] = false;
    switch (job_route_record(w->route, cookie, channel, wish_of(w, channel))) {
    case JOB_ROUTE_WAITS:
        w->is_used[cookie] = true;
        break;
    case JOB_ROUTE_TO_PLACES:
        for (unsigned place = 0; place < PLACES; place++)
            put(&w->places[place][channel], number);
        job_route_shown(w->route, channel, PLACES);
        break;
    case JOB_ROUTE_TO_TOOL:
        count(w, channel, number);
        put(&w->tool[channel], number);
        break;
    }
}

static void show_backs(struct world *w)
{
    struct job_route_back *at;

    while ((at = job_route_back_due(w->route)) != NULL) {
        const struct back *back = (struct back *)at;

        for (unsigned place = 0; place < PLACES; place++) {
            put(&w->places[place][at->channel], back->number);
            put(&w->taken[place][at->channel], back->number);
        }
        job_route_back_shown(at, PLACES, true);
    }
}

static void turn(struct world *w)
{
    struct job_route_turn turn;
    uint32_t cookie;

    show_backs(w);
    job_route_turn(w->route, &turn);
    while (job_route_next(w->route, &turn, &cookie))
        route(w, cookie);
}

static void drop_backs(struct world *w)
{
    struct job_route_back *at;

    while ((at = job_route_back_pop(w->route, false)) != NULL)
        free(at);
}

/* --- the steps of a run */

static void arrive(struct world *w, uint32_t channel)
{
    for (uint32_t cookie = 0; cookie < COOKIES; cookie++) {
        if (w->is_used[cookie] || w->made[channel] == RECORDS_MAX)
            continue;
        w->at_cookie[cookie] = channel * RECORDS_MAX + w->made[channel]++;
        route(w, cookie);
        return;
    }
}

/* Writes a record. All numbers come in order to both places, except records
 * that the tool has read. */
static void write_one(struct world *w, uint32_t channel)
{
    uint32_t place = below(w, PLACES);
    struct queue *queue = &w->places[place][channel];
    uint32_t number;
    bool is_due;

    if (queue->count == 0)
        return;
    number = get(queue);
    assert_true(number >= w->written[place][channel]);
    w->written[place][channel] = number + 1;
    w->done[place][channel]++;
    if (job_route_written(w->route, channel, place, &is_due)) {
        if (place == 0)
            count(w, channel, number);
    } else {
        assert_true(number < w->counted[channel]);
        drop_backs(w);
    }
    if (is_due)
        turn(w);
}

static void take_one(struct world *w, uint32_t channel)
{
    struct queue *queue = &w->taken[below(w, PLACES)][channel];
    struct job_route_back *at = job_route_backs(w->route);
    uint32_t number;

    if (queue->count == 0)
        return;
    number = get(queue);
    while (at->channel != channel || ((struct back *)at)->number != number)
        at = at->next;
    if (!job_route_back_taken(at))
        return;
    w->backs--;
    drop_backs(w);
    turn(w);
}

static void read_one(struct world *w, uint32_t channel)
{
    if (w->tool[channel].count == 0 || w->is_giving[channel])
        return;
    (void)get(&w->tool[channel]);
    for (unsigned place = 0; place < PLACES; place++)
        w->done[place][channel]++;
}

static void come_or_go(struct world *w, uint32_t channel)
{
    w->is_tool[channel] = !w->is_tool[channel];
    w->is_giving[channel] |= !w->is_tool[channel] && w->tool[channel].count > 0;
    turn(w);
}

/* Gives a record back, even when another tool has come meanwhile. */
static void give_back(struct world *w, uint32_t channel)
{
    struct back *back;

    if (!w->is_giving[channel] || w->backs == BACKS_MAX)
        return;
    back = calloc(1, sizeof(*back));
    assert_non_null(back);
    back->number = get(&w->tool[channel]);
    w->backs++;
    job_route_back_add(w->route, &back->at, channel);
    show_backs(w);
    w->is_giving[channel] = w->tool[channel].count > 0;
    if (!w->is_giving[channel])
        turn(w);
}

static void (*const events[])(struct world *w, uint32_t channel) = {
    arrive,    arrive,    write_one, write_one, write_one, write_one,
    write_one, write_one, take_one,  take_one,  take_one,  come_or_go,
    give_back, give_back, give_back, read_one,
};

/* Checks that nothing waits without a reason. */
static void check_awake(const struct world *w)
{
    for (uint32_t cookie = 0; cookie < COOKIES; cookie++) {
        uint32_t channel = w->at_cookie[cookie] / RECORDS_MAX;

        assert_false(w->is_used[cookie] && !w->is_giving[channel] &&
                     job_route_state(w->route, channel) == JOB_ROUTE_CLEAR);
    }
}

/* The tools leave and do not come back; everything is written. */
static void finish(struct world *w)
{
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        if (w->is_tool[channel])
            come_or_go(w, channel);
    }
    for (unsigned i = 0; i < 40 * RECORDS_MAX; i++) {
        for (uint32_t channel = 0; channel < CHANNELS; channel++) {
            give_back(w, channel);
            write_one(w, channel);
            take_one(w, channel);
        }
    }
    assert_int_equal(job_route_waiting(w->route), 0);
    assert_null(job_route_backs(w->route));
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        assert_int_equal(w->counted[channel], w->made[channel]);
        assert_int_equal(job_route_state(w->route, channel), JOB_ROUTE_CLEAR);
        for (unsigned place = 0; place < PLACES; place++)
            assert_int_equal(w->done[place][channel], w->made[channel]);
    }
}

/* A turn is taken only when one is due, so nothing waits for ever. Each record
 * is counted once, in order, and is either written once at each place or read
 * by the tool; each place has its records in order. */
static void takers_that_come_and_go(void **state)
{
    struct chance chance = chance_start(1);
    unsigned moves[JOB_ROUTE_STATES] = {0};

    (void)state;
    for (unsigned n = 0; n < ROUNDS; n++) {
        struct world *w = calloc(1, sizeof(*w));

        assert_non_null(w);
        w->chance = chance_from(chance_next(&chance));
        assert_int_equal(job_route_open(CHANNELS, COOKIES, &w->route), 0);
        for (unsigned step = 0; step < STEPS; step++) {
            events[below(w, sizeof(events) / sizeof(events[0]))](
                w, below(w, CHANNELS));
            check_awake(w);
        }
        finish(w);
        for (unsigned i = 0; i < JOB_ROUTE_STATES; i++)
            moves[i] += w->moves[i];
        job_route_close(w->route);
        free(w);
    }
    /* KEPT ends within the call that has given the record back. */
    for (unsigned i = 0; i < JOB_ROUTE_STATES; i++)
        assert_true(i == JOB_ROUTE_KEPT || moves[i] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_of_the_table),
        cmocka_unit_test(what_waits_goes_first),
        cmocka_unit_test(what_has_come_back_waits_for_what_is_there),
        cmocka_unit_test(takers_that_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
