/* Clients that redirect, and go at any moment: they and the console together
 * have every word, and both have only what was not acknowledged.
 *
 * Records are made of words that say their channel and place. The route decides
 * where each goes, the console writes at random, and clients come, read,
 * acknowledge and go at random.
 */
#include "config.h"

#include "endpoints/client/escrow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/console/spool.h"
#include "endpoints/sys/writer.h"
#include "job/door.h"
#include "job/record.h"
#include "job/route.h"
#include "overlay/base/err.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    PROCS = 4,
    OUTPUTS = 2, /* of each process: channels 1 and 2 */
    CHANNELS = PROCS * OUTPUTS,
    WORDS_MAX = 1 << 19, /* of each channel */
    COOKIES = 32,
    CLIENTS = 3,
    WORD_BYTES = 8,
    SHOWN = 1, /* on the console */
    READ = 2,  /* by a client, */
    HAD = 4,   /* and acknowledged */
};

struct back {
    struct job_route_back at; /* first */
    struct job_record rec;
    uint8_t *mem;
};

/* On its way through the console: a record, or one that came back. */
struct line {
    struct line *next;
    uint32_t cookie;
    struct back *back; /* NULL: the record */
};

struct client {
    struct ep_escrow *escrow; /* NULL: it is not there */
    bool reads;
    uint8_t channels;
    uint32_t first, last;
    uint64_t sent, read, acknowledged; /* messages */
    uint8_t **words;                   /* of each message */
    uint32_t *words_count;
    uint64_t words_room;
};

struct lab {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_escrows *escrows;
    struct job_route *route;
    struct job_record records[COOKIES];
    bool is_used[COOKIES];
    struct line *lines, **lines_last;
    struct client clients[CLIENTS];
    uint32_t made[CHANNELS], shown_up_to[CHANNELS];
    uint8_t *state[CHANNELS]; /* [WORDS_MAX] */
    uint64_t limit_bytes;
    bool is_ordered; /* nobody falls behind: the console is in order */
    bool is_looking; /* a turn is due */
    unsigned ends, behind, changes;
    uint64_t lost_bytes;
    uint64_t seed;
};

static struct lab *lab;

static uint32_t at_random(uint32_t below)
{
    return rig_random(&lab->seed) % below;
}

static uint32_t index_of(const struct job_record *rec)
{
    return rec->proc * OUTPUTS + rec->channel - 1;
}

/* --- words */

static void mark(const uint8_t *mem, uint32_t len_bytes, uint8_t what)
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

static void write_line(void)
{
    struct line *line = lab->lines;
    const struct job_record *rec;
    struct job_route_back *gone;
    bool is_due;

    if (line == NULL)
        return;
    rec = line->back != NULL ? &line->back->rec : &lab->records[line->cookie];
    mark(rec->mem, rec->len_bytes, SHOWN);
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

static void make_record(void)
{
    uint32_t cookie = 0, channel = at_random(CHANNELS), count;

    while (cookie < COOKIES && lab->is_used[cookie])
        cookie++;
    count = at_random(4) == 0 ? 1 + at_random(9000) : 1 + at_random(6);
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

/* --- the escrows' words */

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

static void on_lost(void *arg, uint64_t bytes, int err)
{
    (void)arg;
    (void)err;
    lab->lost_bytes += bytes;
}

/* --- clients */

static void on_ready(void *arg)
{
    (void)arg;
    lab->changes++;
}

static void come(struct client *client)
{
    static const struct ep_escrow_cfg none;
    struct ep_escrow_cfg cfg = none;
    uint32_t some = 1 + at_random(3);

    client->first = at_random(PROCS);
    client->last = client->first + at_random(PROCS - client->first);
    client->channels = (uint8_t)(some << 1);
    client->reads = at_random(4) > 0;
    cfg = (struct ep_escrow_cfg){.channels = client->channels,
                                 .size = PROCS,
                                 .limit_bytes = lab->limit_bytes,
                                 .on_ready = on_ready,
                                 .arg = client};
    if (client->first > 0 || client->last < PROCS - 1) {
        cfg.ranges = malloc(sizeof(*cfg.ranges));
        assert_non_null(cfg.ranges);
        cfg.ranges[0] = (struct topo_range){client->first, client->last};
        cfg.ranges_count = 1;
    }
    assert_int_equal(ep_escrow_open(lab->escrows, &cfg, &client->escrow), 0);
    ep_escrow_begin(client->escrow);
}

static void note_sent(struct client *client, const struct job_door *msg)
{
    uint32_t len = (uint32_t)ov_rd_left(&msg->rest);

    if (client->sent == client->words_room) {
        client->words_room = 2 * client->words_room + 64;
        client->words =
            realloc(client->words, client->words_room * sizeof(*client->words));
        client->words_count =
            realloc(client->words_count,
                    client->words_room * sizeof(*client->words_count));
        assert_true(client->words != NULL && client->words_count != NULL);
    }
    client->words[client->sent] = malloc(len + 1);
    assert_non_null(client->words[client->sent]);
    memcpy(client->words[client->sent], msg->rest.at, len);
    client->words_count[client->sent++] = len;
}

/* What its socket takes. */
static void send_some(struct client *client)
{
    for (uint32_t n = at_random(20); n > 0; n--) {
        const uint8_t *mem;
        uint32_t len_bytes;
        struct job_door msg;

        if (!ep_escrow_next(client->escrow, &mem, &len_bytes))
            return;
        assert_int_equal(job_door_decode(ov_rd_init(mem, len_bytes), &msg), 0);
        assert_int_equal(msg.kind, JOB_DOOR_OUTPUT);
        note_sent(client, &msg);
        ep_escrow_pass(client->escrow);
    }
}

static void read_some(struct client *client)
{
    uint64_t most = client->sent - client->read;
    uint64_t count = most > 0 ? at_random((uint32_t)most + 1) : 0;

    for (; count > 0; count--, client->read++)
        mark(client->words[client->read], client->words_count[client->read],
             READ);
}

static void acknowledge(struct client *client)
{
    uint64_t most = client->read - client->acknowledged;
    uint64_t count = most > 0 ? 1 + at_random((uint32_t)most) : 0;

    for (; count > 0; count--, client->acknowledged++)
        mark(client->words[client->acknowledged],
             client->words_count[client->acknowledged], HAD);
    assert_true(ep_escrow_taken(client->escrow, client->acknowledged));
}

static void leave(struct client *client)
{
    assert_false(ep_escrow_taken(client->escrow, client->sent + 1));
    ep_escrow_leave(client->escrow);
    for (uint64_t i = 0; i < client->sent; i++)
        free(client->words[i]);
    free(client->words);
    free(client->words_count);
    *client = (struct client){.escrow = NULL};
    lab->ends++;
}

static void move(struct client *client)
{
    uint32_t what = at_random(100);

    if (client->escrow == NULL && what < 20)
        come(client);
    if (client->escrow == NULL)
        return;
    if (what < 3)
        leave(client);
    else if (what < 40)
        send_some(client);
    else if (what < 70 && client->reads)
        read_some(client);
    else if (client->reads)
        acknowledge(client);
}

/* --- all of it */

static void open_lab(uint64_t limit_bytes, uint64_t seed)
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
                                  .on_back = on_back,
                                  .on_change = on_change,
                                  .on_behind = on_behind,
                                  .on_lost = on_lost};
    lab->escrows = ep_escrows_open(&cfg);
    assert_non_null(lab->escrows);
    assert_int_equal(job_route_open(CHANNELS, COOKIES, &lab->route), 0);
}

static void close_lab(void)
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

static void turn(void)
{
    event_base_loop(lab->base, EVLOOP_NONBLOCK);
    if (lab->is_looking)
        look_again();
}

static bool is_quiet(const void *arg)
{
    (void)arg;
    while (lab->lines != NULL)
        write_line();
    if (lab->is_looking)
        look_again();
    return lab->lines == NULL && !lab->is_looking &&
           job_route_waiting(lab->route) == 0 &&
           ep_escrows_are_back(lab->escrows);
}

static void check_all(void)
{
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        for (uint32_t place = 0; place < lab->made[channel]; place++) {
            uint8_t state = lab->state[channel][place];

            if (state == 0)
                fail_msg("word %u of channel %u is nowhere", place, channel);
            if (lab->is_ordered && (state & HAD) != 0 && (state & SHOWN) != 0)
                fail_msg("word %u of channel %u was acknowledged and is shown",
                         place, channel);
        }
    }
}

struct played {
    unsigned ends, behind;
};

static struct played play(uint64_t limit_bytes, bool is_ordered, uint64_t seed)
{
    struct played played;

    open_lab(limit_bytes, seed);
    lab->is_ordered = is_ordered;
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t what = at_random(100);

        if (what < 30)
            make_record();
        else if (what < 60)
            write_line();
        else
            move(&lab->clients[at_random(CLIENTS)]);
        if (at_random(3) == 0)
            turn();
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (lab->clients[i].escrow != NULL)
            leave(&lab->clients[i]);
    }
    rig_run_until_true(lab->base, is_quiet, NULL);
    check_all();
    assert_int_equal(lab->lost_bytes, 0);
    played = (struct played){.ends = lab->ends, .behind = lab->behind};
    close_lab();
    return played;
}

static uint64_t first_seed(void)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20261128;

    print_message("seed %llu (XYLEM_TEST_SEED chooses another)\n",
                  (unsigned long long)seed);
    return seed;
}

static void a_thousand_ends_lose_nothing(void **state)
{
    uint64_t seed = first_seed();
    unsigned ends = 0;

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        struct played played = play((uint64_t)256 << 20, true, seed + i);

        assert_int_equal(played.behind, 0);
        ends += played.ends;
    }
    print_message("%u clients have gone\n", ends);
    assert_true(ends >= 1000);
}

static void those_that_fall_behind_lose_nothing(void **state)
{
    uint64_t seed = first_seed();
    unsigned behind = 0;

    (void)state;
    for (unsigned i = 0; i < 20; i++)
        behind += play(EP_SPOOL_BLOCK_BYTES, false, seed + i).behind;
    print_message("%u times one has fallen behind\n", behind);
    assert_true(behind >= 20);
}

/* No file can be written: memory is all there is. */
static void a_full_disk_loses_nothing(void **state)
{
    uint64_t seed = first_seed();
    struct rlimit limit;
    unsigned behind = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    spill_file_limit(0);
    for (unsigned i = 0; i < 10; i++)
        behind += play((uint64_t)256 << 20, false, seed + i).behind;
    spill_file_limit(limit.rlim_cur);
    assert_true(behind > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_ends_lose_nothing),
        cmocka_unit_test(those_that_fall_behind_lose_nothing),
        cmocka_unit_test(a_full_disk_loses_nothing),
    };

    /* Files that can be no larger: an error, and no signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
