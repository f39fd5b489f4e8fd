/* Jobs that a tool starts: the requests to the session, the answers to the
 * tool, and where the output goes. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include "endpoints/sys/writer.h"
#include "job/program.h"
#include "job/request.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/spawns.h"
#include "text/style.h"

enum { FIRST = 1, OUT = 1, ERR = 2, BASE = 40, SIZE = 2 };

static struct px_pulls *pulls;
static struct px_spawns *spawns;
static struct ep_writer *writer;
static int call; /* its address identifies the call */

static void on_settled(void *arg)
{
    (void)arg;
}

static void on_word(const struct job_door *msg)
{
    px_spawns_on_word(spawns, msg);
}

static int set_up(void **state)
{
    struct px_pulls_cfg cfg = {.on_settled = on_settled, .answer_ms = 1000};
    struct px_spawns_cfg of_spawns = {.way = &tool_rig.way};

    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    tool_rig.on_word = on_word;
    assert_int_equal(ep_writer_open(tool_rig.way.base, &writer), 0);
    cfg.way = &tool_rig.way;
    cfg.writer = writer;
    cfg.jobs = of_spawns.jobs = tool_rig.jobs;
    assert_int_equal(px_pulls_open(&cfg, &pulls), 0);
    of_spawns.pulls = pulls;
    return px_spawns_open(&of_spawns, &spawns);
}

static int tear_down(void **state)
{
    (void)state;
    tool_rig.on_word = NULL;
    px_spawns_close(spawns);
    px_pulls_close(pulls);
    ep_writer_close(writer, true);
    tool_rig_end();
    return 0;
}

/* --- requests */

static void ask_for(struct job_request request, struct px_lib_wish wish)
{
    static const char *const argv[] = {"program", NULL};
    static struct job_wish app;
    static struct job_request borrowed;

    app = (struct job_wish){.program.argv = argv, .procs = SIZE};
    borrowed = request;
    borrowed.apps = &app;
    borrowed.apps_count = 1;
    px_spawns_on_spawn(spawns, &(struct px_lib_spawn){.request = &borrowed,
                                                      .wish = wish,
                                                      .call = &call});
}

/* Receives HELLO and the request; the bytes are valid until the next call. */
static struct job_request hear_request(unsigned door)
{
    static uint8_t mem[4096];
    struct job_request request;
    struct job_door msg;
    size_t len;

    assert_int_equal(tool_rig_hear(door).kind, JOB_DOOR_HELLO);
    msg = tool_rig_hear(door);
    assert_int_equal(msg.kind, JOB_DOOR_SPAWN);
    assert_false(msg.is_more);
    len = ov_rd_left(&msg.rest);
    assert_true(len <= sizeof(mem));
    memcpy(mem, msg.rest.at, len);
    assert_int_equal(job_request_decode(ov_rd_init(mem, len), &request), 0);
    return request;
}

static void say_job(unsigned door)
{
    tool_rig_say(door, &(struct job_door){.kind = JOB_DOOR_JOB,
                                          .first = BASE,
                                          .count = SIZE,
                                          .channels = 6,
                                          .text = "new"});
}

static void say_begun(void)
{
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_BEGUN,
                                       .first = BASE,
                                       .count = SIZE,
                                       .channels = 6,
                                       .text = "new"});
    tool_rig_settle();
}

static void say(unsigned door, uint8_t kind)
{
    tool_rig_say(door, &(struct job_door){.kind = kind});
    tool_rig_settle();
}

/* Starts a job whose output goes to the tool without a pull, and that runs. */
static void start(struct px_lib_wish wish)
{
    struct job_request request;

    ask_for((struct job_request){.comes = 6, .forwards = 6}, wish);
    request = hear_request(FIRST);
    job_request_fini(&request);
    say_job(FIRST);
    say_begun();
    say(FIRST, JOB_DOOR_STARTED);
    assert_string_equal(tool_rig.spawned, "new");
    assert_ptr_equal(tool_rig.spawn_call, &call);
}

/* The session is asked for exactly what the tool asked for. */
static void whole(void **state)
{
    struct job_request request;

    (void)state;
    ask_for((struct job_request){.is_kept = true,
                                 .has_stddiag = true,
                                 .comes = 2 | 8,
                                 .forwards = 2 | 8,
                                 .reader = 1,
                                 .files = JOB_REQUEST_PATTERN,
                                 .name = "%r",
                                 .label = TEXT_LABEL_FULL,
                                 .cache_bytes = 77},
            (struct px_lib_wish){.has_cache = true});
    request = hear_request(FIRST);
    assert_true(request.has_stddiag && request.is_kept);
    assert_int_equal(request.reader, 1);
    assert_int_equal(request.comes, 2 | 8);
    assert_int_equal(request.forwards, 2 | 8);
    assert_int_equal(request.cache_bytes, 77);
    assert_int_equal(request.files, JOB_REQUEST_PATTERN);
    assert_string_equal(request.name, "%r");
    assert_int_equal(request.label, TEXT_LABEL_FULL);
    assert_int_equal(request.apps_count, 1);
    assert_int_equal(request.apps[0].procs, SIZE);
    job_request_fini(&request);
}

/* --- answers */

/* The job runs when both connections have reported it, in either order. */
static void answered(void **state)
{
    struct job_request request;

    (void)state;
    ask_for((struct job_request){.forwards = 0}, (struct px_lib_wish){0});
    request = hear_request(FIRST);
    job_request_fini(&request);
    say_job(FIRST);
    say(FIRST, JOB_DOOR_STARTED);
    assert_null(tool_rig.spawn_call);
    say_begun();
    assert_string_equal(tool_rig.spawned, "new");
    assert_int_equal(tool_rig.pushes, 0);
    assert_true(tool_rig_is_silent(FIRST)); /* the connection keeps the job
                                             * alive */
    say(FIRST, JOB_DOOR_ENDED);
    assert_int_equal(tool_rig_hear(FIRST).kind, 0);
}

/* A job that is to be kept needs no connection. */
static void kept(void **state)
{
    struct job_request request;

    (void)state;
    ask_for((struct job_request){.is_kept = true}, (struct px_lib_wish){0});
    request = hear_request(FIRST);
    job_request_fini(&request);
    say_job(FIRST);
    say_begun();
    assert_null(tool_rig.spawn_call);
    say(FIRST, JOB_DOOR_STARTED);
    assert_string_equal(tool_rig.spawned, "new");
    assert_int_equal(tool_rig_hear(FIRST).kind, 0);
}

/* The job was forgotten before it was reported to run. */
static void forgotten(void **state)
{
    struct job_request request;

    (void)state;
    ask_for((struct job_request){.comes = 6, .forwards = 6},
            (struct px_lib_wish){0});
    request = hear_request(FIRST);
    job_request_fini(&request);
    say_job(FIRST);
    say_begun();
    tool_rig_say(0,
                 &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = BASE});
    tool_rig_settle();
    say(FIRST, JOB_DOOR_STARTED);
    assert_int_equal(tool_rig.pushes, 1);
    assert_int_equal(tool_rig.push_answers[0], PX_LIB_FAILED);
}

static void refused(void **state)
{
    static const enum px_lib_answer answers[JOB_DOOR_REASONS] = {
        [JOB_DOOR_NO_ROOM] = PX_LIB_NO_ROOM,
        [JOB_DOOR_NO_HOST] = PX_LIB_NOT_FOUND,
        [JOB_DOOR_BAD_HOSTS] = PX_LIB_BAD_PARAM,
        [JOB_DOOR_NO_READER] = PX_LIB_BAD_PARAM,
        [JOB_DOOR_BLIND] = PX_LIB_FAILED,
        [JOB_DOOR_NO_DIR] = PX_LIB_NO_DIR,
        [JOB_DOOR_NO_PROGRAM] = PX_LIB_NO_PROGRAM,
        [JOB_DOOR_NO_EXEC] = PX_LIB_NO_EXEC,
        [JOB_DOOR_FAILED] = PX_LIB_FAILED,
        [JOB_DOOR_NO_GROWTH] = PX_LIB_NO_GROWTH,
    };

    (void)state;
    for (uint8_t reason = 1; reason < JOB_DOOR_REASONS; reason++) {
        struct job_request request;

        ask_for((struct job_request){.comes = 6, .forwards = 6},
                (struct px_lib_wish){0});
        request = hear_request(reason);
        job_request_fini(&request);
        if (reason >= JOB_DOOR_NO_DIR) { /* the request is refused when the
                                          * processes are started */
            say_job(reason);
            tool_rig_output(reason, BASE, OUT, "x\n", false);
        }
        tool_rig_say(reason, &(struct job_door){.kind = JOB_DOOR_UNSTARTED,
                                                .reason = reason,
                                                .text = "why"});
        assert_int_equal(tool_rig_hear(reason).kind, 0);
        assert_int_equal(tool_rig.pushes, reason);
        assert_int_equal(tool_rig.push_answers[reason - 1], answers[reason]);
        tool_rig_close(reason);
        assert_false(px_pulls_are_due(pulls, PX_PULLS_ANY));
    }
    assert_int_equal(tool_rig.given, 0);
    assert_null(tool_rig.spawn_call);
}

/* The session ends, once while an answer is due, and once after the answer. */
static void session_goes(void **state)
{
    struct job_request request;

    (void)state;
    start((struct px_lib_wish){0});
    ask_for((struct job_request){.comes = 6, .forwards = 6},
            (struct px_lib_wish){0});
    request = hear_request(FIRST + 1);
    job_request_fini(&request);
    tool_rig_output(FIRST, BASE, OUT, "open", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 0);
    tool_rig_hang_up(FIRST + 1);
    tool_rig_hang_up(FIRST);
    tool_rig_settle();
    assert_int_equal(tool_rig.pushes, 1);
    assert_int_equal(tool_rig.push_answers[0], PX_LIB_NO_ROOM);
    assert_int_equal(tool_rig.given, 1); /* the unfinished line is delivered */
    assert_false(px_pulls_are_due(pulls, BASE));
}

static void too_large(void **state)
{
    static char text[JOB_REQUEST_BYTES_MAX];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    ask_for((struct job_request){.files = JOB_REQUEST_FILE, .name = text},
            (struct px_lib_wish){0});
    assert_int_equal(tool_rig.pushes, 1);
    assert_int_equal(tool_rig.push_answers[0], PX_LIB_NO_RESOURCE);
}

/* --- where the output goes */

static bool is_given(const void *arg)
{
    const unsigned *count = arg;

    return tool_rig.given >= *count;
}

static void check_given(unsigned count, const char *text, bool is_pulled)
{
    const struct tool_rig_delivery *last = &tool_rig.all[count - 1];

    tool_rig_run(is_given, &count);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, count);
    assert_int_equal(last->output.len_bytes, strlen(text));
    assert_string_equal(last->mem, text);
    assert_int_equal(last->output.is_pulled, is_pulled);
}

/* Output is shown from the first byte on, in whole lines, to the end. */
static void shown(void **state)
{
    struct job_request request;

    (void)state;
    ask_for((struct job_request){.comes = 6, .forwards = 6},
            (struct px_lib_wish){0});
    request = hear_request(FIRST);
    job_request_fini(&request);
    say_job(FIRST);
    tool_rig_output(FIRST, BASE, OUT, "early\n", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 0);
    say_begun();
    say(FIRST, JOB_DOOR_STARTED);
    check_given(1, "early\n", false);
    tool_rig_output(FIRST, BASE + 1, OUT, "open", false);
    tool_rig_output(FIRST, BASE, ERR, "line\nof", true);
    check_given(2, "line\nof\n", false);
    assert_true(tool_rig.all[1].output.is_end);
    assert_true(px_pulls_are_due(pulls, BASE));
    tool_rig_output(FIRST, BASE, OUT, "", true);
    tool_rig_output(FIRST, BASE + 1, ERR, "", true);
    tool_rig_output(FIRST, BASE + 1, OUT, "", true);
    check_given(5, "open\n", false);
    assert_false(px_pulls_are_due(pulls, BASE));
    assert_true(tool_rig_is_silent(FIRST));
    say(FIRST, JOB_DOOR_ENDED);
    assert_int_equal(tool_rig_hear(FIRST).kind, 0);
}

static void pull(struct px_lib_wish wish)
{
    static const struct px_lib_name target = {.nspace = "new",
                                              .rank = PX_LIB_ALL};
    const unsigned before = tool_rig.pull_answers;

    px_pulls_on_pull(pulls, &(struct px_lib_pull){.targets = &target,
                                                  .count = 1,
                                                  .channels = PX_LIB_STDOUT,
                                                  .wish = wish});
    tool_rig_settle();
    assert_int_equal(tool_rig.pull_answers, before + 1);
    assert_int_equal(tool_rig.pull_answer, PX_LIB_YES);
}

/* A pull gets the unfinished line, and everything that follows, as it comes. */
static void pulled(void **state)
{
    (void)state;
    start((struct px_lib_wish){0});
    tool_rig_output(FIRST, BASE, OUT, "one\ntw", false);
    check_given(1, "one\n", false);
    pull((struct px_lib_wish){0});
    assert_int_equal(tool_rig.count, FIRST + 1); /* the session is not asked */
    tool_rig_output(FIRST, BASE, OUT, "o", false);
    check_given(3, "o", true);
    assert_string_equal(tool_rig.all[1].mem, "tw");
    assert_true(tool_rig.all[1].output.is_pulled);
    tool_rig_output(FIRST, BASE, ERR, "err\n", false);
    check_given(4, "err\n", false);
}

/* A pull is deregistered: output that reached no pull is shown, before later
 * output. */
static void pull_left(void **state)
{
    (void)state;
    start((struct px_lib_wish){0});
    pull((struct px_lib_wish){0});
    tool_rig_output(FIRST, BASE, OUT, "a\n", false);
    tool_rig_output(FIRST, BASE, OUT, "b\n", false);
    check_given(2, "b\n", true);
    px_pulls_on_stop(pulls);
    tool_rig_output(FIRST, BASE, OUT, "c\n", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 2);
    tool_rig.missed = 2;
    tool_rig.taken = 2;
    check_given(4, "c\n", false);
    assert_string_equal(tool_rig.all[2].mem, "b\n");
    assert_false(tool_rig.all[2].output.is_pulled);
}

/* A pull is replaced by another one before it is known that a delivery has
 * reached no pull: the new pull gets that output, and all that follows. */
static void pull_again(void **state)
{
    (void)state;
    start((struct px_lib_wish){0});
    pull((struct px_lib_wish){0});
    tool_rig_output(FIRST, BASE, OUT, "a\n", false);
    check_given(1, "a\n", true);
    px_pulls_on_stop(pulls);
    pull((struct px_lib_wish){0});
    tool_rig_output(FIRST, BASE, OUT, "b\n", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 1);
    tool_rig.missed = 1;
    tool_rig.taken = 1;
    check_given(3, "b\n", true);
    assert_string_equal(tool_rig.all[1].mem, "a\n");
    assert_true(tool_rig.all[1].output.is_pulled);
}

/* With several pulls, the tool does not say which one is over: a delivery that
 * reaches no pull shows it. */
static void one_of_two_left(void **state)
{
    static const struct px_lib_name other = {.nspace = "two"};

    (void)state;
    start((struct px_lib_wish){0});
    pull((struct px_lib_wish){0});
    px_pulls_on_pull(pulls, &(struct px_lib_pull){.targets = &other,
                                                  .count = 1,
                                                  .channels = PX_LIB_STDOUT,
                                                  .wish.copies = true});
    tool_rig_attach(FIRST + 1, "two");
    tool_rig_say(FIRST + 1, &(struct job_door){.kind = JOB_DOOR_PULLED});
    tool_rig_settle();
    assert_int_equal(tool_rig.pull_answers, 2);
    px_pulls_on_stop(pulls);
    tool_rig_output(FIRST, BASE, OUT, "a\n", false);
    check_given(1, "a\n", true);
    tool_rig.missed = 1;
    tool_rig.taken = 1;
    check_given(2, "a\n", false);
    tool_rig_output(FIRST, BASE, OUT, "b\n", false);
    check_given(3, "b\n", false);
}

/* The directives of the pull override those of the spawn. */
static void wishes(void **state)
{
    (void)state;
    start((struct px_lib_wish){.buffer_bytes = 1000});
    tool_rig_output(FIRST, BASE, OUT, "a\n", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 0);
    pull((struct px_lib_wish){.has_buffer = true, .buffer_bytes = 3});
    tool_rig_output(FIRST, BASE, OUT, "b\n", false);
    check_given(1, "a\nb\n", true);
    tool_rig_output(FIRST, BASE, OUT, "c\n", false);
    tool_rig_settle();
    assert_int_equal(tool_rig.given, 1);
    px_pulls_on_stop(pulls);
    tool_rig.taken = 1;
    tool_rig_output(FIRST, BASE, OUT, "d\n", true);
    check_given(2, "c\nd\n", false);
}

/* The tool that started the job has received its output; a late pull gets none
 * of it again. */
static void pulled_late(void **state)
{
    struct job_door msg;

    (void)state;
    start((struct px_lib_wish){0});
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        tool_rig_output(FIRST, BASE + rank, OUT, "", true);
        tool_rig_output(FIRST, BASE + rank, ERR, "", true);
    }
    check_given(4, "", false);
    px_pulls_on_pull(pulls,
                     &(struct px_lib_pull){
                         .targets = &(struct px_lib_name){.nspace = "new",
                                                          .rank = PX_LIB_ALL},
                         .count = 1,
                         .channels = PX_LIB_STDOUT,
                         .wish.copies = true});
    tool_rig_attach(FIRST + 1, "new");
    assert_int_equal(tool_rig_hear(FIRST + 1).kind, JOB_DOOR_RANGES);
    msg = tool_rig_hear(FIRST + 1);
    assert_int_equal(msg.kind, JOB_DOOR_PULL);
    assert_int_equal(msg.cache_bytes, 0);
}

/* The tool reads nothing: the session is read all the same, in turns with a
 * pull. */
static void slowly(void **state)
{
    unsigned of_job = 0;

    (void)state;
    start((struct px_lib_wish){0});
    px_pulls_on_pull(
        pulls, &(struct px_lib_pull){
                   .targets = &(struct px_lib_name){.nspace = "two", .rank = 0},
                   .count = 1,
                   .channels = PX_LIB_STDOUT,
                   .wish.copies = true});
    tool_rig_attach(FIRST + 1, "two");
    tool_rig_say(FIRST + 1, &(struct job_door){.kind = JOB_DOOR_PULLED});
    tool_rig_settle();
    tool_rig.room = 0;
    for (unsigned i = 0; i < 50; i++) {
        tool_rig_output(FIRST, BASE, OUT, "new\n", false);
        tool_rig_output(FIRST + 1, 20, OUT, "two\n", false);
        tool_rig_settle();
    }
    for (unsigned i = 0; i < 40; i++) {
        tool_rig.room = 1;
        px_pulls_on_room(pulls);
        tool_rig_settle();
    }
    for (unsigned i = 0; i < tool_rig.given; i++)
        of_job += strcmp(tool_rig.all[i].mem, "new\n") == 0;
    assert_int_equal(tool_rig.given, 40);
    assert_in_range(of_job, 10, 30);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole),        TEST(answered),    TEST(kept),
        TEST(forgotten),    TEST(refused),     TEST(too_large),
        TEST(session_goes), TEST(shown),       TEST(pulled),
        TEST(pull_left),    TEST(pull_again),  TEST(one_of_two_left),
        TEST(wishes),       TEST(pulled_late), TEST(slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
