/* A hose whose feed has a policy for slow targets, and helpers for tests of
 * such feeds. */
#ifndef TESTS_UNIT_SLOW_HOSE_H
#define TESTS_UNIT_SLOW_HOSE_H

#include <stdlib.h>

#include "endpoints/daemon/feed.h"
#include "endpoints/sys/writer.h"
#include "tests/unit/hose.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    WINDOW = 8,
    MIB = 1 << 20,
    FRAME = 32 * 1024,
};

struct slow_hose {
    struct hose *hose;
    struct ep_writer *writer;
    uint64_t pushed;
    uint64_t
        limit_ns; /* the time limit of the whole test, which finds a hang */
};

static inline int open_slow(void **state, struct ep_feed_slow *slow)
{
    struct slow_hose *sh = calloc(1, sizeof(*sh));
    void *hose;

    hose_setup(&hose);
    sh->hose = hose;
    sh->limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);
    assert_int_equal(ep_writer_open(sh->hose->base, &sh->writer), 0);
    slow->writer = sh->writer;
    assert_int_equal(ep_feed_slow(sh->hose->feed, slow), 0);
    *state = sh;
    return 0;
}

static inline void add_two(struct slow_hose *sh)
{
    assert_int_equal(hose_add(sh->hose, 0), 0);
    assert_int_equal(hose_add(sh->hose, 1), 0);
}

static inline int slow_teardown(void **state)
{
    struct slow_hose *sh = *state;
    void *hose = sh->hose;

    ep_feed_close(sh->hose->feed);
    sh->hose->feed = NULL;
    ep_writer_close(sh->writer, true);
    assert_int_equal(spill_file_bytes(), -1);
    hose_teardown(&hose);
    free(sh);
    return 0;
}

/* Turns the loop once, pushes a frame if the window has room, and lets the
 * named targets read everything that is available. */
static inline void turn(struct slow_hose *sh, uint32_t len,
                        const uint32_t *readers, unsigned count)
{
    if (len > 0 && sh->pushed - sh->hose->consumed < WINDOW) {
        assert_int_equal(hose_push(sh->hose, len), 0);
        sh->pushed++;
    }
    event_base_loop(sh->hose->base, EVLOOP_NONBLOCK);
    assert_true(rig_now_ns() < sh->limit_ns);
    for (unsigned i = 0; i < count; i++)
        hose_drink(sh->hose, readers[i], SIZE_MAX);
}

/* Pushes up to this many bytes of the stream, while target 0 reads and target 1
 * does not. */
static inline void flow(struct slow_hose *sh, uint64_t until_bytes)
{
    static const uint32_t zero[] = {0};
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);

    while (sh->hose->readers[0].seen_bytes < until_bytes) {
        turn(sh, sh->hose->stream_bytes < until_bytes ? FRAME : 0, zero, 1);
        assert_true(rig_now_ns() < limit_ns);
    }
}

/* Lets target 1 read everything that is available. */
static inline void catch_up(struct slow_hose *sh)
{
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);

    while (sh->hose->readers[1].seen_bytes < sh->hose->stream_bytes) {
        turn(sh, 0, (const uint32_t[]){0, 1}, 2);
        assert_true(rig_now_ns() < limit_ns);
    }
}

static inline void check_end(struct slow_hose *sh, uint32_t proc)
{
    ep_feed_end(sh->hose->feed);
    while (!sh->hose->readers[proc].at_end)
        turn(sh, 0, &proc, 1);
    assert_int_equal(sh->hose->readers[proc].seen_bytes,
                     sh->hose->stream_bytes);
}

#endif
