/* The launcher is asked about one job after the other, whichever part of the
 * helper asks. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include "pmix_api/helper/describer.h"
#include "endpoints/client/table.h"

static struct px_describer *describer;
static struct asker {
    struct px_describer_user user;
    unsigned times;
    enum px_lib_answer answer;
    struct ep_table *table;
    const char *then; /* the next job that the user asks about */
} askers[3];

static void on_word(const struct job_door *msg)
{
    px_describer_on_word(describer, msg);
}

static void ask(struct asker *asker, const char *job)
{
    px_describer_ask(describer, &asker->user, px_jobs_find(tool_rig.jobs, job));
}

static void on_done(void *arg, enum px_lib_answer answer,
                    struct ep_table *table)
{
    struct asker *asker = arg;

    ep_table_close(asker->table);
    asker->answer = answer;
    asker->table = table;
    asker->times++;
    if (asker->then != NULL)
        ask(asker, asker->then);
    asker->then = NULL;
}

static int set_up(void **state)
{
    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    memset(askers, 0, sizeof(askers));
    for (unsigned i = 0; i < 3; i++)
        askers[i].user =
            (struct px_describer_user){.on_done = on_done, .arg = &askers[i]};
    if (px_describer_open(tool_rig.jobs, &describer) != 0)
        return 1;
    tool_rig.on_word = on_word;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        ep_table_close(askers[i].table);
    px_describer_close(describer);
    tool_rig_end();
    return 0;
}

/* Checks that one question has come to the launcher. */
static void hear(uint32_t base)
{
    struct job_door msg = tool_rig_hear(0);

    assert_int_equal(msg.kind, JOB_DOOR_DESCRIBE);
    assert_int_equal(msg.base, base);
    assert_true(tool_rig_is_silent(0));
}

static void say_end(bool is_over)
{
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_DESCRIBED, .is_over = is_over});
    tool_rig_settle();
}

static void say_place(uint32_t first, uint32_t count)
{
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_PLACE,
                                       .first = first,
                                       .count = count,
                                       .host = "a",
                                       .text = "x"});
}

/* Each user gets the table of its own job, in the order in which they asked. */
static void one_after_the_other(void **state)
{
    (void)state;
    ask(&askers[0], "one");
    ask(&askers[1], "two");
    ask(&askers[2], "one");
    askers[0].then = "two";
    hear(10);
    say_place(10, 4);
    say_end(false);
    assert_int_equal(askers[0].answer, PX_LIB_YES);
    assert_int_equal(ep_table_at(askers[0].table, 0)->count, 4);
    hear(20);
    say_place(20, 2);
    say_end(false);
    assert_int_equal(ep_table_at(askers[1].table, 0)->count, 2);
    hear(10);
    say_end(true);
    assert_int_equal(askers[2].answer, PX_LIB_NOT_FOUND);
    assert_null(askers[2].table);
    hear(20);
    say_place(20, 2);
    assert_int_equal(askers[0].times, 1);
    say_end(false);
    assert_int_equal(askers[0].times, 2);
    assert_int_equal(ep_table_at(askers[0].table, 0)->count, 2);
    assert_int_equal(askers[1].times, 1);
}

/* A table that lacks a part is not given to the user. */
static void part_of_it(void **state)
{
    (void)state;
    ask(&askers[0], "one");
    hear(10);
    say_place(10, 2);
    say_place(12, 3);
    say_place(12, 2);
    say_end(false);
    assert_int_equal(askers[0].answer, PX_LIB_NO_RESOURCE);
    assert_null(askers[0].table);
    say_place(10, 4); /* the session answers without a question */
    say_end(false);
    assert_int_equal(askers[0].times, 1);
}

/* The describer is closed in the middle of an answer. */
static void closed(void **state)
{
    (void)state;
    ask(&askers[0], "one");
    ask(&askers[1], "two");
    hear(10);
    say_place(10, 2);
    tool_rig_settle();
    assert_int_equal(askers[0].times, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_after_the_other),
        TEST(part_of_it),
        TEST(closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
