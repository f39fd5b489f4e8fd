/* Pushes of a tool go to each job in order, one message at a time, and are
 * answered when the session has accepted them. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include <unistd.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "pmix_api/helper/push.h"

enum { FIRST = 1, MESSAGE = 64 };

static struct px_pushing_tool *pushing;
static unsigned floods;

static void on_flood(void *arg)
{
    (void)arg;
    floods++;
}

static int set_up(void **state)
{
    struct px_pushing_cfg cfg = {.on_flood = on_flood};

    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    floods = 0;
    cfg.way = &tool_rig.way;
    cfg.jobs = tool_rig.jobs;
    return px_pushing_open(&cfg, &pushing);
}

static int tear_down(void **state)
{
    (void)state;
    px_pushing_close(pushing);
    tool_rig_end();
    return 0;
}

static void push_to(const char *job, uint32_t rank, const char *text,
                    bool is_end, void *call)
{
    struct px_lib_name target = {.rank = rank};

    strcpy(target.nspace, job);
    px_pushing_on_push(pushing, &(struct px_lib_push){.targets = &target,
                                                      .count = 1,
                                                      .mem = text,
                                                      .len_bytes = strlen(text),
                                                      .is_end = is_end,
                                                      .call = call});
}

/* Returns the next message as text: its flags, ranges and bytes. */
static const char *heard(unsigned door)
{
    static char text[512];
    struct job_door msg = tool_rig_hear(door);
    struct ov_push push;
    int at;

    assert_int_equal(msg.kind, JOB_DOOR_PUSH);
    assert_true(ov_rd_left(&msg.rest) <= MESSAGE);
    assert_int_equal(
        ov_push_decode(msg.rest.at, (uint32_t)ov_rd_left(&msg.rest), &push), 0);
    at = sprintf(text, "%u", push.flags);
    for (unsigned i = push.ranges; i > 0; i--) {
        struct topo_range range = ov_push_range(&push);

        at += sprintf(text + at, " %u-%u", range.first, range.last);
    }
    sprintf(text + at, "%s%s:%.*s", msg.needs_all ? "!" : "",
            msg.is_more ? "+" : "", (int)push.len_bytes,
            (const char *)msg.rest.at + push.off_bytes);
    return text;
}

static void say_pushed(unsigned door, bool is_over)
{
    tool_rig_say(
        door, &(struct job_door){.kind = JOB_DOOR_PUSHED, .is_over = is_over});
    tool_rig_settle();
}

static void check_answer(unsigned nth, void *call, enum px_lib_answer answer)
{
    assert_int_equal(tool_rig.pushes, nth + 1);
    assert_ptr_equal(tool_rig.push_calls[nth], call);
    assert_int_equal(tool_rig.push_answers[nth], answer);
}

/* The set is sent once, as long as it is the same; a call is answered by the
 * session, and the next one waits for that. */
static void in_order(void **state)
{
    int a, b, c;

    (void)state;
    push_to("one", 2, "hello", false, &a);
    push_to("one", 2, "world", false, &b);
    push_to("one", PX_LIB_ALL, "", true, &c);
    tool_rig_attach(FIRST, "one");
    assert_string_equal(heard(FIRST), "1 12-12!:hello");
    assert_true(tool_rig_is_silent(FIRST));
    assert_int_equal(tool_rig.pushes, 0);
    say_pushed(FIRST, false);
    check_answer(0, &a, PX_LIB_YES);
    assert_string_equal(heard(FIRST), "0!:world");
    say_pushed(FIRST, false);
    check_answer(1, &b, PX_LIB_YES);
    assert_string_equal(heard(FIRST), "5 10-13:");
    push_to("one", 1, "late", false, &a);
    assert_true(tool_rig_is_silent(FIRST));
    say_pushed(FIRST, false);
    check_answer(2, &c, PX_LIB_YES);
    assert_string_equal(heard(FIRST), "1 11-11!:late");
    say_pushed(FIRST, false);
    check_answer(3, &a, PX_LIB_YES);
    assert_int_equal(tool_rig.count, 2);
}

/* A long call takes several messages, and its end comes with the last. */
static void in_pieces(void **state)
{
    char text[131] = "";
    int a;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    push_to("one", 0, text, true, &a);
    tool_rig_attach(FIRST, "one");
    assert_int_equal(strlen(heard(FIRST)), strlen("1 10-10!+:") + 52);
    say_pushed(FIRST, false);
    assert_int_equal(strlen(heard(FIRST)), strlen("0!+:") + 60);
    say_pushed(FIRST, false);
    assert_int_equal(tool_rig.pushes, 0);
    assert_string_equal(heard(FIRST), "4!:xxxxxxxxxxxxxxxxxx");
    say_pushed(FIRST, false);
    check_answer(0, &a, PX_LIB_YES);
}

/* A set that does not fit into a message continues in the next one, and the
 * bytes follow it. */
static void wide_set(void **state)
{
    struct px_lib_name targets[2] = {{"one", 0}, {"one", 2}};
    int a;

    (void)state;
    px_pushing_on_push(pushing, &(struct px_lib_push){.targets = targets,
                                                      .count = 2,
                                                      .mem = "abc",
                                                      .len_bytes = 3,
                                                      .call = &a});
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_HELLO);
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_ATTACH);
    tool_rig_say(FIRST, &(struct job_door){.kind = JOB_DOOR_JOB,
                                           .first = 10,
                                           .count = 4,
                                           .push_bytes = 13,
                                           .text = "one"});
    assert_string_equal(heard(FIRST), "3 10-10!+:");
    say_pushed(FIRST, false);
    assert_string_equal(heard(FIRST), "0 12-12!+:a");
    say_pushed(FIRST, false);
    assert_string_equal(heard(FIRST), "0!:bc");
    say_pushed(FIRST, false);
    check_answer(0, &a, PX_LIB_YES);
}

/* A push to two jobs is answered when both have answered, and succeeds when one
 * accepts it; a push for the second job alone does not wait for the first. */
static void two_jobs(void **state)
{
    struct px_lib_name targets[2] = {{"one", 0}, {"two", PX_LIB_ALL}};
    int a, b;

    (void)state;
    px_pushing_on_push(pushing, &(struct px_lib_push){.targets = targets,
                                                      .count = 2,
                                                      .mem = "x",
                                                      .len_bytes = 1,
                                                      .call = &a});
    push_to("two", PX_LIB_ALL, "y", false, &b);
    tool_rig_attach(FIRST, "one");
    tool_rig_attach(FIRST + 1, "two");
    assert_string_equal(heard(FIRST), "1 10-10!:x");
    assert_string_equal(heard(FIRST + 1), "1 20-21:x");
    say_pushed(FIRST + 1, false);
    assert_string_equal(heard(FIRST + 1), "0:y");
    say_pushed(FIRST + 1, false);
    check_answer(0, &b, PX_LIB_YES);
    say_pushed(FIRST, true);
    check_answer(1, &a, PX_LIB_YES);
}

/* No target reads any longer, or the job is forgotten. */
static void over(void **state)
{
    int a, b, c;

    (void)state;
    push_to("one", 0, "x", false, &a);
    push_to("one", 1, "y", false, &b);
    tool_rig_attach(FIRST, "one");
    assert_string_equal(heard(FIRST), "1 10-10!:x");
    say_pushed(FIRST, true);
    check_answer(0, &a, PX_LIB_IS_COMPLETE);
    assert_string_equal(heard(FIRST), "1 11-11!:y");
    tool_rig_hang_up(FIRST);
    tool_rig_settle();
    check_answer(1, &b, PX_LIB_IS_COMPLETE);
    push_to("one", 1, "z", false, &c);
    tool_rig_attach(FIRST + 1, "one");
    assert_string_equal(heard(FIRST + 1), "1 11-11!:z");
}

/* These pushes are refused at once. */
static void refused(void **state)
{
    struct px_lib_push push = {.strange = "no.such", .call = &push};

    (void)state;
    push_to("none", 0, "x", false, NULL);
    check_answer(0, NULL, PX_LIB_NOT_FOUND);
    push_to("one", 4, "x", false, NULL);
    check_answer(1, NULL, PX_LIB_NOT_FOUND);
    push_to("one", PX_LIB_UNDEFINED, "x", false, NULL);
    check_answer(2, NULL, PX_LIB_NOT_SUPPORTED);
    px_pushing_on_push(pushing, &push);
    check_answer(3, &push, PX_LIB_NOT_SUPPORTED);
    push.strange = NULL;
    px_pushing_on_push(pushing, &push);
    check_answer(4, &push, PX_LIB_BAD_PARAM);
    assert_int_equal(tool_rig.count, 1);
}

/* Stdin that the library collects ends for good with PMIX_IOF_COMPLETE. */
static void completed(void **state)
{
    struct px_lib_name target = {"one", 0};
    struct px_lib_push push = {.targets = &target,
                               .count = 1,
                               .mem = "x",
                               .len_bytes = 1,
                               .is_collected = true};

    (void)state;
    push_to("one", 1, "last", true, NULL);
    px_pushing_on_push(pushing, &push);
    check_answer(0, NULL, PX_LIB_IS_COMPLETE);
}

/* Stdin that the library collects goes to the targets that are left. */
static void collected(void **state)
{
    struct px_lib_name targets[2] = {{"one", 0}, {"one", 2}};

    (void)state;
    px_pushing_on_push(pushing, &(struct px_lib_push){.targets = targets,
                                                      .count = 2,
                                                      .mem = "x",
                                                      .len_bytes = 1,
                                                      .is_collected = true});
    tool_rig_attach(FIRST, "one");
    assert_string_equal(heard(FIRST), "1 10-10 12-12:x");
}

/* --- processes on this machine */

static void say_part(uint32_t part, uint32_t first, const char *host)
{
    struct job_door msg = {
        .kind = JOB_DOOR_PART, .parts = part, .first = first, .count = 2};

    snprintf(msg.text, sizeof(msg.text), "%s", host);
    tool_rig_say(FIRST, &msg);
}

static void attach_parts(uint32_t parts)
{
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_HELLO);
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_ATTACH);
    tool_rig_say(FIRST, &(struct job_door){.kind = JOB_DOOR_JOB,
                                           .first = 10,
                                           .count = 4,
                                           .parts = parts,
                                           .push_bytes = MESSAGE,
                                           .text = "one"});
}

/* The processes on this machine are requested once, and later pushes wait. */
static void local(void **state)
{
    struct px_lib_name targets[2] = {{"one", 0}, {"one", PX_LIB_LOCAL_NODE}};
    char here[JOB_DOOR_TEXT_MAX] = "";
    int a, b, c;

    (void)state;
    assert_int_equal(gethostname(here, sizeof(here) - 1), 0);
    px_pushing_on_push(pushing, &(struct px_lib_push){.targets = targets,
                                                      .count = 2,
                                                      .mem = "x",
                                                      .len_bytes = 1,
                                                      .call = &a});
    push_to("one", 1, "y", false, &b);
    attach_parts(2);
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_WHERE);
    say_part(0, 10, "elsewhere");
    say_part(1, 12, here);
    assert_string_equal(heard(FIRST), "1 10-10 12-13:x");
    say_pushed(FIRST, false);
    check_answer(0, &a, PX_LIB_YES);
    assert_string_equal(heard(FIRST), "1 11-11!:y");
    push_to("one", PX_LIB_LOCAL_PEERS, "z", false, &c);
    say_pushed(FIRST, false);
    check_answer(1, &b, PX_LIB_YES);
    assert_string_equal(heard(FIRST), "1 12-13:z");
}

static void nobody_local(void **state)
{
    int a, b;

    (void)state;
    push_to("one", PX_LIB_LOCAL_NODE, "x", false, &a);
    push_to("one", PX_LIB_ALL, "y", false, &b);
    attach_parts(2);
    assert_int_equal(tool_rig_hear(FIRST).kind, JOB_DOOR_WHERE);
    say_part(0, 10, "elsewhere");
    say_part(1, 12, "there");
    assert_string_equal(heard(FIRST), "1 10-13:y");
    check_answer(0, &a, PX_LIB_NOT_FOUND);
}

/* 16 MiB may wait; a larger push is refused, and a tool that goes on pushing is
 * disconnected. */
static void flood(void **state)
{
    struct px_lib_name target = {"one", 0};
    struct px_lib_push push = {.targets = &target,
                               .count = 1,
                               .mem = "",
                               .len_bytes = PX_PUSH_WAITING_BYTES + 1,
                               .call = &push};

    (void)state;
    px_pushing_on_push(pushing, &push);
    check_answer(0, &push, PX_LIB_NO_RESOURCE);
    assert_int_equal(floods, 0);
    push.len_bytes = PX_PUSH_WAITING_BYTES;
    px_pushing_on_push(pushing, &push);
    assert_int_equal(tool_rig.pushes, 1);
    assert_true(tool_rig.is_slow);
    push.len_bytes = 1;
    px_pushing_on_push(pushing, &push);
    check_answer(1, &push, PX_LIB_NO_RESOURCE);
    assert_int_equal(floods, 1);
    /* Once a push is answered there is room again. */
    tool_rig_hang_up(FIRST);
    tool_rig_settle();
    check_answer(2, &push, PX_LIB_IS_COMPLETE);
    assert_false(tool_rig.is_slow);
    push.len_bytes = PX_PUSH_WAITING_BYTES;
    px_pushing_on_push(pushing, &push);
    assert_int_equal(tool_rig.pushes, 3);
}

/* The memory of a push that was answered is not read again. */
static void answered(void **state)
{
    struct px_lib_name target = {"nobody", 0};
    struct px_lib_push push = {.targets = &target,
                               .count = 1,
                               .mem = "x",
                               .len_bytes = 1,
                               .call = &push};

    (void)state;
    push_to("one", 0, "waits", false, &target);
    tool_rig.forgets = &push;
    px_pushing_on_push(pushing, &push);
    check_answer(0, &push, PX_LIB_NOT_FOUND);
    assert_int_equal(floods, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_order),  TEST(in_pieces), TEST(wide_set),     TEST(two_jobs),
        TEST(over),      TEST(refused),   TEST(completed),    TEST(flood),
        TEST(collected), TEST(local),     TEST(nobody_local), TEST(answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
