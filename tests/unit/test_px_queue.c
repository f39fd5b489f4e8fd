/* What waits for a pull, where its file takes little or nothing. */
#include "pmix_api/helper/queue.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum {
    FIRST = 5, /* number of the first process */
    PROCS = 3,
    CHANNELS = 3,
    CELLS = PROCS * CHANNELS,
    NEAR_BYTES = 20000,
    FILE_BYTES = 50000, /* as far as it grows */
    PIECE_MAX = 3000,
    PUTS = 5000,
};

/* A channel: what went in and came out. Its bytes count upwards. */
struct cell {
    uint32_t put_bytes, got_bytes, dropped_bytes;
    bool is_closed, has_ended;
};

struct rig {
    struct px_queue queue;
    struct cell cells[CELLS];
    struct chance chance;
    bool redirects; /* what is put */
};

static void open_rig(struct rig *rig, uint64_t seed, struct px_queue_cfg cfg)
{
    memset(rig, 0, sizeof(*rig));
    rig->chance = chance_start(seed);
    cfg.first = FIRST;
    cfg.procs = PROCS;
    cfg.near_bytes = NEAR_BYTES;
    assert_int_equal(px_queue_open(&rig->queue, &cfg), 0);
}

static void put(struct rig *rig, unsigned nth, uint32_t len, bool is_end)
{
    struct cell *cell = &rig->cells[nth];
    uint8_t mem[PIECE_MAX];
    struct px_output o = {.rank = FIRST + nth / CHANNELS,
                          .channel = (uint8_t)(1 + nth % CHANNELS),
                          .is_end = is_end,
                          .is_redirected = rig->redirects,
                          .len_bytes = len,
                          .mem = mem};

    assert_false(cell->is_closed);
    for (uint32_t i = 0; i < len; i++)
        mem[i] = (uint8_t)((cell->put_bytes + i) % 251);
    cell->put_bytes += len;
    cell->is_closed = is_end;
    px_queue_put(&rig->queue, &o);
}

/* False when there is nothing, or all is held. What was dropped is told before
 * what follows, unless that is put together with what came before. */
static bool get_some(struct rig *rig, bool all)
{
    static uint8_t mem[PX_QUEUE_PACKET_MAX];
    struct px_output o;
    struct cell *cell;
    uint32_t at;

    if (!px_queue_get(&rig->queue, 1, all, mem, &o))
        return false;
    cell = &rig->cells[(o.rank - FIRST) * CHANNELS + o.channel - 1];
    assert_false(cell->has_ended);
    cell->dropped_bytes += (uint32_t)o.dropped_bytes;
    cell->has_ended = o.is_end;
    at = cell->got_bytes + cell->dropped_bytes;
    if (rig->queue.cfg.buffer_bytes == 0) {
        for (uint32_t i = 0; i < o.len_bytes; i++)
            assert_int_equal(o.mem[i], (at + i) % 251);
    }
    cell->got_bytes += o.len_bytes;
    return true;
}

static bool get(struct rig *rig)
{
    return get_some(rig, true);
}

static uint32_t dropped(const struct rig *rig)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < CELLS; i++)
        sum += rig->cells[i].dropped_bytes;
    return sum;
}

/* Every channel has its end, once, and each of its bytes came or was counted.
 */
static void end_rig(struct rig *rig)
{
    for (unsigned i = 0; i < CELLS; i++) {
        if (!rig->cells[i].is_closed)
            put(rig, i, chance_in(&rig->chance, 0, 2), true);
    }
    while (get(rig))
        ;
    assert_true(px_queue_is_idle(&rig->queue));
    assert_false(px_queue_is_tight(&rig->queue));
    assert_int_equal(px_queue_bytes(&rig->queue), 0);
    for (unsigned i = 0; i < CELLS; i++) {
        const struct cell *cell = &rig->cells[i];

        assert_true(cell->has_ended);
        assert_int_equal(cell->got_bytes + cell->dropped_bytes,
                         cell->put_bytes);
    }
    px_queue_close(&rig->queue);
}

/* Some go in, some come out, channels may end. */
static void shuffle(struct rig *rig, unsigned puts, bool closes)
{
    for (unsigned i = 0; i < puts; i++) {
        unsigned nth = chance_in(&rig->chance, 0, CELLS - 1);

        if (!rig->cells[nth].is_closed)
            put(rig, nth, chance_in(&rig->chance, 1, PIECE_MAX),
                closes && i > puts / 2 && chance_is(&rig->chance, 1));
        for (unsigned k = chance_is(&rig->chance, 3)
                              ? chance_in(&rig->chance, 0, 100)
                              : 0;
             k > 0; k--)
            get(rig);
    }
}

static void try_ways(const char *dir)
{
    const struct px_queue_cfg ways[] = {
        {.dir = dir},
        {.dir = dir, .drops_oldest = true},
        {.dir = dir, .buffer_bytes = 5000},
        {.dir = dir, .drops_oldest = true, .buffer_bytes = 5000},
    };
    struct rig rig;

    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        open_rig(&rig, 1 + i, ways[i]);
        shuffle(&rig, PUTS, true);
        end_rig(&rig);
        assert_true(dropped(&rig) > 0);
    }
}

static void ends_come_without_a_file(void **state)
{
    (void)state;
    try_ways("/nowhere/at/all");
}

/* The disk is full from then on. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void ends_come_when_the_disk_is_full(void **state)
{
    (void)state;
    limit_files(FILE_BYTES);
    try_ways("/tmp");
    limit_files(RLIM_INFINITY);
}

/* Ends alone fill more than the limit: there is room for the latest bytes, and
 * nothing turns for ever to make some. */
static void many_ends_leave_room(void **state)
{
    enum { MANY = 60000 };
    static uint8_t mem[PX_QUEUE_PACKET_MAX];
    const struct px_queue_cfg cfg = {.dir = "/tmp",
                                     .procs = MANY,
                                     .near_bytes = NEAR_BYTES,
                                     .limit_bytes = 1 << 20,
                                     .drops_oldest = true};
    struct px_output o = {.channel = 1, .is_end = true};
    struct px_queue queue;
    unsigned ends = 0;

    (void)state;
    assert_int_equal(px_queue_open(&queue, &cfg), 0);
    for (; o.rank < MANY - 1; o.rank++)
        px_queue_put(&queue, &o);
    o.mem = (const uint8_t *)"hello";
    o.len_bytes = 5;
    px_queue_put(&queue, &o);
    while (px_queue_get(&queue, 1, true, mem, &o)) {
        ends += o.is_end;
        assert_true(o.rank < MANY - 1 || o.is_end || o.len_bytes == 5);
        assert_int_equal(o.dropped_bytes, 0);
    }
    assert_int_equal(ends, MANY);
    px_queue_close(&queue);
}

/* Where no file can be made: nobody else has it. What is a copy is dropped
 * behind it, also when there is room in memory again. */
static void what_is_redirected_is_kept(void **state)
{
    struct rig rig;
    uint32_t kept = 0, copies = 0;

    (void)state;
    open_rig(&rig, 14,
             (struct px_queue_cfg){.dir = "/nowhere/at/all",
                                   .keeps_redirected = true});
    rig.redirects = true;
    for (unsigned i = 0; i < 3 * NEAR_BYTES / PIECE_MAX; i++, kept += PIECE_MAX)
        put(&rig, i % CELLS, PIECE_MAX, false);
    assert_true(px_queue_is_tight(&rig.queue));
    assert_true(get(&rig));
    assert_true(get(&rig));
    rig.redirects = false;
    for (unsigned i = 0; i < CELLS; i++, copies += 100)
        put(&rig, i, 100, false);
    assert_int_equal(px_queue_bytes(&rig.queue), kept - 2 * PIECE_MAX);
    end_rig(&rig);
    assert_true(dropped(&rig) >= copies);
}

/* Pieces of one channel after another, until the queue has so many bytes. */
static void fill(struct rig *rig, uint32_t len, uint64_t bytes)
{
    for (unsigned i = 0; !px_queue_has(&rig->queue, bytes); i++) {
        assert_true(i <= bytes / len);
        put(rig, i % CELLS, len, false);
    }
}

static void put_many(struct rig *rig, uint32_t len, uint32_t bytes)
{
    for (unsigned i = 0; i < bytes / len; i++)
        put(rig, i % CELLS, len, false);
}

/* Copies that come behind it drop none of it, though the oldest is to go; when
 * it has gone they drop one another. */
static void what_is_redirected_is_not_the_oldest(void **state)
{
    enum { LIMIT = 2 << 20 };
    struct rig rig;

    (void)state;
    open_rig(&rig, 15,
             (struct px_queue_cfg){.dir = "/tmp",
                                   .limit_bytes = LIMIT,
                                   .drops_oldest = true,
                                   .keeps_redirected = true});
    rig.redirects = true;
    fill(&rig, PIECE_MAX, LIMIT / 2);
    rig.redirects = false;
    put_many(&rig, PIECE_MAX, 2 * LIMIT);
    assert_true(px_queue_bytes(&rig.queue) <= LIMIT);
    for (unsigned left = LIMIT / 2; left > PIECE_MAX; left -= PIECE_MAX)
        assert_true(get(&rig));
    assert_int_equal(dropped(&rig), 0);
    while (px_queue_bytes(&rig.queue) > LIMIT / 4)
        assert_true(get(&rig));
    put_many(&rig, PIECE_MAX, 2 * LIMIT);
    end_rig(&rig);
    assert_true(dropped(&rig) > 2 * LIMIT);
}

/* Of small ones the file is full of heads: that is said in time, and what is
 * under way then has room. */
static void small_ones_are_many_as_well(void **state)
{
    enum { BOUND = 4 << 20, SMALL = 24, UNDER_WAY = 4 << 20 };
    struct rig rig;

    (void)state;
    open_rig(&rig, 16,
             (struct px_queue_cfg){.dir = "/tmp",
                                   .limit_bytes = BOUND + (1 << 20),
                                   .keeps_redirected = true});
    rig.redirects = true;
    fill(&rig, SMALL, BOUND);
    assert_false(px_queue_is_tight(&rig.queue));
    put_many(&rig, SMALL, UNDER_WAY);
    rig.redirects = false;
    put_many(&rig, SMALL, UNDER_WAY);
    assert_true(px_queue_bytes(&rig.queue) < BOUND + UNDER_WAY);
    for (unsigned left = UNDER_WAY; left > SMALL; left -= SMALL)
        assert_true(get(&rig));
    assert_int_equal(dropped(&rig), 0);
    end_rig(&rig);
    assert_int_equal(dropped(&rig), UNDER_WAY / SMALL * SMALL);
}

/* --- how far it is behind */

enum { SPANNED = 4000, SPAN_BYTES = 2 << 20 };

/* What went in, in order; the bytes of its channel and of all before it. */
struct put {
    unsigned nth;
    uint64_t own, all;
};

/* Those that still wait: the first one of them. */
static uint64_t oldest(const struct rig *rig, const struct put *puts,
                       unsigned *first, unsigned count)
{
    while (*first < count &&
           puts[*first].own + 1 <= rig->cells[puts[*first].nth].got_bytes)
        ++*first;
    return *first < count ? puts[*first].all : UINT64_MAX;
}

/* While some is put together: all but the last px_queue_span() bytes have gone,
 * and that is not much more than it was told, though a channel has one byte
 * alone. */
static void it_knows_how_far_it_is_behind(void **state)
{
    static struct put puts[SPANNED];
    struct rig rig;
    uint64_t all = 0;
    unsigned first = 0;

    (void)state;
    open_rig(&rig, 13,
             (struct px_queue_cfg){.dir = "/tmp",
                                   .limit_bytes = 64 << 20,
                                   .buffer_bytes = 2 * PIECE_MAX,
                                   .span_bytes = SPAN_BYTES});
    put(&rig, 0, 1, false);
    puts[0] = (struct put){.nth = 0};
    for (unsigned i = 1; i < SPANNED; i++) {
        unsigned nth = chance_in(&rig.chance, 1, CELLS - 1);

        all = rig.queue.stored_bytes;
        puts[i] = (struct put){nth, rig.cells[nth].put_bytes, all};
        put(&rig, nth, chance_in(&rig.chance, 1, PIECE_MAX), false);
        for (unsigned k = chance_in(&rig.chance, 0, 2); k > 0; k--)
            get_some(&rig, false);
        assert_true(rig.queue.stored_bytes - px_queue_span(&rig.queue) <=
                    oldest(&rig, puts, &first, i + 1));
        assert_true(px_queue_span(&rig.queue) <=
                    rig.queue.waiting_bytes + SPAN_BYTES + (2 << 20));
    }
    assert_true(all > 2 * SPAN_BYTES + (1 << 20));
    assert_int_equal(rig.cells[0].got_bytes, 1);
    end_rig(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_come_without_a_file),
        cmocka_unit_test(ends_come_when_the_disk_is_full),
        cmocka_unit_test(many_ends_leave_room),
        cmocka_unit_test(what_is_redirected_is_kept),
        cmocka_unit_test(what_is_redirected_is_not_the_oldest),
        cmocka_unit_test(small_ones_are_many_as_well),
        cmocka_unit_test(it_knows_how_far_it_is_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
