/* Output that waits for a slow tool comes in order; dropped bytes are reported,
 * and ends of channels come in any case. */
#include "config.h"

#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/backlog.h"
#include "tests/unit/chance.h"

enum { BASE = 5, PROCS = 4, CHANNELS = 3, LIMIT = 1 << 20, STEPS = 20000 };

static struct {
    struct event_base *base;
    struct ep_writer *writer;
    struct px_backlog *backlog;
    uint64_t given[PROCS][CHANNELS], got[PROCS][CHANNELS];
    bool has_ended[PROCS][CHANNELS], is_told[PROCS][CHANNELS];
    uint64_t waiting_bytes, dropped_bytes;
} lab;

static void on_change(void *arg)
{
    (void)arg;
}

static void begin_with(uint64_t limit_bytes, bool drops_oldest)
{
    const struct px_backlog_cfg cfg = {.base = BASE,
                                       .procs = PROCS,
                                       .limit_bytes = limit_bytes,
                                       .drops_oldest = drops_oldest,
                                       .on_change = on_change};
    struct px_backlog_cfg its = cfg;

    memset(&lab, 0, sizeof(lab));
    lab.base = event_base_new();
    assert_int_equal(ep_writer_open(lab.base, &lab.writer), 0);
    its.writer = lab.writer;
    assert_int_equal(px_backlog_open(&its, &lab.backlog), 0);
}

static void begin(bool drops_oldest)
{
    begin_with(LIMIT, drops_oldest);
}

static void end(void)
{
    px_backlog_close(lab.backlog);
    ep_writer_close(lab.writer, true);
    event_base_free(lab.base);
}

static uint8_t byte_at(uint32_t proc, uint32_t channel, uint64_t at)
{
    return (uint8_t)(at * 7 + at / 251 + proc * 31 + channel * 101);
}

static void put(uint32_t proc, uint32_t channel, uint32_t len, bool is_end)
{
    static uint8_t mem[JOB_DOOR_REST_MAX];
    uint64_t *at = &lab.given[proc][channel];
    struct job_door msg = {.kind = JOB_DOOR_OUTPUT,
                           .first = BASE + proc,
                           .channel = (uint8_t)(1 + channel),
                           .is_end = is_end,
                           .rest = ov_rd_init(mem, len)};

    for (uint32_t i = 0; i < len; i++)
        mem[i] = byte_at(proc, channel, (*at)++);
    lab.has_ended[proc][channel] = is_end;
    while (px_backlog_put(lab.backlog, &msg) == OV_EAGAIN)
        event_base_loop(lab.base, EVLOOP_ONCE);
}

/* Gets the next output; false: there is none. */
static bool get(void)
{
    struct job_door msg;
    uint32_t proc, channel;
    int rc = px_backlog_get(lab.backlog, &msg);

    while (rc == OV_EAGAIN) {
        event_base_loop(lab.base, EVLOOP_ONCE);
        rc = px_backlog_get(lab.backlog, &msg);
    }
    if (rc == OV_ENOENT)
        return false;
    assert_int_equal(rc, 0);
    proc = msg.first - BASE;
    channel = msg.channel - 1u;
    assert_false(lab.is_told[proc][channel]);
    lab.got[proc][channel] += msg.dropped_bytes;
    lab.dropped_bytes += msg.dropped_bytes;
    while (ov_rd_left(&msg.rest) > 0)
        assert_int_equal(ov_rd_u8(&msg.rest),
                         byte_at(proc, channel, lab.got[proc][channel]++));
    lab.is_told[proc][channel] = msg.is_end;
    px_backlog_drop(lab.backlog);
    return true;
}

static void get_all(void)
{
    while (get())
        continue;
    assert_true(px_backlog_is_empty(lab.backlog));
    assert_int_equal(px_backlog_bytes(lab.backlog), 0);
}

/* Up to its bound the backlog accepts everything. */
static void in_order(void **state)
{
    (void)state;
    begin(false);
    for (unsigned i = 0; i < 100; i++)
        put(i % PROCS, i % CHANNELS, 10000, false);
    get_all();
    assert_memory_equal(lab.given, lab.got, sizeof(lab.given));
    assert_int_equal(lab.dropped_bytes, 0);
    end();
}

/* Beyond the bound new output is dropped. */
static void newest(void **state)
{
    (void)state;
    begin(false);
    for (unsigned i = 0; i < 200; i++)
        put(0, 0, 10000, false);
    put(1, 1, 5000, true);
    put(0, 0, 10000, true);
    assert_true(get());
    assert_int_equal(lab.got[0][0], 10000);
    get_all();
    assert_memory_equal(lab.given, lab.got, sizeof(lab.given));
    assert_memory_equal(lab.has_ended, lab.is_told, sizeof(lab.has_ended));
    assert_int_equal(lab.dropped_bytes, (201 - LIMIT / 10000) * 10000);
    end();
}

/* Beyond the bound the output that has waited longest is dropped. */
static void oldest(void **state)
{
    (void)state;
    begin(true);
    put(1, 1, 5000, true);
    for (unsigned i = 0; i < 200; i++)
        put(0, 0, 10000, false);
    assert_true(get());
    assert_true(lab.got[0][0] > 900000);
    get_all();
    assert_memory_equal(lab.given, lab.got, sizeof(lab.given));
    assert_memory_equal(lab.has_ended, lab.is_told, sizeof(lab.has_ended));
    end();
}

static void play(struct chance *chance, bool drops_oldest)
{
    begin(drops_oldest);
    for (unsigned step = 0; step < STEPS; step++) {
        uint32_t proc = chance_in(chance, 0, PROCS - 1);
        uint32_t channel = chance_in(chance, 0, CHANNELS - 1);
        const bool is_big = chance_is(chance, 10);

        if (!lab.has_ended[proc][channel])
            put(proc, channel,
                chance_in(chance, 0, is_big ? JOB_DOOR_REST_MAX : 100),
                chance_in(chance, 0, 4000) == 0);
        for (uint32_t i = chance_in(chance, 0, 3);
             i > 0 && chance_is(chance, 30); i--)
            (void)get();
    }
    get_all();
    for (uint32_t i = 0; i < PROCS * CHANNELS; i++) {
        if (!lab.has_ended[i / CHANNELS][i % CHANNELS])
            put(i / CHANNELS, i % CHANNELS, 0, true);
    }
    get_all();
    assert_memory_equal(lab.given, lab.got, sizeof(lab.given));
    assert_memory_equal(lab.has_ended, lab.is_told, sizeof(lab.has_ended));
    assert_true(lab.dropped_bytes > 0);
    end();
}

/* However output comes and goes, each byte has come or was reported as dropped,
 * at its place, and each end has come, last. */
static void at_random(void **state)
{
    struct chance chance = chance_start(11);

    (void)state;
    play(&chance, false);
    play(&chance, true);
}

static bool is_idle(const void *arg)
{
    return ep_writer_is_idle(arg);
}

/* The file loses everything: the output that comes and the bytes reported as
 * missing are the whole output. */
static void what_cannot_be_read_is_told(void **state)
{
    uint64_t given = 0, got = 0, dropped = 0;
    struct job_door msg;
    int rc;

    (void)state;
    begin_with(8 * LIMIT, false);
    for (unsigned i = 0; i < 200; i++, given += 30000)
        put(i % PROCS, i % CHANNELS, 30000, false);
    rig_run_until_true(lab.base, is_idle, lab.writer);
    spill_file_cut();
    while ((rc = px_backlog_get(lab.backlog, &msg)) != OV_ENOENT) {
        if (rc == OV_EAGAIN) {
            event_base_loop(lab.base, EVLOOP_ONCE);
            continue;
        }
        dropped += msg.dropped_bytes;
        got += ov_rd_left(&msg.rest);
        px_backlog_drop(lab.backlog);
    }
    assert_in_range(got, 1, given - 8 * 260 * 1024);
    assert_int_equal(got + dropped, given);
    assert_int_equal(px_backlog_bytes(lab.backlog), 0);
    assert_true(px_backlog_is_idle(lab.backlog));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),
        cmocka_unit_test(newest),
        cmocka_unit_test(oldest),
        cmocka_unit_test(at_random),
        cmocka_unit_test(what_cannot_be_read_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
