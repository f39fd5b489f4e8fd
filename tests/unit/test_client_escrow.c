/* Clients that redirect output, and leave at any moment: they and the console
 * together receive every word, and both receive a word only when the client did
 * not acknowledge it.
 *
 * Records are made of words that tell their channel and position. The route
 * decides where each record goes, the console writes at random, and clients
 * connect, read, acknowledge and leave at random.
 */
#include "config.h"

#include "endpoints/client/escrow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/spool.h"
#include "endpoints/sys/writer.h"
#include "job/door.h"
#include "overlay/base/err.h"
#include "tests/unit/escrow_lab.h"
#include "tests/unit/spill_file.h"

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
    uint32_t some = 1 + lab_random(3);

    client->first = lab_random(PROCS);
    client->last = client->first + lab_random(PROCS - client->first);
    client->channels = (uint8_t)(some << 1);
    client->reads = lab_random(4) > 0;
    cfg = (struct ep_escrow_cfg){.channels = client->channels,
                                 .size = PROCS,
                                 .limit_bytes = lab->limit_bytes,
                                 .on_ready = on_ready,
                                 .arg = client};
    if (client->first > 0 || client->last < PROCS - 1) {
        cfg.ranges.items = malloc(sizeof(*cfg.ranges.items));
        assert_non_null(cfg.ranges.items);
        cfg.ranges.items[0] = (struct topo_range){client->first, client->last};
        cfg.ranges.count = cfg.ranges.max = 1;
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

/* Sends what the client's socket takes. */
static void send_some(struct client *client)
{
    for (uint32_t n = lab_random(20); n > 0; n--) {
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
    uint64_t count = most > 0 ? lab_random((uint32_t)most + 1) : 0;

    for (; count > 0; count--, client->read++)
        lab_mark(client->words[client->read], client->words_count[client->read],
                 READ);
}

static void acknowledge(struct client *client)
{
    uint64_t most = client->read - client->acknowledged;
    uint64_t count = most > 0 ? 1 + lab_random((uint32_t)most) : 0;

    for (; count > 0; count--, client->acknowledged++)
        lab_mark(client->words[client->acknowledged],
                 client->words_count[client->acknowledged], HAD);
    assert_true(ep_escrow_taken(client->escrow, client->acknowledged));
}

static void leave(struct client *client)
{
    assert_false(ep_escrow_taken(client->escrow, client->sent + 1));
    if (client->read == client->acknowledged)
        ep_escrow_settle(client->escrow);
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
    uint32_t what = lab_random(100);

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

/* --- random runs */

static void check_all(uint32_t clients)
{
    uint64_t twice_bytes = 0;

    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        for (uint32_t place = 0; place < lab->made[channel]; place++) {
            uint8_t state = lab->state[channel][place];

            if (state == 0)
                fail_msg("word %u of channel %u is nowhere", place, channel);
            if (lab->is_ordered && (state & HAD) != 0 && (state & SHOWN) != 0)
                fail_msg("word %u of channel %u was acknowledged and is shown",
                         place, channel);
            if ((state & READ) != 0 && (state & SHOWN) != 0)
                twice_bytes += WORD_BYTES;
        }
    }
    /* With several clients, one may have read what another one gives back. */
    if (clients == 1)
        assert_in_range(twice_bytes, 0, lab->twice_bytes);
}

struct played {
    unsigned ends, behind;
};

static struct played play(uint64_t limit_bytes, bool is_ordered, uint64_t seed)
{
    const uint32_t clients = 1 + (uint32_t)(seed % CLIENTS);
    struct played played;

    lab_open(limit_bytes, seed, is_ordered ? (unsigned)(seed % 3) : 0);
    lab->is_ordered = is_ordered;
    /* With many large records the file is used, which slows other tests down.
     */
    lab->one_large_of = !is_ordered ? 2 : seed % 6 == 0 ? 4 : 64;
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t what = lab_random(100);

        if (what < 30)
            lab_make();
        else if (what < 60)
            lab_write();
        else
            move(&lab->clients[lab_random(clients)]);
        if (lab_random(3) == 0)
            lab_turn();
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (lab->clients[i].escrow != NULL)
            leave(&lab->clients[i]);
    }
    rig_run_until_true(lab->base, lab_is_quiet, NULL);
    check_all(clients);
    assert_int_equal(lab->lost_bytes, 0);
    played = (struct played){.ends = lab->ends, .behind = lab->behind};
    lab_close();
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
    for (unsigned i = 0; i < 6; i++)
        behind += play(EP_SPOOL_BLOCK_BYTES, false, seed + i).behind;
    print_message("%u times one has fallen behind\n", behind);
    assert_true(behind >= 6);
}

/* No file can be written, so only memory is available. */
static void a_full_disk_loses_nothing(void **state)
{
    uint64_t seed = first_seed();
    struct rlimit limit;
    unsigned behind = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    spill_file_limit(0);
    /* in several seeds in a row it may happen that no client reaches its limit
     */
    for (unsigned i = 0; i < 10 || (behind == 0 && i < 1000); i++)
        behind += play((uint64_t)256 << 20, false, seed + i).behind;
    spill_file_limit(limit.rlim_cur);
    assert_true(behind > 0);
}

/* --- one client, step by step */

static struct ep_escrow *open_some(uint64_t limit_bytes, bool is_copy)
{
    const struct ep_escrow_cfg cfg = {.channels = 6,
                                      .size = PROCS,
                                      .limit_bytes = limit_bytes,
                                      .is_copy = is_copy,
                                      .on_ready = on_ready};
    struct ep_escrow *escrow;

    if (lab == NULL)
        lab_open(limit_bytes, 1, 0);
    assert_int_equal(ep_escrow_open(lab->escrows, &cfg, &escrow), 0);
    return escrow;
}

static struct ep_escrow *open_one(uint64_t limit_bytes)
{
    struct ep_escrow *escrow = open_some(limit_bytes, false);

    ep_escrow_begin(escrow);
    return escrow;
}

static uint8_t piece[JOB_DOOR_REST_MAX];

/* Puts in a message. The bytes are no valid message, so they belong to no
 * process when they are given back. */
static int put_one(struct ep_escrow *escrow, enum ep_escrow_what what,
                   uint8_t number)
{
    static const uint8_t head = 0;

    if (what == EP_ESCROW_FIRST)
        ep_escrows_record(lab->escrows);
    piece[0] = number;
    return ep_escrow_put(escrow, what, &head, 1, piece, sizeof(piece));
}

/* Fills the store until it waits for its file, which is handled by the loop, or
 * has reached its limit. Returns the number of messages. */
static uint8_t fill(struct ep_escrow *escrow)
{
    uint8_t count = 0;

    while (ep_escrow_has_room(escrow) &&
           put_one(escrow, EP_ESCROW_FIRST, count) == 0)
        assert_true(++count < 200);
    return count;
}

static struct ep_escrow *asked; /* the store for which has_room() is called */

static bool has_room(const void *arg)
{
    (void)arg;
    return ep_escrow_has_room(asked);
}

/* Checks that all messages are sent in order. */
static void check_sent(struct ep_escrow *escrow, uint8_t first, uint8_t count)
{
    for (uint8_t i = first; i < count; i++) {
        const uint8_t *mem;
        uint32_t len_bytes;

        for (unsigned changes = lab->changes;
             !ep_escrow_next(escrow, &mem, &len_bytes); changes = lab->changes)
            rig_run_until(lab->base, &lab->changes, changes + 1);
        assert_int_equal(len_bytes, 1 + sizeof(piece));
        assert_int_equal(mem[1], i);
        ep_escrow_pass(escrow);
    }
}

static bool is_idle(const void *arg)
{
    (void)arg;
    return ep_writer_is_idle(lab->writer);
}

/* The number of packets in a block. */
enum { BLOCK_PIECES = EP_SPOOL_BLOCK_BYTES / (sizeof(piece) + 13) };

/* Before anything goes to the file, records are held back until the client has
 * taken a block, or has taken nothing for a moment. For clients after the first
 * two, which have no additional memory, records are not held back. */
static void a_moment_is_waited_before_the_file(void **state)
{
    enum { KEPT = 2 + 4, ROOM = KEPT * BLOCK_PIECES + 1 };
    struct ep_escrow *escrow, *others[2];

    (void)state;
    lab_open((uint64_t)256 << 20, 1, KEPT - 2);
    escrow = open_one((uint64_t)256 << 20);
    for (unsigned i = 0; i < 2; i++)
        others[i] = open_one((uint64_t)256 << 20);
    assert_int_equal(fill(escrow), ROOM);
    check_sent(escrow, 0, ROOM);
    assert_true(ep_escrow_taken(escrow, BLOCK_PIECES - 1));
    assert_false(ep_escrow_has_room(escrow));
    assert_true(ep_escrow_taken(escrow, BLOCK_PIECES));
    assert_int_equal(fill(escrow), BLOCK_PIECES);
    asked = escrow;
    rig_run_until_true(lab->base, has_room, NULL);
    assert_int_equal(fill(others[0]), ROOM);
    assert_int_equal(spill_file_bytes(), -1);
    assert_in_range(fill(others[1]), 2 * BLOCK_PIECES + 1, ROOM - 1);
    rig_run_until_true(lab->base, is_idle, NULL);
    assert_true(spill_file_bytes() > 0);
    for (unsigned i = 0; i < 2; i++)
        ep_escrow_leave(others[i]);
    ep_escrow_leave(escrow);
    rig_run_until_true(lab->base, lab_is_quiet, NULL);
    lab_close();
}

static void records_wait_while_the_store_does(void **state)
{
    struct ep_escrow *escrow = open_one((uint64_t)256 << 20);
    uint8_t count = fill(escrow);

    (void)state;
    /* Further parts of a record are always accepted, copies are not. */
    assert_int_equal(put_one(escrow, EP_ESCROW_MORE, count++), 0);
    assert_int_equal(put_one(escrow, EP_ESCROW_COPY, 0), OV_EFULL);
    assert_true(ep_escrow_redirects(escrow));
    asked = escrow;
    rig_run_until_true(lab->base, has_room, NULL);
    assert_int_equal(put_one(escrow, EP_ESCROW_COPY, count++), 0);
    check_sent(escrow, 0, count);
    assert_int_equal(ep_escrows_moved(lab->escrows), 0);
    assert_true(ep_escrow_taken(escrow, count));
    assert_int_equal(ep_escrows_moved(lab->escrows), count);
    assert_true(ep_escrow_is_empty(escrow));
    assert_int_equal(lab->behind, 0);
    ep_escrow_leave(escrow);
    lab_turn();
    lab_close();
}

/* No file can be written. Output that is stored waits for the client, and no
 * record is held back for the client. */
static void nobody_waits_for_one_that_is_behind(void **state)
{
    struct ep_escrow *escrow = open_one((uint64_t)256 << 20);
    struct rlimit limit;
    uint8_t count;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    spill_file_limit(0);
    count = fill(escrow);
    assert_false(ep_escrow_has_room(escrow));
    asked = escrow;
    rig_run_until_true(lab->base, has_room, NULL);
    assert_false(ep_escrow_redirects(escrow));
    lab_turn();
    lab_turn();
    assert_int_equal(lab->behind, 1);
    assert_int_equal(put_one(escrow, EP_ESCROW_COPY, 0), OV_EFULL);
    check_sent(escrow, 0, count - 1);
    assert_true(ep_escrow_taken(escrow, count - 1));
    check_sent(escrow, count - 1, count);
    ep_escrow_leave(escrow);
    rig_run_until_true(lab->base, lab_is_quiet, NULL);
    assert_true(ep_escrows_moved(lab->escrows) >= count);
    lab_close();
    spill_file_limit(limit.rlim_cur);
}

/* The client's count is then behind that of the store. */
static void what_cannot_be_read_is_told(void **state)
{
    struct ep_escrow *escrow = open_one((uint64_t)256 << 20);
    const uint8_t *mem;
    uint32_t len_bytes;
    uint64_t sent = 0;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        (void)fill(escrow);
        asked = escrow;
        rig_run_until_true(lab->base, has_room, NULL);
    }
    rig_run_until_true(lab->base, is_idle, NULL);
    spill_file_cut();
    while (lab->lost_bytes == 0) {
        while (ep_escrow_next(escrow, &mem, &len_bytes)) {
            ep_escrow_pass(escrow);
            sent++;
        }
        lab_turn();
    }
    while (!ep_escrow_is_empty(escrow)) {
        assert_true(ep_escrow_taken(escrow, sent));
        while (ep_escrow_next(escrow, &mem, &len_bytes)) {
            ep_escrow_pass(escrow);
            sent++;
        }
        lab_turn();
    }
    assert_true(lab->lost_bytes > sizeof(piece));
    ep_escrow_leave(escrow);
    lab_turn();
    lab_close();
}

/* Copies that come before the file has room wait in memory, up to their
 * limit. */
static void copies_wait_and_go_without_a_word(void **state)
{
    struct ep_escrow *escrow = open_some((uint64_t)256 << 20, true);
    uint8_t count = 0;

    (void)state;
    while (put_one(escrow, EP_ESCROW_COPY, count) == 0)
        assert_true(++count < 200);
    assert_in_range(count, EP_ESCROW_COPIES_BYTES / sizeof(piece) + 4, 199);
    assert_int_equal(put_one(escrow, EP_ESCROW_COPY, 0), OV_EFULL);
    check_sent(escrow, 0, count);
    assert_true(ep_escrow_is_empty(escrow));
    assert_int_equal(ep_escrows_moved(lab->escrows), count);
    assert_int_equal(put_one(escrow, EP_ESCROW_COPY, 7), 0);
    assert_false(ep_escrow_is_empty(escrow));
    ep_escrow_leave(
        escrow); /* no output is given back, and none is held back */
    assert_false(ep_escrows_return(lab->escrows, 0, 1));
    assert_true(ep_escrows_are_back(lab->escrows));
    assert_int_equal(lab->behind, 0);
    lab_close();
}

static void copies_beyond_the_limit_are_not_taken(void **state)
{
    struct ep_escrow *escrow = open_some(EP_SPOOL_BLOCK_BYTES, true);
    uint8_t count = 0, rounds = 0;

    (void)state;
    while (rounds++ < 50) {
        while (put_one(escrow, EP_ESCROW_COPY, count) == 0)
            assert_true(++count < 200);
        lab_turn();
    }
    check_sent(escrow, 0, count);
    assert_true(ep_escrow_is_empty(escrow));
    assert_int_equal(put_one(escrow, EP_ESCROW_COPY, 0), 0);
    lab_turn();
    assert_int_equal(lab->behind, 0);
    ep_escrow_leave(escrow);
    lab_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_ends_lose_nothing),
        cmocka_unit_test(those_that_fall_behind_lose_nothing),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_moment_is_waited_before_the_file),
        cmocka_unit_test(records_wait_while_the_store_does),
        cmocka_unit_test(nobody_waits_for_one_that_is_behind),
        cmocka_unit_test(what_cannot_be_read_is_told),
        cmocka_unit_test(copies_wait_and_go_without_a_word),
        cmocka_unit_test(copies_beyond_the_limit_are_not_taken),
    };

    /* Files cannot grow any further: this gives an error, and no signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
