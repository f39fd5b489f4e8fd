/* Pulls of a tool: requests to the session, deliveries to the tool, and reports
 * of what the tool has read. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include "endpoints/sys/writer.h"
#include "job/program.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/pulls.h"

enum {
    FIRST = 1,
    OUT = 1,
    ERR = 2,
    BOTH = PX_LIB_STDOUT | PX_LIB_STDERR,
    ANSWER_MS = 500,
};

static struct px_pulls *pulls;
static struct ep_writer *writer;
static unsigned settled;

static void on_settled(void *arg)
{
    (void)arg;
    settled++;
}

static int set_up(void **state)
{
    struct px_pulls_cfg cfg = {.answer_ms = ANSWER_MS,
                               .on_settled = on_settled};

    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    settled = 0;
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

static void ask(const char *job, uint32_t rank, uint16_t channels,
                struct px_lib_wish wish)
{
    struct px_lib_name target = {.rank = rank};

    strcpy(target.nspace, job);
    px_pulls_on_pull(pulls, &(struct px_lib_pull){.targets = &target,
                                                  .count = 1,
                                                  .channels = channels,
                                                  .wish = wish});
}

static bool is_answered(const void *arg)
{
    const unsigned *count = arg;

    return tool_rig.pull_answers == *count;
}

static void check_answer(unsigned count, enum px_lib_answer answer)
{
    tool_rig_run(is_answered, &count);
    assert_int_equal(tool_rig.pull_answer, answer);
}

static void hear_pull(unsigned door, const char *job, uint32_t first,
                      uint32_t last, const struct job_door *want)
{
    struct job_door msg;

    tool_rig_attach(door, job);
    msg = tool_rig_hear(door);
    assert_int_equal(msg.kind, JOB_DOOR_RANGES);
    assert_int_equal(ov_rd_u32(&msg.rest), first);
    assert_int_equal(ov_rd_u32(&msg.rest), last);
    assert_int_equal(ov_rd_left(&msg.rest), 0);
    msg = tool_rig_hear(door);
    assert_int_equal(msg.kind, JOB_DOOR_PULL);
    assert_int_equal(msg.channels, want->channels);
    assert_int_equal(msg.redirects, want->redirects);
    assert_int_equal(msg.is_last, want->is_last);
    assert_int_equal(msg.cache_bytes, want->cache_bytes);
}

/* Begins a pull of the job "one", which is answered. */
static void begin(unsigned door, struct px_lib_wish wish)
{
    const struct job_door want = {.channels = BOTH,
                                  .redirects = !wish.copies,
                                  .cache_bytes = JOB_CACHE_UNSAID};
    const unsigned before = tool_rig.pull_answers;

    ask("one", PX_LIB_ALL, BOTH, wish);
    hear_pull(door, "one", 10, 13, &want);
    assert_int_equal(tool_rig.pull_answers, before);
    tool_rig_say(door, &(struct job_door){.kind = JOB_DOOR_PULLED,
                                          .redirects = !wish.copies});
    check_answer(before + 1, PX_LIB_YES);
}

static bool is_given(const void *arg)
{
    const unsigned *count = arg;

    return tool_rig.given >= *count;
}

static void check_given(unsigned count, uint32_t rank, const char *text)
{
    const struct tool_rig_delivery *last = &tool_rig.all[count - 1];

    tool_rig_run(is_given, &count);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, count);
    assert_int_equal(last->output.rank, rank);
    assert_int_equal(last->output.len_bytes, strlen(text));
    assert_string_equal(last->mem, text);
}

static void check_taken(unsigned door, uint64_t outputs)
{
    struct job_door msg = tool_rig_hear(door);

    assert_int_equal(msg.kind, JOB_DOOR_TAKEN);
    assert_int_equal(msg.taken, outputs);
}

/* Checks that the pull is over after this many outputs: none of the others has
 * reached it. */
static void check_over(unsigned door, uint64_t outputs)
{
    struct job_door msg = tool_rig_hear(door);

    assert_int_equal(msg.kind, JOB_DOOR_TAKEN);
    assert_int_equal(msg.taken, outputs);
    assert_true(msg.is_over);
    assert_int_equal(tool_rig_hear(door).kind, 0);
}

static const struct px_lib_wish copies = {.copies = true}, redirects = {0};

/* Output that comes before the answer waits for the answer. */
static void copied(void **state)
{
    (void)state;
    ask("one", 2, PX_LIB_STDOUT,
        (struct px_lib_wish){.copies = true,
                             .has_drops = true,
                             .drops_oldest = true,
                             .has_cache = true,
                             .cache_bytes = 77});
    hear_pull(FIRST, "one", 12, 12,
              &(struct job_door){.channels = PX_LIB_STDOUT,
                                 .is_last = true,
                                 .cache_bytes = 77});
    tool_rig_output(FIRST, 12, OUT, "before", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 0);
    tool_rig_say(FIRST, &(struct job_door){.kind = JOB_DOOR_PULLED});
    check_answer(1, PX_LIB_YES);
    check_given(1, 2, "before");
    tool_rig_output(FIRST, 12, OUT, "after", true);
    check_given(2, 2, "after");
    assert_true(tool_rig.all[1].output.is_end);
    /* The only channel has ended, so the connection ends, too. */
    assert_int_equal(tool_rig_hear(FIRST).kind, 0);
}

/* While the tool reads nothing the session is read all the same. */
static void copied_slowly(void **state)
{
    (void)state;
    begin(FIRST, copies);
    tool_rig.room = 1;
    for (unsigned i = 0; i < 100; i++) {
        tool_rig_output(FIRST, 10, OUT, "x", false);
        tool_rig_settle();
    }
    check_given(1, 0, "x");
    tool_rig.room = 50;
    px_pulls_on_room(pulls);
    check_given(51, 0, "x");
    tool_rig.room = 50;
    px_pulls_on_room(pulls);
    check_given(100, 0, "x");
}

static void say_large(uint32_t len_bytes)
{
    static uint8_t bytes[JOB_DOOR_OUTPUT_MAX];

    memset(bytes, 'x', sizeof(bytes));
    tool_rig_say(FIRST,
                 &(struct job_door){.kind = JOB_DOOR_OUTPUT,
                                    .first = 10,
                                    .channel = OUT,
                                    .rest = ov_rd_init(bytes, len_bytes)});
    tool_rig_settle();
}

/* A large OUTPUT is delivered in the memory in which it came; one that is
 * small, or has waited, is copied. */
static void large_ones_are_not_copied(void **state)
{
    static const uint32_t large[] = {JOB_DOOR_OUTPUT_MAX,
                                     JOB_DOOR_OUTPUT_MAX / 4};

    (void)state;
    begin(FIRST, copies);
    tool_rig.room = 6;
    for (unsigned i = 0; i < 4; i++) {
        say_large(large[i % 2]);
        assert_int_equal(tool_rig.given, i + 1);
        assert_int_equal(tool_rig.all[i].output.len_bytes, large[i % 2]);
        assert_non_null(tool_rig.all[i].output.block);
        assert_memory_equal(tool_rig.all[i].mem, "xxx", 3);
    }
    say_large(JOB_DOOR_OUTPUT_MAX / 4 - 1);
    assert_null(tool_rig.all[4].output.block);
    tool_rig.room = 0;
    say_large(JOB_DOOR_OUTPUT_MAX);
    tool_rig.room = 1;
    px_pulls_on_room(pulls);
    assert_int_equal(tool_rig.given, 6);
    assert_int_equal(tool_rig.all[5].output.len_bytes, JOB_DOOR_OUTPUT_MAX);
    assert_null(tool_rig.all[5].output.block);
}

/* Before a file is made output waits in the session for a moment. On a busy
 * machine that moment may pass unseen: then the test tries again. */
static void copies_wait_a_moment_before_the_file(void **state)
{
    bool was_read = true;

    for (unsigned i = 0; i < 50 && was_read; i++) {
        (void)tear_down(state);
        (void)set_up(state);
        begin(FIRST, copies);
        tool_rig.room = 0;
        for (unsigned k = 0; k < 4 && was_read; k++) /* half a MiB each */
            was_read = tool_rig_is_read(FIRST, 10);
    }
    assert_false(was_read);
    tool_rig_until_heard(FIRST);
    assert_true(tool_rig_is_read(FIRST, 10));
}

/* A pull that redirects is read as fast as the tool reads, and reports what the
 * tool has read. */
static void redirected(void **state)
{
    (void)state;
    begin(FIRST, redirects);
    tool_rig.room = 2;
    for (unsigned i = 0; i < 4; i++)
        tool_rig_output(FIRST, 10 + i, OUT, "x", false);
    check_given(2, 1, "x");
    assert_true(tool_rig_is_silent(FIRST));
    tool_rig.taken = 1;
    check_taken(FIRST, 1);
    tool_rig.room = 1;
    px_pulls_on_room(pulls);
    check_given(3, 2, "x");
    tool_rig.taken = 3;
    check_taken(FIRST, 3);
    assert_false(tool_rig_is_read(FIRST, 10));
}

/* A pull that redirects reports reads also after a pause in which nothing was
 * due. */
static void redirected_again(void **state)
{
    struct event_base *base = tool_rig.way.base;
    int idle;

    (void)state;
    begin(FIRST, redirects);
    idle = event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);
    for (unsigned i = 1; i <= 2; i++) {
        tool_rig_output(FIRST, 10, OUT, "x", false);
        check_given(i, 0, "x");
        tool_rig.taken = i;
        check_taken(FIRST, i);
        while (event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED) > idle)
            event_base_loop(base, EVLOOP_ONCE);
    }
}

/* Gathered output counts only when it has been delivered. */
static void redirected_together(void **state)
{
    (void)state;
    begin(FIRST, (struct px_lib_wish){.has_buffer = true, .buffer_bytes = 4});
    tool_rig_output(FIRST, 10, OUT, "ab", false);
    tool_rig_output(FIRST, 11, OUT, "12345", false);
    check_given(1, 1, "12345");
    tool_rig.taken = 1;
    tool_rig_output(FIRST, 10, OUT, "cd", false);
    check_given(2, 0, "abcd");
    tool_rig_settle();
    tool_rig.taken = 2;
    check_taken(FIRST, 3);
}

/* Dropped bytes are reported with the next output, even when nothing waits by
 * then. */
static void drop_is_told(void **state)
{
    static const struct px_lib_wish small = {
        .copies = true, .has_cache = true, .cache_bytes = 1 << 20};
    static char text[30000];
    const unsigned fits = (1 << 20) / (sizeof(text) - 1);

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    ask("one", 0, BOTH, small);
    hear_pull(FIRST, "one", 10, 10,
              &(struct job_door){.channels = BOTH, .cache_bytes = 1 << 20});
    tool_rig_say(FIRST, &(struct job_door){.kind = JOB_DOOR_PULLED});
    check_answer(1, PX_LIB_YES);
    tool_rig.room = 0;
    for (unsigned i = 0; i < fits + 2; i++) {
        tool_rig_output(FIRST, 10, OUT, text, false);
        tool_rig_until_heard(FIRST);
    }
    tool_rig.room = 1 << 20;
    px_pulls_on_room(pulls);
    tool_rig_run(is_given, &fits);
    tool_rig_output(FIRST, 10, OUT, "next", false);
    check_given(fits + 1, 0, "next");
    assert_int_equal(tool_rig.all[fits].output.dropped_bytes,
                     2 * (sizeof(text) - 1));
    tool_rig_output(FIRST, 10, OUT, "last", false);
    check_given(fits + 2, 0, "last");
    assert_int_equal(tool_rig.all[fits + 1].output.dropped_bytes, 0);
}

/* The tool has disconnected: what it has read by then is reported, and then the
 * pull is over. */
static void tool_goes(void **state)
{
    const unsigned one = 1;

    (void)state;
    begin(FIRST, redirects);
    tool_rig_output(FIRST, 10, OUT, "a", false);
    tool_rig_output(FIRST, 10, OUT, "b", false);
    check_given(2, 0, "b");
    tool_rig.taken = 1;
    px_pulls_end(pulls);
    check_taken(FIRST, 1);
    while (settled < one)
        event_base_loop(tool_rig.way.base, EVLOOP_ONCE);
    tool_rig_output(FIRST, 10, OUT, "c", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 2);
}

/* The tool deregisters its only pull: deliveries under way are waited for, then
 * the connection ends. */
static void stopped(void **state)
{
    (void)state;
    begin(FIRST, redirects);
    tool_rig_output(FIRST, 10, OUT, "a", false);
    check_given(1, 0, "a");
    px_pulls_on_stop(pulls);
    tool_rig_output(FIRST, 10, OUT, "b", false);
    assert_true(tool_rig_is_silent(FIRST));
    assert_int_equal(tool_rig.given, 1);
    tool_rig.taken = 1;
    check_taken(FIRST, 1);
    check_over(FIRST, 1);
}

/* Output that two pulls name is requested once. The tool deregisters one of
 * them and does not say which: it is the first one whose delivery reaches no
 * pull. That delivery does not count as read, and the other pull requests the
 * output that it got through the first. */
static void in_common(void **state)
{
    (void)state;
    begin(FIRST, redirects);
    ask("one", 1, BOTH, redirects);
    check_answer(2, PX_LIB_YES);
    assert_int_equal(tool_rig.count, FIRST + 1);
    ask("two", 0, PX_LIB_STDOUT, copies);
    hear_pull(FIRST + 1, "two", 20, 20,
              &(struct job_door){.channels = PX_LIB_STDOUT,
                                 .cache_bytes = JOB_CACHE_UNSAID});
    tool_rig_say(FIRST + 1, &(struct job_door){.kind = JOB_DOOR_PULLED});
    check_answer(3, PX_LIB_YES);
    px_pulls_on_stop(pulls);
    tool_rig_output(FIRST + 1, 20, OUT, "2", false);
    check_given(1, 0, "2");
    tool_rig_output(FIRST, 11, OUT, "a", false);
    tool_rig_output(FIRST, 10, OUT, "b", false);
    check_given(3, 0, "b");
    tool_rig.missed = 3;
    tool_rig.taken = 3;
    check_taken(FIRST, 1);
    check_over(FIRST, 1);
    hear_pull(FIRST + 2, "one", 11, 11,
              &(struct job_door){.channels = BOTH, .redirects = true});
    tool_rig_output(FIRST + 2, 11, OUT, "c", false);
    check_given(4, 1, "c");
}

/* A session that does not answer is waited for, but not for long. */
static void silent(void **state)
{
    (void)state;
    ask("one", 0, BOTH, copies);
    check_answer(1, PX_LIB_YES);
}

static void refused(void **state)
{
    static const struct px_lib_wish bad = {.is_bad = true},
                                    strange = {.strange = "no.such"};

    (void)state;
    ask("none", 0, BOTH, copies);
    check_answer(1, PX_LIB_NOT_FOUND);
    ask("one", 4, BOTH, copies);
    check_answer(2, PX_LIB_NOT_FOUND);
    ask("one", 0, BOTH, bad);
    check_answer(3, PX_LIB_BAD_PARAM);
    ask("one", 0, BOTH, strange);
    check_answer(4, PX_LIB_NOT_SUPPORTED);
    ask("one", 0, PX_LIB_STDDIAG, copies);
    check_answer(5, PX_LIB_NOT_SUPPORTED);
    ask("dvm", 0, BOTH, copies);
    check_answer(6, PX_LIB_NOT_SUPPORTED);
    ask("one", 0, 1, copies);
    check_answer(7, PX_LIB_BAD_PARAM);
    assert_int_equal(tool_rig.count, 1);
    ask("one", 0, BOTH, copies);
    tool_rig_attach(FIRST, "one");
    tool_rig_say(FIRST,
                 &(struct job_door){.kind = JOB_DOOR_REFUSED, .text = "no"});
    tool_rig_hang_up(FIRST);
    check_answer(8, PX_LIB_NO_RESOURCE);
}

/* Two pulls, for both of which much output comes: each gets its turn. */
static void take_turns(struct px_lib_wish wish)
{
    unsigned of_two = 0;

    begin(FIRST, wish);
    ask("two", 0, PX_LIB_STDOUT, wish);
    hear_pull(FIRST + 1, "two", 20, 20,
              &(struct job_door){.channels = PX_LIB_STDOUT,
                                 .redirects = !wish.copies,
                                 .cache_bytes = JOB_CACHE_UNSAID});
    tool_rig_say(FIRST + 1, &(struct job_door){.kind = JOB_DOOR_PULLED,
                                               .redirects = !wish.copies});
    check_answer(2, PX_LIB_YES);
    tool_rig.room = 0;
    for (unsigned i = 0; i < 50; i++) {
        tool_rig_output(FIRST, 10, OUT, "one", false);
        tool_rig_output(FIRST + 1, 20, OUT, "two", false);
        tool_rig_settle();
    }
    for (unsigned i = 0; i < 20; i++) {
        tool_rig.room = 1 + i % 3;
        px_pulls_on_room(pulls);
        tool_rig_settle();
    }
    for (unsigned i = 0; i < tool_rig.given; i++)
        of_two += strcmp(tool_rig.all[i].mem, "two") == 0;
    assert_true(tool_rig.given >= 20);
    assert_in_range(of_two, tool_rig.given / 4, tool_rig.given * 3 / 4);
}

static void in_turns(void **state)
{
    (void)state;
    take_turns(copies);
}

static void in_turns_redirected(void **state)
{
    (void)state;
    take_turns(redirects);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copied),
        TEST(copied_slowly),
        TEST(large_ones_are_not_copied),
        TEST(copies_wait_a_moment_before_the_file),
        TEST(redirected),
        TEST(redirected_again),
        TEST(stopped),
        TEST(redirected_together),
        TEST(drop_is_told),
        TEST(tool_goes),
        TEST(in_common),
        TEST(silent),
        TEST(refused),
        TEST(in_turns),
        TEST(in_turns_redirected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
