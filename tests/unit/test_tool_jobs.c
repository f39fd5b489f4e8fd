/* The main connection of a helper: jobs that begin and are forgotten, and the
 * name of the tool. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include "pmix_api/helper/scope.h"

static int set_up(void **state)
{
    (void)state;
    tool_rig_begin();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tool_rig_end();
    return 0;
}

/* A session that is busy is dialled again, and earlier messages then reach
 * it. */
static void busy(void **state)
{
    (void)state;
    tool_rig.is_busy = true;
    tool_rig_watch();
    assert_int_equal(tool_rig.watched, 1);
    assert_int_equal(px_jobs_find(tool_rig.jobs, "two")->base, 20);
    assert_null(px_jobs_find(tool_rig.jobs, "three"));
}

/* A job is forgotten, and a later one gets its name. */
static void come_and_go(void **state)
{
    (void)state;
    tool_rig_watch();
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_STAGE,
                                       .base = 20,
                                       .reason = JOB_DOOR_OVER});
    tool_rig_settle();
    assert_int_equal(px_jobs_find(tool_rig.jobs, "two")->stage, JOB_DOOR_OVER);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = 10});
    tool_rig_settle();
    assert_null(px_jobs_find(tool_rig.jobs, "one"));
    assert_int_equal(px_jobs_find(tool_rig.jobs, "two")->size, 2);
    for (uint32_t i = 0; i < 40; i++) {
        tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_BEGUN,
                                           .first = 40 + i,
                                           .count = 1,
                                           .text = "more"});
        tool_rig_settle();
    }
    assert_int_equal(px_jobs_find(tool_rig.jobs, "more")->base, 40);
    assert_int_equal(px_jobs_find_of(tool_rig.jobs, 41)->base, 41);
    assert_null(px_jobs_find_of(tool_rig.jobs, 10));
    assert_string_equal(px_jobs_at(tool_rig.jobs, 0)->name, "two");
    assert_int_equal(px_jobs_at(tool_rig.jobs, 41)->base, 79);
    assert_null(px_jobs_at(tool_rig.jobs, 42));
    assert_int_equal(tool_rig.ended, 0);
    tool_rig_hang_up(0);
    tool_rig_settle();
    assert_int_equal(tool_rig.ended, 1);
}

static void named(void **state)
{
    static const struct px_lib_name wanted = {"mine", 3};
    struct job_door msg;

    (void)state;
    tool_rig_watch();
    px_jobs_name(tool_rig.jobs, &wanted);
    msg = tool_rig_hear(0);
    assert_int_equal(msg.kind, JOB_DOOR_NAME);
    assert_int_equal(msg.first, 3);
    assert_string_equal(msg.text, "mine");
    tool_rig_say(0, &(struct job_door){
                        .kind = JOB_DOOR_NAMED, .first = 3, .text = "mine"});
    tool_rig_settle();
    assert_string_equal(tool_rig.named.nspace, "mine");
    assert_int_equal(tool_rig.named.rank, 3);
    px_jobs_name(tool_rig.jobs, NULL);
    assert_string_equal(tool_rig_hear(0).text, "");
    tool_rig_say(0,
                 &(struct job_door){.kind = JOB_DOOR_NAMED, .is_over = true});
    tool_rig_settle();
    assert_string_equal(tool_rig.named.nspace, "");
    assert_int_equal(tool_rig.named.rank, 1); /* the tool is told of no job */
}

/* All messages of a session are read, even if it ends without having read the
 * helper's own message. */
static void last_words(void **state)
{
    (void)state;
    tool_rig_watch();
    px_jobs_name(tool_rig.jobs, NULL);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = 10});
    tool_rig_close(0);
    tool_rig_settle();
    assert_null(px_jobs_find(tool_rig.jobs, "one"));
    assert_int_equal(tool_rig.ended, 1);
}

/* Names are sorted by job, each rank once. */
static void scopes(void **state)
{
    static const struct px_lib_name names[] = {
        {"two", 1}, {"one", 3}, {"two", 0}, {"one", 0}, {"one", 3}};
    struct px_scopes out;

    (void)state;
    tool_rig_watch();
    assert_int_equal(px_scopes_find(tool_rig.jobs, names, 5, &out), PX_LIB_YES);
    assert_int_equal(out.count, 2);
    assert_string_equal(out.at[0].job.name, "two");
    assert_int_equal(out.at[0].ranks.count, 1);
    assert_int_equal(out.at[0].ranks.items[0].last, 1);
    assert_int_equal(out.at[1].ranks.count, 2);
    assert_int_equal(topo_ranges_size(&out.at[1].ranks), 2);
    px_scopes_end(&out);
    assert_int_equal(px_scopes_find(tool_rig.jobs, names, 0, &out),
                     PX_LIB_BAD_PARAM);
    px_scopes_end(&out);
}

/* A note is cut, and gets no answer. */
static void notes(void **state)
{
    char text[JOB_DOOR_TEXT_MAX + 9];
    struct job_door msg;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    tool_rig_watch();
    px_jobs_note(tool_rig.jobs, "a %s", "word");
    msg = tool_rig_hear(0);
    assert_int_equal(msg.kind, JOB_DOOR_NOTE);
    assert_string_equal(msg.text, "a word");
    px_jobs_note(tool_rig.jobs, "%s", text);
    msg = tool_rig_hear(0);
    assert_int_equal(msg.kind, JOB_DOOR_NOTE);
    assert_int_equal(strlen(msg.text), JOB_DOOR_TEXT_MAX - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(busy),   TEST(come_and_go),
                                       TEST(named),  TEST(last_words),
                                       TEST(scopes), TEST(notes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
