/* Queries of a tool: each key and qualifier, its answer, and the questions to
 * the launcher that it needs. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include <stdio.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/describer.h"
#include "pmix_api/helper/query.h"
#include "tests/unit/ask_rig.h"

enum { SIZE = 6 };

static struct px_describer *describer;
static struct px_queries *queries;
static char here[256];

static void on_word(const struct job_door *msg)
{
    px_describer_on_word(describer, msg);
}

static int set_up(void **state)
{
    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    if (px_describer_open(tool_rig.jobs, &describer) != 0 ||
        px_queries_open(tool_rig.jobs, describer, &queries) != 0)
        return 1;
    tool_rig.on_word = on_word;
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_BEGUN,
                                       .count = SIZE,
                                       .channels = 6,
                                       .text = "own"});
    tool_rig_settle();
    gethostname(here, sizeof(here) - 1);
    (void)ask_rig_answers();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    px_describer_close(describer);
    px_queries_close(queries);
    tool_rig_end();
    return 0;
}

/* --- the launcher */

static void say_place(uint32_t first, uint32_t count, const char *host,
                      const char *program)
{
    struct job_door msg = {
        .kind = JOB_DOOR_PLACE, .first = first, .count = count, .host = host};

    strcpy(msg.text, program);
    tool_rig_say(0, &msg);
}

static void say_numbers(uint8_t kind, uint32_t first, uint32_t count,
                        const uint32_t *numbers)
{
    uint8_t mem[4 * SIZE];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    for (uint32_t i = 0; i < count; i++)
        ov_wr_u32(&wr, numbers[i]);
    tool_rig_say(
        0, &(struct job_door){.kind = kind,
                              .first = first,
                              .rest = ov_rd_init(mem, 4 * (size_t)count)});
}

static void say_command(const char *command)
{
    struct job_door msg = {.kind = JOB_DOOR_DESCRIBED};

    snprintf(msg.text, sizeof(msg.text), "%s", command);
    tool_rig_say(0, &msg);
    tool_rig_settle();
}

static void say_end(bool is_over)
{
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_DESCRIBED, .is_over = is_over});
    tool_rig_settle();
}

/* Checks that the launcher is asked for this job, and for no other. */
static void hear_describe(uint32_t base)
{
    struct job_door msg = tool_rig_hear(0);

    assert_int_equal(msg.kind, JOB_DOOR_DESCRIBE);
    assert_int_equal(msg.base, base);
    assert_true(tool_rig_is_silent(0));
}

/* Describes two processes here, two on "~other", two on "-third" of another
 * program; the last one was not started, two have ended. */
static void describe_own(void)
{
    static const uint32_t pids[SIZE] = {100, 101, 102, 103, 104, 0};
    static const uint32_t exits[SIZE] = {
        JOB_DOOR_RUNS, 7 << 8, JOB_DOOR_RUNS, 9, JOB_DOOR_RUNS, JOB_DOOR_RUNS};

    hear_describe(0);
    say_place(0, 2, here, "a.out");
    say_numbers(JOB_DOOR_EXITS, 0, 4, exits);
    say_numbers(JOB_DOOR_PIDS, 0, SIZE, pids);
    say_place(2, 2, "~other", "a.out");
    say_place(4, 2, "-third", "b.out");
    say_numbers(JOB_DOOR_EXITS, 4, 2, exits + 4);
    say_command("a.out x : b.out");
}

static void describe_small(uint32_t base, uint32_t size, const char *program)
{
    static const uint32_t exits[SIZE] = {0};

    hear_describe(base);
    say_place(base, size, here, program);
    say_numbers(JOB_DOOR_EXITS, base, size, exits);
    say_command(program);
}

static void ask(const char *text)
{
    px_queries_on_query(queries, ask_rig_query(text));
}

/* Compares the answers; %H stands for this host. */
static void check_answers(const char *want)
{
    char text[4096] = "";

    for (size_t len = 0; *want != '\0'; want++) {
        if (strncmp(want, "%H", 2) == 0) {
            len += (size_t)sprintf(text + len, "%s", here);
            want++;
        } else {
            text[len++] = *want;
            text[len] = '\0';
        }
    }
    assert_string_equal(ask_rig_answers(), text);
}

/* Checks that a query is refused with this answer, after the launcher has
 * described the session's own job. */
static void check_refused(const char *text, bool needs_table,
                          enum px_lib_answer why)
{
    const unsigned before = tool_rig.pushes;

    ask(text);
    if (needs_table)
        describe_own();
    assert_true(tool_rig_is_silent(0));
    check_answers("");
    assert_int_equal(tool_rig.pushes, before + 1);
    assert_int_equal(tool_rig.push_answers[before], why);
}

/* --- keys */

#define ROW0 "(own/0 %H a.out 100 running 0)"
#define ROW1 "(own/1 %H a.out 101 ended 7)"
#define ROW2 "(own/2 ~other a.out 102 running 0)"
#define ROW3 "(own/3 ~other a.out 103 killed 137)"
#define ROW4 "(own/4 -third b.out 104 running 0)"
#define ROW5 "(own/5 -third b.out 0 starting 0)"

/* Each process with all facts, for all processes and for those of this host. */
static void tables(void **state)
{
    (void)state;
    ask("pmix.qry.ptable pmix.qry.lptable");
    describe_own();
    check_answers("YES {pmix.qry.ptable=" ROW0 ROW1 ROW2 ROW3 ROW4 ROW5
                  "}{pmix.qry.lptable=" ROW0 ROW1 "}\n");
}

/* The processes of one host are listed: of this host when none is named. */
static void local_ones(void **state)
{
    (void)state;
    ask("pmix.lpeers pmix.lprocs pmix.local.size | pmix.lpeers pmix.local.size "
        "pmix.hname=~other");
    describe_own();
    check_answers("YES {pmix.lpeers=0,1}{pmix.lprocs=(own/0)(own/1)}"
                  "{pmix.local.size=2:u32}{pmix.lpeers=2,3}"
                  "{pmix.local.size=2:u32}\n");
    ask("pmix.nspace=one pmix.lpeers pmix.lprocs pmix.qry.lptable "
        "pmix.local.size");
    hear_describe(10);
    say_place(10, 4, "nowhere", "x");
    say_end(false);
    check_answers("PARTIAL {pmix.local.size=0:u32}\n");
}

/* Keys that need no question to the launcher are answered at once. */
static void known_ones(void **state)
{
    (void)state;
    ask("pmix.job.size pmix.qry.ns pmix.qry.spawn pmix.qry.debug "
        "pmix.qry.rfsh=1");
    check_answers("YES {pmix.job.size=6:u32}{pmix.qry.ns=one,two,own}"
                  "{pmix.qry.spawn=spawn,keys}{pmix.qry.debug=}\n");
    ask("pmix.qry.keys");
    check_answers("YES {pmix.qry.keys=pmix.qry.ns,pmix.qry.nsinfo,pmix.qry.jst,"
                  "pmix.qry.ptable,pmix.qry.lptable,pmix.qry.spawn,"
                  "pmix.qry.debug,pmix.qry.keys,pmix.lpeers,pmix.lprocs,"
                  "pmix.local.size,pmix.job.size,pmix.exit.code}\n");
    assert_true(tool_rig_is_silent(0));
}

/* The session's own job is named even when it is over, other jobs are not. */
static void namespaces_that_have_not_ended(void **state)
{
    (void)state;
    for (uint32_t base = 0; base <= 20; base += 20)
        tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_STAGE,
                                           .base = base,
                                           .reason = JOB_DOOR_OVER});
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_STAGE,
                                       .base = 10,
                                       .reason = JOB_DOOR_RUNNING});
    tool_rig_settle();
    ask("pmix.qry.ns");
    check_answers("YES {pmix.qry.ns=one,own}\n");
}

/* Each job with its command line, or only one job; a single place of each is
 * requested, and daemons are no job. */
static void namespace_infos(void **state)
{
    (void)state;
    ask("pmix.qry.nsinfo");
    describe_small(10, 4, "first");
    describe_small(20, 2, "second");
    describe_own();
    check_answers("YES {pmix.qry.nsinfo="
                  "{pmix.job.arr={pmix.nspace=one}{pmix.cmd.line=first}}"
                  "{pmix.job.arr={pmix.nspace=two}{pmix.cmd.line=second}}"
                  "{pmix.job.arr={pmix.nspace=own}"
                  "{pmix.cmd.line=a.out x : b.out}}}\n");
    ask("pmix.nspace=two pmix.qry.nsinfo");
    describe_small(20, 2, "second");
    check_answers("YES {pmix.qry.nsinfo={pmix.job.arr={pmix.nspace=two}"
                  "{pmix.cmd.line=second}}}\n");
    check_refused("pmix.nspace=dvm pmix.qry.nsinfo", false, PX_LIB_NOT_FOUND);
    /* A job that is named is described completely; both keys use one table. */
    ask("pmix.nspace=two pmix.qry.nsinfo pmix.lpeers");
    describe_small(20, 2, "second");
    check_answers("YES {pmix.qry.nsinfo={pmix.job.arr={pmix.nspace=two}"
                  "{pmix.cmd.line=second}}}"
                  "{pmix.lpeers=0,1}\n");
    ask("pmix.nspace=two pmix.lpeers | pmix.nspace=two pmix.qry.nsinfo | "
        "pmix.nspace=one pmix.qry.nsinfo");
    hear_describe(20);
    say_place(20, 1, here, "second");
    say_place(21, 1, here, "third");
    say_command("second");
    describe_small(10, 4, "first");
    check_answers(
        "YES {pmix.lpeers=0,1}{pmix.qry.nsinfo={pmix.job.arr={pmix.nspace=two}"
        "{pmix.cmd.line=second}}}"
        "{pmix.qry.nsinfo={pmix.job.arr={pmix.nspace=one}"
        "{pmix.cmd.line=first}}}\n");
}

/* A job is over when all its processes have ended, or when the session says
 * so. */
static void states_of_jobs(void **state)
{
    (void)state;
    ask("pmix.qry.jst");
    describe_own();
    check_answers("YES {pmix.qry.jst=START}\n");
    ask("pmix.nspace=two pmix.qry.jst");
    describe_small(20, 2, "x");
    check_answers("YES {pmix.qry.jst=END}\n");
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_STAGE, .reason = JOB_DOOR_OVER});
    tool_rig_settle();
    ask("pmix.qry.jst");
    describe_own();
    check_answers("YES {pmix.qry.jst=END}\n");
}

/* The exit code is that of one process, which has ended. */
static void exit_codes(void **state)
{
    (void)state;
    ask("pmix.rank=1 pmix.exit.code | pmix.procid=own/3 pmix.exit.code");
    describe_own();
    check_answers("YES {pmix.exit.code=7:int}{pmix.exit.code=137:int}\n");
    check_refused("pmix.rank=2 pmix.exit.code", true, PX_LIB_NOT_FOUND);
    check_refused("pmix.exit.code", true, PX_LIB_BAD_PARAM);
    check_refused("pmix.rank=-2 pmix.exit.code", true, PX_LIB_BAD_PARAM);
    check_refused("pmix.rank=1 pmix.hname=~other pmix.exit.code", true,
                  PX_LIB_NOT_FOUND);
}

/* The daemons of a dvm: they run, and their pids are not known. */
static void daemons(void **state)
{
    (void)state;
    ask("pmix.nspace=dvm pmix.qry.ptable pmix.qry.jst");
    hear_describe(30);
    say_place(30, 1, "a", "xylemd");
    say_place(31, 1, "b", "xylemd");
    say_end(false);
    check_answers("YES {pmix.qry.ptable=(dvm/0 a xylemd 0 running 0)"
                  "(dvm/1 b xylemd 0 running 0)}{pmix.qry.jst=START}\n");
}

/* --- qualifiers */

/* All qualifiers apply, whatever their order. */
static void qualifiers(void **state)
{
    static const char *const asks[][2] = {
        {"pmix.rank=3", ROW3},
        {"pmix.rank=3 pmix.nspace=own", ROW3},
        {"pmix.nspace=own pmix.rank=3 pmix.procid=own/3", ROW3},
        {"pmix.procid=own/-2 pmix.rank=3", ROW3},
        {"pmix.procid=/-1 pmix.rank=3", ROW3},
        {"pmix.hname=~other", ROW2 ROW3},
        {"pmix.hname=~other pmix.rank=3", ROW3},
        {"pmix.rank=3 pmix.nodeid=2 pmix.hname=~other", ROW3},
        {"pmix.nodeid=0",
         ROW4 ROW5}, /* hosts are in the order of their names */
        {"pmix.nodeid=1", ROW0 ROW1},
        /* All named hosts count, as RFC 0010 says. */
        {"pmix.nodeid=0 pmix.nodeid=1", ROW0 ROW1 ROW4 ROW5},
        {"pmix.hname=~other pmix.nodeid=0", ROW2 ROW3 ROW4 ROW5},
        {"pmix.hname=~other pmix.nodeid=0 pmix.rank=4", ROW4},
        {"no.such=x pmix.rank=0 !pmix.qry.rfsh=#", ROW0},
    };
    char text[256], want[1024];

    (void)state;
    for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        snprintf(text, sizeof(text), "%s pmix.qry.ptable", asks[i][0]);
        snprintf(want, sizeof(want), "YES {pmix.qry.ptable=%s}\n", asks[i][1]);
        ask(text);
        describe_own();
        check_answers(want);
    }
}

/* These qualifiers name unknown jobs or processes, none at all, or contradict
 * each other. */
static void qualifiers_that_make_no_sense(void **state)
{
    static const struct {
        const char *text;
        bool needs_table;
        enum px_lib_answer why;
    } asks[] = {
        {"pmix.nspace=nobody", false, PX_LIB_NOT_FOUND},
        {"pmix.procid=nobody/0", false, PX_LIB_NOT_FOUND},
        {"pmix.nspace=own pmix.nspace=one", false, PX_LIB_BAD_PARAM},
        {"pmix.procid=one/0 pmix.nspace=own", false, PX_LIB_BAD_PARAM},
        {"pmix.nspace=#", false, PX_LIB_BAD_PARAM},
        {"pmix.procid=#", false, PX_LIB_BAD_PARAM},
        {"pmix.rank=#", false, PX_LIB_BAD_PARAM},
        {"pmix.hname=#", false, PX_LIB_BAD_PARAM},
        {"pmix.nodeid=#", false, PX_LIB_BAD_PARAM},
        {"pmix.nodeid=size", false, PX_LIB_BAD_PARAM},
        {"pmix.rank=6", true, PX_LIB_NOT_FOUND},
        {"pmix.procid=own/6", true, PX_LIB_NOT_FOUND},
        {"pmix.rank=1 pmix.procid=own/2", true, PX_LIB_BAD_PARAM},
        {"pmix.rank=1 pmix.rank=2", true, PX_LIB_BAD_PARAM},
        {"pmix.hname=nowhere", true, PX_LIB_NOT_FOUND},
        {"pmix.nodeid=3", true, PX_LIB_NOT_FOUND},
        {"pmix.hname=~other pmix.hname=nowhere", true, PX_LIB_NOT_FOUND},
        {"pmix.rank=0 pmix.hname=~other", true, PX_LIB_NOT_FOUND},
        {"!no.such=x", true, PX_LIB_NOT_SUPPORTED},
    };

    char text[128];

    (void)state;
    for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        snprintf(text, sizeof(text), "%s pmix.qry.ptable", asks[i].text);
        check_refused(text, asks[i].needs_table, asks[i].why);
    }
    /* These qualifiers are checked even for keys that are not about a job. */
    check_refused("pmix.nspace=nobody pmix.qry.ns", false, PX_LIB_NOT_FOUND);
    check_refused("pmix.hname=nowhere pmix.job.size", true, PX_LIB_NOT_FOUND);
    ask("pmix.nodeid=0 pmix.job.size");
    describe_own();
    check_answers("YES {pmix.job.size=6:u32}\n");
}

/* Some of several keys are known; when none is, the first one decides the
 * answer. */
static void some_are_known(void **state)
{
    (void)state;
    ask("no.such pmix.job.size | pmix.nspace=nobody pmix.qry.ns");
    check_answers("PARTIAL {pmix.job.size=6:u32}\n");
    check_refused("no.such | pmix.nspace=nobody pmix.qry.ns", false,
                  PX_LIB_NOT_SUPPORTED);
    check_refused("pmix.nspace=nobody pmix.qry.ns | no.such", false,
                  PX_LIB_NOT_FOUND);
}

/* --- several queries */

/* Each query waits for the one before; the launcher is asked once for a job
 * that several keys of a query are about, and again for another query. */
static void in_their_turn(void **state)
{
    (void)state;
    ask("pmix.lpeers | pmix.qry.jst | pmix.nspace=two pmix.lpeers");
    ask("pmix.job.size");
    ask("pmix.rank=0 pmix.qry.ptable");
    check_answers("");
    describe_own();
    check_answers("");
    describe_small(20, 2, "x");
    check_answers("YES {pmix.lpeers=0,1}{pmix.qry.jst=START}{pmix.lpeers=0,1}\n"
                  "YES {pmix.job.size=6:u32}\n");
    describe_own();
    check_answers("YES {pmix.qry.ptable=" ROW0 "}\n");
    assert_true(tool_rig_is_silent(0));
}

static void check_gone(void)
{
    const unsigned before = tool_rig.pushes;

    ask("pmix.qry.nsinfo");
    hear_describe(0);
    say_end(true);
    check_answers("");
    assert_int_equal(tool_rig.push_answers[before], PX_LIB_NOT_FOUND);
}

/* A job is forgotten while its table is requested, or while that of another job
 * is. */
static void gone_meanwhile(void **state)
{
    (void)state;
    ask("pmix.nspace=two pmix.qry.ptable pmix.job.size");
    hear_describe(20);
    say_place(20, 1, here, "x");
    say_end(true);
    check_answers("PARTIAL {pmix.job.size=2:u32}\n");
    ask("pmix.nspace=one pmix.qry.jst | pmix.nspace=two pmix.lpeers");
    hear_describe(10);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = 20});
    say_place(10, 4, here, "x");
    say_end(false);
    check_answers("PARTIAL {pmix.qry.jst=START}\n");
    ask("pmix.qry.nsinfo");
    hear_describe(10);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN, .base = 10});
    say_end(true);
    describe_own();
    check_answers("YES {pmix.qry.nsinfo={pmix.job.arr={pmix.nspace=own}"
                  "{pmix.cmd.line=a.out x : b.out}}}\n");
    /* The answer to the last query comes before that message. */
    check_gone();
}

/* Without the session's own job, only keys about another job, or about none,
 * have answers. */
static void own_job_is_forgotten(void **state)
{
    (void)state;
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN});
    tool_rig_settle();
    ask("pmix.qry.ns | pmix.job.size pmix.qry.ptable | pmix.rank=0 pmix.qry.ns "
        "| pmix.nspace=one pmix.job.size");
    check_answers("PARTIAL {pmix.qry.ns=one,two}{pmix.job.size=4:u32}\n");
    check_refused("pmix.hname=x pmix.qry.ns", false, PX_LIB_NOT_FOUND);
}

/* The launcher's answer makes no sense: the tool is told no part of it. */
static void bad_words(void **state)
{
    (void)state;
    ask("pmix.qry.ptable");
    hear_describe(0);
    say_place(0, SIZE + 1, here, "x");
    say_place(0, SIZE, here, "x");
    say_end(false);
    check_answers("");
    assert_int_equal(tool_rig.push_answers[0], PX_LIB_NO_RESOURCE);
    say_end(false); /* the session answers without a question */
    say_place(0, 1, here, "x");
    ask("pmix.job.size");
    check_answers("YES {pmix.job.size=6:u32}\n");
}

/* Queries that were answered do not count. */
static void many(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PX_QUERIES_MAX + 10; i++) {
        ask("pmix.job.size");
        check_answers("YES {pmix.job.size=6:u32}\n");
    }
}

/* Only a limited number of queries may wait. At the end none of them is
 * answered. */
static void too_many(void **state)
{
    const struct px_lib_query *query = ask_rig_query("pmix.qry.ptable");

    (void)state;
    for (unsigned i = 0; i < PX_QUERIES_MAX; i++)
        px_queries_on_query(queries, query);
    assert_int_equal(tool_rig.pushes, 0);
    px_queries_on_query(queries, query);
    assert_int_equal(tool_rig.pushes, 1);
    assert_int_equal(tool_rig.push_answers[0], PX_LIB_NO_RESOURCE);
    hear_describe(0);
    say_place(0, 1, here, "x"); /* the end comes in the middle of an answer */
    tool_rig_settle();
}

/* The list for tools that ask what is supported: keys, and qualifiers. */
static void all_keys(void **state)
{
    const char *const *keys = px_queries_keys();
    unsigned count = 0;

    (void)state;
    while (keys[count] != NULL)
        count++;
    assert_int_equal(count, 13 + 6);
    assert_string_equal(keys[0], "pmix.qry.ns");
    assert_string_equal(keys[13], "pmix.nspace");
    assert_string_equal(keys[18], "pmix.qry.rfsh");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables),          TEST(local_ones),
        TEST(known_ones),      TEST(namespaces_that_have_not_ended),
        TEST(namespace_infos), TEST(states_of_jobs),
        TEST(exit_codes),      TEST(daemons),
        TEST(qualifiers),      TEST(qualifiers_that_make_no_sense),
        TEST(some_are_known),  TEST(in_their_turn),
        TEST(gone_meanwhile),  TEST(own_job_is_forgotten),
        TEST(bad_words),       TEST(many),
        TEST(too_many),        TEST(all_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
