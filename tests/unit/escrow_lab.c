/* A launcher with a console, for escrows. */
#include "config.h"

#include "tests/unit/escrow_lab.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/writer.h"
#include "job/door.h"
#include "tests/unit/spill_file.h"

struct lab *lab;

uint32_t lab_random(uint32_t below)
{
    return rig_random(&lab->seed) % below;
}

static uint32_t index_of(const struct job_record *rec)
{
    return rec->proc * OUTPUTS + rec->channel - 1;
}

/* --- words of output */

void lab_mark(const uint8_t *mem, uint32_t len_bytes, uint8_t what)
{
    assert_int_equal(len_bytes % WORD_BYTES, 0);
    for (uint32_t at = 0; at < len_bytes; at += WORD_BYTES) {
        uint64_t word;
        uint32_t channel, place;

        memcpy(&word, mem + at, sizeof(word));
        channel = (uint32_t)(word >> 32);
        place = (uint32_t)word;
        assert_true(channel < CHANNELS && place < lab->made[channel]);
        if (what == SHOWN) {
            if ((lab->state[channel][place] & SHOWN) != 0)
                fail_msg("word %u of channel %u is shown twice", place,
                         channel);
            if (lab->is_ordered && place < lab->shown_up_to[channel])
                fail_msg("word %u of channel %u is shown behind %u", place,
                         channel, lab->shown_up_to[channel]);
            lab->shown_up_to[channel] = place;
        }
        lab->state[channel][place] |= what;
    }
}

static uint8_t *words(uint32_t channel, uint32_t count)
{
    uint8_t *mem = malloc((size_t)count * WORD_BYTES);

    assert_non_null(mem);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = (uint64_t)channel << 32 | lab->made[channel]++;

        memcpy(mem + (size_t)i * WORD_BYTES, &word, sizeof(word));
    }
    return mem;
}

/* --- the launcher */

static void console_add(uint32_t cookie, struct back *back)
{
    struct line *line = malloc(sizeof(*line));

    assert_non_null(line);
    *line = (struct line){.cookie = cookie, .back = back};
    *lab->lines_last = line;
    lab->lines_last = &line->next;
}

static void let_go(uint32_t cookie)
{
    free((void *)(uintptr_t)lab->records[cookie].mem);
    lab->is_used[cookie] = false;
}

static void to_console(uint32_t cookie)
{
    job_route_shown(lab->route, index_of(&lab->records[cookie]), 1);
    console_add(cookie, NULL);
}

static bool wants(const struct client *client, const struct job_record *rec)
{
    return client->escrow != NULL && rec->proc >= client->first &&
           rec->proc <= client->last &&
           (client->channels & 1u << rec->channel) != 0;
}

static bool give(struct client *client, const struct job_record *rec)
{
    enum ep_escrow_what what = EP_ESCROW_FIRST;
    struct job_door msg = {
        .kind = JOB_DOOR_OUTPUT, .first = rec->proc, .channel = rec->channel};

    for (uint32_t at = 0; at < rec->len_bytes;) {
        uint32_t left = rec->len_bytes - at;
        uint32_t len = left < JOB_DOOR_REST_MAX ? left : JOB_DOOR_REST_MAX;
        uint8_t head[JOB_DOOR_HEAD_MAX];
        struct ov_wr wr = ov_wr_init(head, sizeof(head));

        job_door_encode(&wr, &msg);
        if (ep_escrow_put(client->escrow, what, head, (uint32_t)(wr.at - head),
                          rec->mem + at, len) != 0)
            return false;
        what = EP_ESCROW_MORE;
        at += len;
    }
    return true;
}

static bool to_clients(uint32_t cookie)
{
    const struct job_record *rec = &lab->records[cookie];
    bool is_taken = false;

    ep_escrows_record(lab->escrows);
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &lab->clients[i];

        if (wants(client, rec) && ep_escrow_redirects(client->escrow))
            is_taken |= give(client, rec);
    }
    return is_taken;
}

static enum job_route_wish wish_of(const struct job_record *rec)
{
    bool is_redirected = false;

    for (int i = 0; i < CLIENTS; i++) {
        const struct client *client = &lab->clients[i];

        if (wants(client, rec) && !ep_escrow_has_room(client->escrow))
            return JOB_ROUTE_FOR_LATER;
        is_redirected |=
            wants(client, rec) && ep_escrow_redirects(client->escrow);
    }
    if (ep_escrows_return(lab->escrows, rec->proc, rec->channel))
        return JOB_ROUTE_FOR_LATER;
    return is_redirected ? JOB_ROUTE_FOR_TOOL : JOB_ROUTE_FOR_PLACES;
}

static void route(uint32_t cookie)
{
    const struct job_record *rec = &lab->records[cookie];

    switch (job_route_record(lab->route, cookie, index_of(rec), wish_of(rec))) {
    case JOB_ROUTE_WAITS:
        break;
    case JOB_ROUTE_TO_TOOL:
        if (to_clients(cookie)) {
            let_go(cookie);
            break;
        }
        to_console(cookie);
        break;
    case JOB_ROUTE_TO_PLACES:
        to_console(cookie);
        break;
    }
}

static void show_backs(void)
{
    struct job_route_back *at;

    while ((at = job_route_back_due(lab->route)) != NULL) {
        job_route_back_shown(at, 1, true);
        console_add(0, (struct back *)at);
    }
}

static void look_again(void)
{
    struct job_route_turn turn;
    uint32_t cookie;

    lab->is_looking = false;
    show_backs();
    job_route_turn(lab->route, &turn);
    while (job_route_next(lab->route, &turn, &cookie))
        route(cookie);
}

void lab_write(void)
{
    struct line *line = lab->lines;
    const struct job_record *rec;
    struct job_route_back *gone;
    bool is_due;

    if (line == NULL)
        return;
    rec = line->back != NULL ? &line->back->rec : &lab->records[line->cookie];
    lab_mark(rec->mem, rec->len_bytes, SHOWN);
    lab->lines = line->next;
    if (lab->lines == NULL)
        lab->lines_last = &lab->lines;
    if (line->back != NULL && job_route_back_taken(&line->back->at))
        ep_escrows_took_back(lab->escrows);
    assert_int_equal(job_route_written(lab->route, index_of(rec), 0, &is_due),
                     line->back == NULL);
    if (line->back == NULL)
        let_go(line->cookie);
    while ((gone = job_route_back_pop(lab->route, false)) != NULL) {
        free(((struct back *)gone)->mem);
        free(gone);
    }
    free(line);
    lab->is_looking |= is_due;
}

void lab_make(void)
{
    uint32_t cookie = 0, channel = lab_random(CHANNELS), count;

    while (cookie < COOKIES && lab->is_used[cookie])
        cookie++;
    count = lab_random(lab->one_large_of) == 0 ? 1 + lab_random(9000)
                                               : 1 + lab_random(6);
    if (cookie == COOKIES || lab->made[channel] + count > WORDS_MAX)
        return;
    lab->is_used[cookie] = true;
    lab->records[cookie] =
        (struct job_record){.cookie = cookie,
                            .proc = channel / OUTPUTS,
                            .channel = (uint8_t)(1 + channel % OUTPUTS),
                            .mem = words(channel, count),
                            .len_bytes = count * WORD_BYTES};
    route(cookie);
}

/* --- callbacks of the escrows */

static bool on_back(void *arg, const struct job_record *rec)
{
    struct back *back = calloc(1, sizeof(*back));

    (void)arg;
    assert_non_null(back);
    back->rec = *rec;
    back->mem = malloc(rec->len_bytes);
    assert_non_null(back->mem);
    memcpy(back->mem, rec->mem, rec->len_bytes);
    back->rec.mem = back->mem;
    job_route_back_add(lab->route, &back->at, index_of(rec));
    show_backs();
    return true;
}

static void on_change(void *arg)
{
    (void)arg;
    lab->is_looking = true;
    lab->changes++;
}

static void on_behind(void *arg)
{
    (void)arg;
    lab->behind++;
}

static void on_twice(void *arg, uint64_t bytes)
{
    (void)arg;
    lab->twice_bytes += bytes;
}

static void on_lost(void *arg, uint64_t bytes, int err)
{
    (void)arg;
    (void)err;
    lab->lost_bytes += bytes;
}

/* --- opening and closing */

void lab_open(uint64_t limit_bytes, uint64_t seed, unsigned kept_blocks)
{
    const struct ep_escrows_cfg empty = {.base = NULL};
    struct ep_escrows_cfg cfg = empty;

    lab = calloc(1, sizeof(*lab));
    assert_non_null(lab);
    lab->seed = seed;
    lab->limit_bytes = limit_bytes;
    lab->lines_last = &lab->lines;
    for (int i = 0; i < CHANNELS; i++) {
        lab->state[i] = calloc(WORDS_MAX, 1);
        assert_non_null(lab->state[i]);
    }
    lab->base = event_base_new();
    assert_int_equal(ep_writer_open(lab->base, &lab->writer), 0);
    cfg = (struct ep_escrows_cfg){.base = lab->base,
                                  .writer = lab->writer,
                                  .kept_blocks = kept_blocks,
                                  .on_back = on_back,
                                  .on_change = on_change,
                                  .on_behind = on_behind,
                                  .on_lost = on_lost,
                                  .on_twice = on_twice};
    lab->escrows = ep_escrows_open(&cfg);
    assert_non_null(lab->escrows);
    assert_int_equal(job_route_open(CHANNELS, COOKIES, &lab->route), 0);
}

void lab_close(void)
{
    assert_int_equal(ep_escrows_close(lab->escrows), 0);
    job_route_close(lab->route);
    ep_writer_close(lab->writer, true);
    event_base_free(lab->base);
    assert_int_equal(spill_file_bytes(), -1);
    for (int i = 0; i < CHANNELS; i++)
        free(lab->state[i]);
    free(lab);
    lab = NULL;
}

void lab_turn(void)
{
    event_base_loop(lab->base, EVLOOP_NONBLOCK);
    if (lab->is_looking)
        look_again();
}

bool lab_is_quiet(const void *arg)
{
    (void)arg;
    while (lab->lines != NULL)
        lab_write();
    if (lab->is_looking)
        look_again();
    return lab->lines == NULL && !lab->is_looking &&
           job_route_waiting(lab->route) == 0 &&
           ep_escrows_are_back(lab->escrows);
}
