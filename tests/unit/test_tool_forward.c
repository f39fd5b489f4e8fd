/* Pulls of a tool that ask for earlier output, for a job whose output goes to
 * the tool without a pull. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include "endpoints/sys/writer.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls.h"
#include "tests/unit/chance.h"

enum {
    BASE = 40,
    SIZE = 2,
    CHANNELS = PX_LIB_STDOUT | PX_LIB_STDERR,
    OUT = 1,
    LINE_BYTES = 8,
    ROUNDS = 12,
    STEPS = 60,
    LINES_MAX = 40,  /* lines of a piece */
    PULLS_MAX = 128, /* pulls of a round */
    TICK_US = 60 * 1000,
};

static struct px_pulls *pulls;
static struct ep_writer *writer;

static void on_settled(void *arg)
{
    (void)arg;
}

static int set_up(void **state)
{
    struct px_pulls_cfg cfg = {.on_settled = on_settled, .answer_ms = 1000};

    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    assert_int_equal(ep_writer_open(tool_rig.way.base, &writer), 0);
    cfg.way = &tool_rig.way;
    cfg.writer = writer;
    cfg.jobs = tool_rig.jobs;
    return px_pulls_open(&cfg, &pulls);
}

static int tear_down(void **state)
{
    (void)state;
    px_pulls_close(pulls);
    ep_writer_close(writer, true);
    tool_rig_end();
    return 0;
}

/* Starts the job "new", of which this much output of each channel is kept. */
static void start(uint32_t cache_bytes, struct px_lib_wish wish)
{
    struct job_door job = {.kind = JOB_DOOR_BEGUN,
                           .first = BASE,
                           .count = SIZE,
                           .channels = CHANNELS,
                           .text = "new"};
    const struct px_forward_cfg cfg = {.job = &job,
                                       .channels = CHANNELS,
                                       .has_lines = true,
                                       .wish = &wish,
                                       .door = px_jobs_door(tool_rig.jobs)};

    tool_rig_say(0, &job);
    tool_rig_settle();
    job.cache_bytes = cache_bytes;
    assert_int_equal(px_forward_add(px_pulls_forwards(pulls), &cfg), 0);
    px_forward_begin(px_pulls_forwards(pulls), BASE);
}

static void hear(uint32_t rank, const void *mem, size_t len, uint64_t dropped)
{
    const struct job_door msg = {.kind = JOB_DOOR_OUTPUT,
                                 .first = BASE + rank,
                                 .channel = OUT,
                                 .dropped_bytes = dropped,
                                 .rest = ov_rd_init(mem, len)};

    assert_true(px_forward_hear(px_pulls_forwards(pulls), BASE, &msg));
}

static void say(const char *text)
{
    hear(0, text, strlen(text), 0);
    tool_rig_settle();
}

static void pull(struct px_lib_wish wish)
{
    static const struct px_lib_name target = {.nspace = "new", .rank = 0};
    const unsigned before = tool_rig.pull_answers;

    px_pulls_on_pull(pulls, &(struct px_lib_pull){.targets = &target,
                                                  .count = 1,
                                                  .channels = PX_LIB_STDOUT,
                                                  .wish = wish});
    tool_rig_settle();
    assert_int_equal(tool_rig.pull_answers, before + 1);
    assert_int_equal(tool_rig.pull_answer, PX_LIB_YES);
}

static struct px_lib_wish first(uint64_t bytes)
{
    return (struct px_lib_wish){.has_cache = true, .cache_bytes = bytes};
}

static struct px_lib_wish last(uint64_t bytes)
{
    return (struct px_lib_wish){.has_cache = true,
                                .cache_bytes = bytes,
                                .has_drops = true,
                                .drops_oldest = true};
}

/* Checks the nth delivery, counted from 1. */
static void check(unsigned nth, const char *text, bool is_pulled,
                  uint64_t before)
{
    const struct tool_rig_delivery *at = &tool_rig.all[nth - 1];

    assert_true(tool_rig.given >= nth);
    assert_string_equal(at->mem, text);
    assert_int_equal(at->output.len_bytes, strlen(text));
    assert_int_equal(at->output.is_pulled, is_pulled);
    assert_int_equal(at->output.before_bytes, before);
}

static void check_count(unsigned count)
{
    tool_rig_settle();
    assert_int_equal(tool_rig.given, count);
}

/* Waits until output that was due after some time has been handled. */
static void let_tick(void)
{
    const struct timeval tick = {.tv_usec = TICK_US};

    event_base_loopexit(tool_rig.way.base, &tick);
    event_base_dispatch(tool_rig.way.base);
}

/* --- a single pull */

static void all_of_it(void **state)
{
    (void)state;
    start(100, (struct px_lib_wish){0});
    say("one\n");
    say("two\n");
    pull(first(100));
    check(3, "one\ntwo\n", true, 0);
    assert_int_equal(tool_rig.withheld, 1);
    say("three\n");
    check(4, "three\n", true, 0);
    check_count(4);
}

static void the_first_bytes(void **state)
{
    (void)state;
    start(100, (struct px_lib_wish){0});
    say("one\ntwo\n");
    pull(first(3));
    check(2, "one", true, 0);
    check(3, "", true, 5);
    say("three\n");
    check(4, "three\n", true, 0);
    check_count(4);
}

static void the_last_bytes(void **state)
{
    (void)state;
    start(5, (struct px_lib_wish){0});
    say("one\ntwo\n");
    pull(last(3));
    check(2, "wo\n", true, 5);
    say("three\n");
    check(3, "three\n", true, 0);
    check_count(3);
}

/* Only kept output comes, and dropped bytes never do. */
static void what_is_not_kept(void **state)
{
    (void)state;
    start(2, (struct px_lib_wish){0});
    say("one\ntwo\n");
    hear(0, "x\n", 2, 7);
    tool_rig_settle();
    pull(first(100));
    check(3, "on", true, 0);
    check(4, "", true, 15);
    check_count(4);
}

static void not_asked_for(void **state)
{
    static const struct px_lib_wish none = {0}, zero = {.has_cache = true};

    (void)state;
    start(100, (struct px_lib_wish){0});
    say("one\n");
    pull(none);
    say("two\n");
    check(2, "two\n", true, 0);
    px_pulls_on_stop(pulls);
    tool_rig.taken = 2;
    say("three\n");
    let_tick();
    check(3, "three\n", false, 0);
    pull(zero);
    say("four\n");
    check(4, "four\n", true, 0);
    check_count(4);
    assert_int_equal(tool_rig.withheld, 2);
}

/* The spawn wants no output to be kept. */
static void nothing_kept(void **state)
{
    (void)state;
    start(0, (struct px_lib_wish){0});
    say("one\n");
    pull(first(100));
    say("two\n");
    check(2, "two\n", true, 0);
    check_count(2);
}

/* Output that is being gathered for the tool's library counts as new, and does
 * not wait. */
static void behind_it_what_is_held(void **state)
{
    struct px_lib_wish wish = first(100);

    (void)state;
    start(100, (struct px_lib_wish){.buffer_bytes = 4});
    say("one\n");
    say("two");
    check_count(1);
    wish.has_buffer = true;
    pull(wish);
    check(2, "one\n", true, 0);
    check(3, "two", true, 0);
    check_count(3);
}

/* Earlier output comes in pieces, as the tool takes them; new output waits for
 * the last of them. */
static void in_pieces(void **state)
{
    static char text[70000];

    (void)state;
    memset(text, '\n', sizeof(text));
    start(sizeof(text), (struct px_lib_wish){0});
    for (unsigned i = 0; i < 7; i++)
        hear(0, text, 10000, 0);
    check_count(7);
    tool_rig.room = 0;
    pull(first(sizeof(text)));
    say("new\n");
    for (unsigned i = 1; i <= 3; i++) {
        tool_rig.room = 1;
        px_pulls_on_room(pulls);
        check_count(7 + i);
        assert_int_equal(tool_rig.all[6 + i].output.len_bytes,
                         i < 3 ? 32768 : 70000 - 2 * 32768);
    }
    tool_rig.room = 1;
    px_pulls_on_room(pulls);
    check(11, "new\n", true, 0);
}

/* --- several pulls */

/* A pull does not get output that another pull has, and a pull that has ended
 * gets nothing. */
static void another_has_it(void **state)
{
    (void)state;
    start(100, (struct px_lib_wish){0});
    say("one\n");
    pull((struct px_lib_wish){0});
    pull(first(100));
    check_count(1);
    say("two\n");
    check(2, "two\n", true, 0);
    check_count(2);
}

/* A pull ends before it has got everything: another one begins with the first
 * byte. */
static void left_before_it_is_paid(void **state)
{
    (void)state;
    start(100, (struct px_lib_wish){0});
    say("one\n");
    tool_rig.room = 0;
    pull(first(100));
    px_pulls_on_stop(pulls);
    tool_rig.room = 100;
    px_pulls_on_room(pulls);
    check_count(1);
    say("two\n");
    check(2, "two\n", false, 0);
    pull(first(100));
    check(3, "one\ntwo\n", true, 0);
    check_count(3);
}

/* When a pull has ended, a new one waits until it is known whether the output
 * handed over for the old one has reached the tool, and gets that output first,
 * or not at all. */
static void behind_another(bool is_missed)
{
    (void)is_missed;
    start(100, (struct px_lib_wish){0});
    say("one\n");
    pull((struct px_lib_wish){0});
    say("two\n");
    check(2, "two\n", true, 0);
    px_pulls_on_stop(pulls);
    pull(first(100));
    say("three\n");
    check_count(2);
    tool_rig.missed = is_missed ? 2 : 0;
    tool_rig.taken = 2;
    let_tick();
    check(3, is_missed ? "one\n" : "one\ntwo\n", true, 0);
    check(4, is_missed ? "two\n" : "three\n", true, 0);
    check_count(is_missed ? 5 : 4);
}

static void behind_one_that_had_it(void **state)
{
    (void)state;
    behind_another(false);
}

static void behind_one_that_missed_it(void **state)
{
    (void)state;
    behind_another(true);
}

/* --- random runs */

/* A delivery that libpmix handles later: then it reaches the pull that is
 * registered, or is shown, or neither. */
struct given {
    uint8_t *mem;
    size_t len_bytes;
    uint64_t before_bytes;
    bool is_pulled, is_withheld;
};

struct reader {
    bool is_begun, has_cache;
    uint64_t at; /* the position of the next byte */
};

static struct {
    struct given all[TOOL_RIG_DELIVERIES];
    unsigned handled, known;
    bool is_missed[TOOL_RIG_DELIVERIES];
    struct reader readers[PULLS_MAX];
    unsigned pulls; /* how many pulls were made */
    bool has_pull;  /* the last pull is registered */
    uint64_t said;  /* how many bytes were sent */
    /* by line: how often it was shown */
    uint8_t shown[TOOL_RIG_DELIVERIES * LINES_MAX];
    bool came[TOOL_RIG_DELIVERIES * LINES_MAX];
} lib;

static uint8_t byte_at(uint64_t at)
{
    char line[16];

    snprintf(line, sizeof(line), "%07u\n", (unsigned)(at / LINE_BYTES));
    return (uint8_t)line[at % LINE_BYTES];
}

static void on_delivery(const struct px_lib_output *output)
{
    struct given *at = &lib.all[tool_rig.given - 1];

    at->mem = malloc(output->len_bytes + 1);
    assert_non_null(at->mem);
    if (output->len_bytes > 0)
        memcpy(at->mem, output->mem, output->len_bytes);
    at->len_bytes = output->len_bytes;
    at->before_bytes = output->before_bytes;
    at->is_pulled = output->is_pulled;
}

static void on_withhold(void)
{
    for (unsigned i = lib.handled; i < tool_rig.given; i++)
        lib.all[i].is_withheld = true;
}

static uint64_t find_missed(uint64_t behind)
{
    for (unsigned i = (unsigned)behind; i < lib.known; i++) {
        if (lib.is_missed[i])
            return i + 1;
    }
    return 0;
}

static uint64_t line_of(const uint8_t *mem)
{
    return strtoull((const char *)mem, NULL, 10);
}

/* A reader that asks for earlier output begins with the first byte, other
 * readers with any line. */
static void read_by(struct reader *reader, const struct given *d)
{
    if (!reader->is_begun) {
        reader->is_begun = true;
        if (!reader->has_cache)
            reader->at = line_of(d->mem) * LINE_BYTES;
    }
    reader->at += d->before_bytes;
    for (size_t i = 0; i < d->len_bytes; i++, reader->at++) {
        assert_int_equal(d->mem[i], byte_at(reader->at));
        lib.came[reader->at / LINE_BYTES] = true;
    }
}

static void show(const struct given *d)
{
    assert_int_equal(d->len_bytes % LINE_BYTES, 0);
    for (size_t i = 0; i < d->len_bytes; i += LINE_BYTES) {
        const uint64_t line = line_of(d->mem + i);

        assert_int_equal(lib.shown[line]++, 0);
        lib.came[line] = true;
    }
}

static void handle(unsigned count)
{
    for (; count > 0 && lib.handled < tool_rig.given; count--) {
        const struct given *d = &lib.all[lib.handled];
        const bool is_read = lib.has_pull && !d->is_withheld;

        if (is_read)
            read_by(&lib.readers[lib.pulls - 1], d);
        if (!d->is_pulled)
            show(d);
        lib.is_missed[lib.handled++] = !is_read && d->is_pulled;
    }
}

static void be_read(unsigned count)
{
    const uint64_t taken = tool_rig.taken + count;

    tool_rig.taken = taken < lib.handled ? taken : lib.handled;
    lib.known = lib.handled;
    let_tick();
}

static void write_lines(unsigned count)
{
    uint8_t mem[LINES_MAX * LINE_BYTES];

    for (unsigned i = 0; i < count * LINE_BYTES; i++)
        mem[i] = byte_at(lib.said++);
    hear(0, mem, count * LINE_BYTES, 0);
}

/* Begins a pull. No delivery is handled until the pull is answered. */
static void begin(struct px_lib_wish wish)
{
    lib.readers[lib.pulls++] = (struct reader){.has_cache = wish.has_cache};
    lib.has_pull = true;
    pull(wish);
}

static void leave(void)
{
    lib.has_pull = false;
    px_pulls_on_stop(pulls);
}

static void step(struct chance *chance)
{
    const unsigned what = chance_in(chance, 0, 9);

    if (what < 4)
        write_lines(chance_in(chance, 1, LINES_MAX));
    else if (what < 6)
        handle(chance_in(chance, 1, 5));
    else if (what == 6)
        be_read(chance_in(chance, 0, 10));
    else if (lib.has_pull)
        leave();
    else if (lib.pulls < PULLS_MAX)
        begin(chance_is(chance, 20)   ? (struct px_lib_wish){0}
              : chance_is(chance, 50) ? first(chance_in(chance, 1, 5000))
                                      : last(chance_in(chance, 1, 5000)));
    if (chance_is(chance, 30)) {
        tool_rig.room = chance_in(chance, 0, 3);
        px_pulls_on_room(pulls);
    }
    if (chance_is(chance, 80))
        tool_rig_settle();
}

/* Checks that all output comes, to the last byte. */
static void finish(void)
{
    for (unsigned i = 0; i < 8; i++) {
        tool_rig.room = TOOL_RIG_DELIVERIES;
        px_pulls_on_room(pulls);
        tool_rig_settle();
        handle(UINT32_MAX);
        be_read(UINT32_MAX);
    }
    for (uint64_t line = 0; line < lib.said / LINE_BYTES; line++)
        assert_true(lib.came[line]);
    if (lib.has_pull && lib.readers[lib.pulls - 1].is_begun)
        assert_int_equal(lib.readers[lib.pulls - 1].at, lib.said);
    for (unsigned i = 0; i < tool_rig.given; i++)
        free(lib.all[i].mem);
}

/* Pulls begin and end, and libpmix handles deliveries late: each pull gets
 * earlier output from the first byte on, or is told what is missing, and then
 * all that follows, once and in order; nothing is shown twice, and each byte
 * reaches the tool. */
static void at_random(void **state)
{
    struct chance chance = chance_start(9);

    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round > 0) {
            tear_down(state);
            set_up(state);
        }
        memset(&lib, 0, sizeof(lib));
        tool_rig.on_delivery = on_delivery;
        tool_rig.on_withhold = on_withhold;
        tool_rig.find_missed = find_missed;
        start(chance_in(&chance, 1, 3000), (struct px_lib_wish){0});
        for (unsigned i = 0; i < STEPS; i++)
            step(&chance);
        finish();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_of_it),
        TEST(the_first_bytes),
        TEST(the_last_bytes),
        TEST(what_is_not_kept),
        TEST(not_asked_for),
        TEST(nothing_kept),
        TEST(behind_it_what_is_held),
        TEST(in_pieces),
        TEST(another_has_it),
        TEST(left_before_it_is_paid),
        TEST(behind_one_that_had_it),
        TEST(behind_one_that_missed_it),
        TEST(at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
