/* Events of jobs: which ones the tool is sent, and when the event of the end
 * comes. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include "endpoints/sys/writer.h"
#include "pmix_api/helper/news.h"
#include "pmix_api/helper/pulls.h"

enum { FIRST = 1, OUT = 1 };

static struct px_pulls *pulls;
static struct px_news *news;
static struct ep_writer *writer;
static unsigned told;

static void on_settled(void *arg)
{
    (void)arg;
}

static void on_told(void *arg)
{
    (void)arg;
    told++;
}

static void on_word(const struct job_door *msg)
{
    px_news_on_word(news, msg);
}

static int set_up(void **state)
{
    struct px_pulls_cfg cfg = {.on_settled = on_settled, .answer_ms = 1000};
    struct px_news_cfg of_news = {.on_told = on_told};

    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    tool_rig.on_word = on_word;
    told = 0;
    assert_int_equal(ep_writer_open(tool_rig.way.base, &writer), 0);
    cfg.way = &tool_rig.way;
    cfg.writer = writer;
    cfg.jobs = of_news.jobs = tool_rig.jobs;
    assert_int_equal(px_pulls_open(&cfg, &pulls), 0);
    of_news.base = tool_rig.way.base;
    of_news.pulls = pulls;
    assert_int_equal(px_news_open(&of_news, &news), 0);
    return 0;
}

static int set_up_in(void **state)
{
    set_up(state);
    px_news_in(news);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tool_rig.on_word = NULL;
    px_news_close(news);
    px_pulls_close(pulls);
    ep_writer_close(writer, true);
    tool_rig_end();
    return 0;
}

static void say_stage(uint8_t stage, struct job_door how)
{
    how.kind = JOB_DOOR_STAGE;
    how.base = 20;
    how.reason = stage;
    how.time_s = 1234;
    tool_rig_say(0, &how);
    tool_rig_settle();
}

static bool is_told(const void *arg)
{
    const unsigned *count = arg;

    return tool_rig.events >= *count;
}

static void check(unsigned count, enum px_lib_status code, const char *text)
{
    tool_rig_run(is_told, &count);
    assert_int_equal(tool_rig.events, count);
    assert_int_equal(tool_rig.event_codes[count - 1], code);
    assert_string_equal(tool_rig.event_texts[count - 1], text);
}

#define OF_JOB "two 0 pmix.evproc=two.-2 pmix.nspace=two pmix.evtstamp=1234"
#define END    OF_JOB " pmix.job.term.status="

static void stages(void **state)
{
    (void)state;
    say_stage(JOB_DOOR_STARTING, (struct job_door){0});
    check(1, PX_LIB_JOB_START, OF_JOB);
    say_stage(JOB_DOOR_RUNNING, (struct job_door){0});
    check(2, PX_LIB_LAUNCH_COMPLETE, OF_JOB);
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20});
    check(3, PX_LIB_JOB_END, END "0");
    say_stage(JOB_DOOR_OVER,
              (struct job_door){.first = 21, .status = 3 << 8, .count = 2});
    check(4, PX_LIB_JOB_END,
          END "6 pmix.procid=two.1 pmix.exit.code=3/4 xylem.job.failed=2/0");
    say_stage(JOB_DOOR_OVER,
              (struct job_door){
                  .first = 20, .status = 9, .count = 1, .is_lost = true});
    check(5, PX_LIB_JOB_END,
          END "7 xylem.job.lost=yes pmix.procid=two.0 pmix.exit.code=137/4 "
              "xylem.job.failed=1/0");
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20, .is_lost = true});
    check(6, PX_LIB_JOB_END, END "5 xylem.job.lost=yes");
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_STAGE,
                                       .base = 99,
                                       .reason = JOB_DOOR_OVER});
    tool_rig_settle();
    assert_int_equal(tool_rig.events, 6);
}

static void say_broken(uint32_t proc)
{
    tool_rig_say(0, &(struct job_door){
                        .kind = JOB_DOOR_BROKEN, .first = proc, .channel = 2});
    tool_rig_settle();
}

static void broken(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= PX_NEWS_BROKEN_MAX; i++) {
        tool_rig.events = 0;
        say_broken(13);
        check(1, PX_LIB_IOF_FAILURE,
              i < PX_NEWS_BROKEN_MAX
                  ? "one 3 pmix.evproc=one.3 xylem.iof.channel=4/1"
                  : "one 3 pmix.evproc=one.3 xylem.iof.channel=4/1 "
                    "pmix.evnocache=yes");
    }
}

/* Events from before the tool is let in are sent when it is, in order; no
 * events are sent of a job that is forgotten by then, and none of other
 * tools. */
static void before_the_tool(void **state)
{
    (void)state;
    say_stage(JOB_DOOR_STARTING, (struct job_door){0});
    say_broken(13);
    say_broken(21);
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20});
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_EVENT,
                              .rest = ov_rd_init((const uint8_t *)"event", 5)});
    tool_rig_settle();
    assert_int_equal(tool_rig.events, 0);
    px_news_in(news);
    assert_int_equal(tool_rig.others, 0);
    assert_int_equal(tool_rig.events, 4);
    assert_string_equal(tool_rig.event_texts[0], OF_JOB);
    assert_string_equal(tool_rig.event_texts[1],
                        "one 3 pmix.evproc=one.3 xylem.iof.channel=4/1");
    assert_string_equal(tool_rig.event_texts[2],
                        "two 1 pmix.evproc=two.1 xylem.iof.channel=4/1");
    assert_string_equal(tool_rig.event_texts[3], END "0");
}

static void forgotten_before_the_tool(void **state)
{
    (void)state;
    say_stage(JOB_DOOR_STARTING, (struct job_door){0});
    say_broken(21);
    say_broken(13);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = 20});
    tool_rig_settle();
    px_news_in(news);
    assert_int_equal(tool_rig.events, 1);
    assert_string_equal(tool_rig.event_texts[0],
                        "one 3 pmix.evproc=one.3 xylem.iof.channel=4/1");
}

/* Begins a pull of rank 0 of the job. */
static void begin(struct px_lib_wish wish)
{
    px_pulls_on_pull(
        pulls, &(struct px_lib_pull){
                   .targets = &(struct px_lib_name){.nspace = "two", .rank = 0},
                   .count = 1,
                   .channels = PX_LIB_STDOUT,
                   .wish = wish});
    tool_rig_attach(FIRST, "two");
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_RANGES);
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_PULL);
    tool_rig_say(FIRST, &(struct job_door){.kind = JOB_DOOR_PULLED});
    tool_rig_settle();
    assert_int_equal(tool_rig.pull_answers, 1);
}

/* The end of a job waits for the output that comes on another connection, and
 * for a tool that reads it; the end of another job does not wait. */
static void behind_output(void **state)
{
    (void)state;
    begin((struct px_lib_wish){.copies = true});
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20});
    tool_rig_output(FIRST, 20, OUT, "a", false);
    tool_rig_settle();
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_STAGE,
                                       .base = 10,
                                       .reason = JOB_DOOR_OVER,
                                       .first = 10});
    tool_rig_settle();
    assert_int_equal(tool_rig.events, 1);
    tool_rig.room = 0;
    tool_rig_output(FIRST, 20, OUT, "b", true);
    tool_rig_settle();
    assert_int_equal(tool_rig.events, 1);
    tool_rig.room = 1;
    px_pulls_on_room(pulls);
    check(2, PX_LIB_JOB_END, END "0");
    assert_int_equal(tool_rig.given, 2);
}

/* The event does not wait for a tool that reads nothing. */
static void stuck(void **state)
{
    (void)state;
    begin((struct px_lib_wish){.copies = true});
    tool_rig.room = 0;
    tool_rig_output(FIRST, 20, OUT, "a", true);
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20});
    assert_int_equal(tool_rig.events, 0);
    check(1, PX_LIB_JOB_END, END "0");
    assert_int_equal(tool_rig.given, 0);
}

/* The name of the job soon becomes invalid. */
static void forgotten(void **state)
{
    (void)state;
    begin((struct px_lib_wish){.copies = true});
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20});
    assert_int_equal(tool_rig.events, 0);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = 20});
    tool_rig_settle();
    assert_int_equal(tool_rig.events, 1);
}

static bool is_over(const void *arg)
{
    (void)arg;
    return told > 0;
}

/* The session has ended: everything that there is goes to the tool, and is
 * read. */
static void session_goes(void **state)
{
    (void)state;
    begin((struct px_lib_wish){.copies = true});
    tool_rig.room = 0;
    tool_rig_output(FIRST, 20, OUT, "a", true);
    say_stage(JOB_DOOR_OVER, (struct job_door){.first = 20});
    px_news_end(news);
    tool_rig_settle();
    assert_int_equal(told, 0);
    tool_rig.room = 2;
    px_pulls_on_room(pulls);
    check(1, PX_LIB_JOB_END, END "0");
    tool_rig_settle();
    assert_int_equal(told, 0);
    tool_rig.taken = 1;
    tool_rig_settle();
    assert_int_equal(told, 0);
    tool_rig.taken = 2; /* including what follows all events */
    tool_rig_run(is_over, NULL);
    assert_int_equal(tool_rig.given, 2);
}

/* The session has gone without a message about its jobs. The end is not
 * reported before waiting output was sent or given up. */
static void session_breaks_off(void **state)
{
    (void)state;
    begin((struct px_lib_wish){.copies = true});
    tool_rig.room = 0;
    tool_rig_output(FIRST, 20, OUT, "a", false);
    tool_rig_settle();
    tool_rig_hang_up(FIRST);
    tool_rig_settle();
    tool_rig.room = 1;
    px_news_end(news);
    tool_rig_run(is_over, NULL);
    assert_true(tool_rig.given == 0 || tool_rig.all[0].output.len_bytes == 1);
}

static void session_goes_stuck(void **state)
{
    (void)state;
    tool_rig.room = 0;
    px_news_end(news);
    tool_rig_run(is_over, NULL);
}

static void of_tools(void **state)
{
    static uint8_t large[JOB_DOOR_REST_MAX + 1];
    struct job_door msg;

    (void)state;
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_EVENT,
                              .rest = ov_rd_init((const uint8_t *)"event", 5)});
    tool_rig_settle();
    assert_int_equal(tool_rig.others, 1);
    px_news_on_event(news, "mine", 4);
    msg = tool_rig_hear(0);
    assert_int_equal(msg.kind, JOB_DOOR_EVENT);
    assert_int_equal(ov_rd_left(&msg.rest), 4);
    assert_memory_equal(msg.rest.at, "mine", 4);
    px_news_on_event(news, large, sizeof(large) - 1);
    assert_int_equal(tool_rig_hear(0).kind, JOB_DOOR_EVENT);
    px_news_on_event(news, large, sizeof(large));
    assert_int_equal(tool_rig_hear(0).kind, JOB_DOOR_NOTE);
}

#define TEST(name)  cmocka_unit_test_setup_teardown(name, set_up_in, tear_down)
#define EARLY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stages),
        EARLY(before_the_tool),
        EARLY(forgotten_before_the_tool),
        TEST(broken),
        TEST(behind_output),
        TEST(stuck),
        TEST(forgotten),
        TEST(session_goes),
        TEST(session_breaks_off),
        TEST(session_goes_stuck),
        TEST(of_tools),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
