/* Ranks are shown one after the other, each as it was written, whatever waits
 * in memory, in a file or in hand. */
#include "config.h"

#include "endpoints/output/turns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>

#include "endpoints/sys/spool.h"
#include "endpoints/sys/writer.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"
#include "text/style.h"

enum {
    RANKS = 7,
    RECORDS_MAX = 4000,
    LEN_MAX = 3000,
    USED_MAX = 8192, /* the most records that the console may have */
    SLOW = 40,       /* the console takes some when it has this many */
    CHANNELS = 1u << TEXT_CHANNEL_STDOUT | 1u << TEXT_CHANNEL_STDERR,
    LARGE = 64 << 20,
};

/* A record on its way: its bytes are overwritten as soon as it is given
 * back. */
struct sent {
    uint8_t mem[LEN_MAX];
    bool is_back;
};

struct fixture {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_turns *turns;
    struct sent *sent; /* owned [RECORDS_MAX] */
    uint32_t sent_count;
    uint64_t put_bytes[RANKS][TEXT_CHANNELS];
    uint64_t got_bytes[RANKS][TEXT_CHANNELS];
    uint32_t ends[RANKS];
    uint32_t last_rank;
    uint64_t used[USED_MAX]; /* cookies of records that the console has */
    uint32_t used_count;
    uint32_t passed, notes, errors, overs;
    char note[400];
    uint64_t seed;
    bool has_turn[RANKS];
    bool may_mix; /* ranks need not come in their order */
};

/* Returns byte `at` of a channel. */
static uint8_t byte_of(uint32_t rank, uint8_t channel, uint64_t at)
{
    return (uint8_t)(rank * 31 + channel * 7 + at + (at >> 8) * 3);
}

static int on_record(void *arg, const struct job_record *rec)
{
    struct fixture *fx = arg;
    uint64_t *got;

    assert_true(fx->used_count < USED_MAX);
    fx->used[fx->used_count++] = rec->cookie;
    if (rec->proc >= RANKS) {
        fx->passed++;
        return 0;
    }
    assert_int_equal(rec->proc, rec->rank);
    assert_string_equal(rec->host, "host");
    assert_true(fx->may_mix || rec->rank >= fx->last_rank);
    fx->last_rank = rec->rank;
    got = &fx->got_bytes[rec->rank][rec->channel];
    for (uint32_t i = 0; i < rec->len_bytes; i++, (*got)++) {
        if (rec->mem[i] != byte_of(rec->rank, rec->channel, *got))
            fail_msg("rank %u: byte %llu", rec->rank, (unsigned long long)*got);
    }
    fx->ends[rec->rank] += rec->is_end;
    return 0;
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct fixture *fx = arg;

    assert_true(cookie < fx->sent_count);
    assert_false(fx->sent[cookie].is_back);
    fx->sent[cookie].is_back = true;
    memset(fx->sent[cookie].mem, 0xee, LEN_MAX);
}

static void on_error(void *arg, int err, const char *why)
{
    struct fixture *fx = arg;

    assert_int_equal(err, EIO);
    fx->errors++;
    snprintf(fx->note, sizeof(fx->note), "%s", why);
}

static void on_note(void *arg, const char *text)
{
    struct fixture *fx = arg;

    fx->notes++;
    snprintf(fx->note, sizeof(fx->note), "%s", text);
}

static void on_over(void *arg)
{
    ((struct fixture *)arg)->overs++;
}

static bool has_turn(const void *arg, uint32_t rank)
{
    return ((const struct fixture *)arg)->has_turn[rank];
}

static const struct ep_turns_events events = {
    .on_record = on_record,
    .on_taken = on_taken,
    .on_error = on_error,
    .on_note = on_note,
    .on_over = on_over,
};

static void begin(struct fixture *fx, uint32_t mem_bytes, uint64_t limit_bytes)
{
    const struct ep_turns_cfg cfg = {
        .base = fx->base,
        .shelf = {.writer = fx->writer,
                  .ranks = RANKS,
                  .mem_bytes = mem_bytes,
                  .limit_bytes = limit_bytes,
                  .dir = getenv("TMPDIR")},
        .channels = CHANNELS,
        .has_turn = has_turn,
        .turn_arg = fx,
        .events = &events,
        .arg = fx,
    };
    struct fixture old = *fx;

    *fx = (struct fixture){.base = old.base,
                           .writer = old.writer,
                           .sent = old.sent,
                           .seed = old.seed};
    memset(fx->has_turn, true, sizeof(fx->has_turn));
    ep_turns_close(old.turns);
    assert_int_equal(ep_turns_open(&cfg, &fx->turns), 0);
}

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    fx->sent = calloc(RECORDS_MAX, sizeof(*fx->sent));
    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->writer), 0);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    ep_turns_close(fx->turns);
    ep_turns_close(NULL);
    ep_writer_close(fx->writer, true);
    event_base_free(fx->base);
    free(fx->sent);
    free(fx);
    return 0;
}

static void put(struct fixture *fx, uint32_t rank, uint8_t channel,
                uint32_t len_bytes, bool is_end)
{
    struct sent *sent = &fx->sent[fx->sent_count];
    struct job_record rec = {
        .cookie = fx->sent_count,
        .mem = len_bytes > 0 ? sent->mem : NULL,
        .len_bytes = len_bytes,
        .proc = rank,
        .rank = rank,
        .channel = channel,
        .is_end = is_end,
        .host = "host",
    };

    assert_true(fx->sent_count < RECORDS_MAX);
    sent->is_back = false;
    for (uint32_t i = 0; i < len_bytes; i++)
        sent->mem[i] = byte_of(rank, channel, fx->put_bytes[rank][channel]++);
    fx->sent_count++;
    assert_int_equal(ep_turns_record(fx->turns, &rec), 0);
}

static void end_rank(struct fixture *fx, uint32_t rank)
{
    put(fx, rank, TEXT_CHANNEL_STDOUT, 0, true);
    put(fx, rank, TEXT_CHANNEL_STDERR, 0, true);
}

/* The console takes what it has, and the loop runs as long as that has an
 * effect. */
static void settle(struct fixture *fx)
{
    do {
        while (fx->used_count > 0) {
            uint64_t cookie = fx->used[0];

            memmove(fx->used, fx->used + 1,
                    --fx->used_count * sizeof(fx->used[0]));
            ep_turns_taken(fx->turns, cookie);
        }
        event_base_loop(fx->base, EVLOOP_NONBLOCK);
    } while (fx->used_count > 0);
}

static void settle_until_over(struct fixture *fx)
{
    ep_turns_finish(fx->turns);
    ep_turns_finish(fx->turns);
    assert_true(ep_turns_pending(fx->turns) > 0);
    settle(fx);
    while (fx->overs == 0) {
        event_base_loop(fx->base, EVLOOP_ONCE);
        settle(fx);
    }
    assert_int_equal(fx->overs, 1);
    assert_int_equal(ep_turns_pending(fx->turns), 0);
    for (uint32_t i = 0; i < fx->sent_count; i++)
        assert_true(fx->sent[i].is_back);
}

static void check_all_came(const struct fixture *fx)
{
    assert_memory_equal(fx->put_bytes, fx->got_bytes, sizeof(fx->put_bytes));
    assert_int_equal(ep_turns_dropped(fx->turns), 0);
    assert_int_equal(fx->errors, 0);
}

static void rank_0_is_live_and_others_wait(void **state)
{
    struct fixture *fx = *state;

    begin(fx, 0, LARGE);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 10, false);
    put(fx, 0, TEXT_CHANNEL_STDOUT, 5, false);
    settle(fx);
    assert_int_equal(fx->got_bytes[0][TEXT_CHANNEL_STDOUT], 5);
    assert_int_equal(fx->got_bytes[1][TEXT_CHANNEL_STDOUT], 0);
    assert_true(fx->sent[0].is_back); /* the record is given back, so its window
                                       * is open again */
    assert_int_equal(ep_turns_pending(fx->turns), 0);
    put(fx, 0, TEXT_CHANNEL_STDERR, 7, true);
    settle(fx);
    assert_int_equal(fx->got_bytes[1][TEXT_CHANNEL_STDOUT], 0);
    put(fx, 0, TEXT_CHANNEL_STDOUT, 0, true);
    settle(fx);
    assert_int_equal(fx->got_bytes[1][TEXT_CHANNEL_STDOUT], 10);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 3, false);
    assert_int_equal(fx->got_bytes[1][TEXT_CHANNEL_STDOUT], 13);
    settle_until_over(fx);
    check_all_came(fx);
}

/* Output that comes while a rank's earlier output is being written waits in
 * hand. */
static void what_has_waited_comes_first(void **state)
{
    struct fixture *fx = *state;

    begin(fx, 0, LARGE);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 100, false);
    put(fx, 1, TEXT_CHANNEL_STDERR, 100, false);
    end_rank(fx, 0);
    settle(fx);
    put(fx, 2, TEXT_CHANNEL_STDOUT, 9, false);
    put(fx, 1, TEXT_CHANNEL_STDERR, 20, true);
    settle(fx);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 20, true);
    settle(fx);
    assert_int_equal(fx->got_bytes[2][TEXT_CHANNEL_STDOUT], 9);
    settle_until_over(fx);
    check_all_came(fx);
}

static void ranks_without_output_have_no_turn(void **state)
{
    struct fixture *fx = *state;

    begin(fx, 0, LARGE);
    fx->has_turn[0] = fx->has_turn[2] = false;
    put(fx, 3, TEXT_CHANNEL_STDOUT, 10, false);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 10, false);
    settle(fx);
    assert_int_equal(fx->got_bytes[1][TEXT_CHANNEL_STDOUT], 10);
    end_rank(fx, 1);
    settle(fx);
    assert_int_equal(fx->got_bytes[3][TEXT_CHANNEL_STDOUT], 10);
}

/* Random ranks write, with a console that is slower than they are now and
 * then. */
static void play(struct fixture *fx, uint32_t records, uint32_t len_max)
{
    bool has_ended[RANKS][TEXT_CHANNELS] = {{false}};

    for (uint32_t n = 0; n < records; n++) {
        uint32_t rank = (uint32_t)(rig_random(&fx->seed) % RANKS);
        uint8_t channel = (uint8_t)(1 + rig_random(&fx->seed) % 2);
        bool is_end = rig_random(&fx->seed) % (records / RANKS) == 0;

        if (has_ended[rank][channel])
            continue;
        has_ended[rank][channel] = is_end;
        put(fx, rank, channel, (uint32_t)(rig_random(&fx->seed) % len_max),
            is_end);
        if (rig_random(&fx->seed) % 4 == 0 || fx->used_count > SLOW)
            settle(fx);
    }
}

static void nothing_is_lost_and_all_is_in_order(void **state)
{
    struct fixture *fx = *state;
    static const uint32_t memory[] = {1, 4096, 100000, 0};

    for (uint64_t seed = 1; seed <= 40; seed++) {
        fx->seed = seed;
        begin(fx, memory[seed % 4], LARGE);
        play(fx, 600, seed % 3 == 0 ? LEN_MAX : 60);
        settle_until_over(fx);
        check_all_came(fx);
        if (fx->notes > 0)
            fail_msg("seed %llu: %s", (unsigned long long)seed, fx->note);
    }
}

/* Without room for waiting output everything goes on, which is reported
 * once. */
static void a_full_shelf_gives_up_the_order(void **state)
{
    struct fixture *fx = *state;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        fx->seed = seed;
        begin(fx, 20000, seed % 2 == 0 ? 0 : EP_SPOOL_BLOCK_BYTES);
        fx->may_mix = true;
        for (uint32_t n = 0; n < 600; n++) {
            put(fx, 1 + n % (RANKS - 1), TEXT_CHANNEL_STDOUT, LEN_MAX, false);
            event_base_loop(fx->base, EVLOOP_NONBLOCK);
            settle(fx);
        }
        put(fx, 0, TEXT_CHANNEL_STDOUT, 30, false);
        settle_until_over(fx);
        check_all_came(fx);
        assert_int_equal(fx->notes, 1);
        assert_non_null(strstr(fx->note, "rank 0 has not ended, and "));
    }
}

static void what_has_no_rank_goes_on_at_once(void **state)
{
    struct fixture *fx = *state;
    struct job_record rec = {
        .proc = 1000, .rank = TEXT_CONSOLE_TOOL, .host = "host"};

    begin(fx, 0, LARGE);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 10, false);
    fx->sent[1].is_back = fx->sent[2].is_back = false;
    fx->sent_count = 3;
    rec.cookie = 1;
    assert_int_equal(ep_turns_record(fx->turns, &rec), 0);
    rec.rank = 3; /* a rank of another job */
    rec.cookie = 2;
    assert_int_equal(ep_turns_pass(fx->turns, &rec), 0);
    assert_int_equal(fx->passed, 2);
    settle(fx);
    assert_true(fx->sent[1].is_back && fx->sent[2].is_back);
}

static void what_is_given_up_is_counted(void **state)
{
    struct fixture *fx = *state;

    begin(fx, 0, LARGE);
    put(fx, 2, TEXT_CHANNEL_STDOUT, 10, false);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 10, false);
    end_rank(fx, 0);
    put(fx, 1, TEXT_CHANNEL_STDOUT, 5, false); /* this record is in hand */
    ep_turns_give_up(fx->turns);
    /* The console has 10 bytes of rank 1. */
    assert_int_equal(ep_turns_dropped(fx->turns), 15);
    put(fx, 3, TEXT_CHANNEL_STDOUT, 5, false);
    fx->may_mix = true;
    settle_until_over(fx);
    assert_int_equal(fx->got_bytes[3][TEXT_CHANNEL_STDOUT], 5);
}

/* True when all full blocks are in the file: a later write would make it long
 * again. A part has one record, and its head of 16 bytes. */
static bool is_saved(const void *arg)
{
    const int64_t part = LEN_MAX + 16, each = EP_SPOOL_BLOCK_BYTES / part;
    const int64_t blocks =
        (((const struct fixture *)arg)->sent_count - 1) / each;

    return spill_file_bytes() ==
           (blocks - 1) * EP_SPOOL_BLOCK_BYTES + each * part;
}

/* When the file loses something, all waiting output is lost, which is
 * reported. */
static void a_file_that_cannot_be_read_is_told(void **state)
{
    struct fixture *fx = *state;

    begin(fx, 4096, LARGE);
    for (uint32_t n = 0; n < 1000; n++) {
        put(fx, 1, TEXT_CHANNEL_STDOUT, LEN_MAX, false);
        settle(fx);
    }
    rig_run_until_true(fx->base, is_saved, fx);
    spill_file_cut();
    fx->may_mix = true;
    end_rank(fx, 0);
    settle(fx);
    while (fx->errors == 0) {
        event_base_loop(fx->base, EVLOOP_ONCE);
        settle(fx);
    }
    assert_non_null(strstr(fx->note, "cannot be read (Input/output error)"));
    settle_until_over(fx);
    assert_int_equal(fx->errors, 1);
    assert_int_equal(fx->got_bytes[1][TEXT_CHANNEL_STDOUT] +
                         ep_turns_dropped(fx->turns),
                     fx->put_bytes[1][TEXT_CHANNEL_STDOUT]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_0_is_live_and_others_wait),
        cmocka_unit_test(what_has_waited_comes_first),
        cmocka_unit_test(ranks_without_output_have_no_turn),
        cmocka_unit_test(nothing_is_lost_and_all_is_in_order),
        cmocka_unit_test(a_full_shelf_gives_up_the_order),
        cmocka_unit_test(what_has_no_rank_goes_on_at_once),
        cmocka_unit_test(what_is_given_up_is_counted),
        cmocka_unit_test(a_file_that_cannot_be_read_is_told),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
