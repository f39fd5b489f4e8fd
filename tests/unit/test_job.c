/* The text of a job: what is written can be read, and only valid texts are
 * accepted. */
#include "job/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "overlay/wire/frame.h"
#include "tests/unit/document.h"

/* Five ranks: 0 and 1 on node 1, 2 on node 2, 3 on node 3, 4 on node 5. */
#define HEAD "job 7 5 4\n" APP
#define APP                                                                    \
    "app\n"                                                                    \
    "ranks 1 1 2 0\n"                                                          \
    "ranks 2 3 1 2\n"                                                          \
    "ranks 5 5 1 4\n"

/* Decodes a copy of the text, because decoding overwrites it. */
static int read_text(const char *text, struct job *job)
{
    char *copy = strdup(text);
    int rc;

    assert_non_null(copy);
    rc = job_decode(copy, strlen(text), job);
    free(copy);
    return rc;
}

/* Each keyword of the protocol is read and written unchanged. */
static const char text[] = "job 7 5 4\nbase 9\n"
                           "stdin 0 1\n"
                           "stdin 4 4\n"
                           "stdin-slow spill 1048576\n"
                           "spill-dir /a%20c\n"
                           "raw\n"
                           "last-states\n"
                           "grep a%20b\n"
                           "grep c\n"
                           "grep-v ^d\n"
                           "head 1\n"
                           "tail 1000000000\n"
                           "rate 7\n"
                           "budget 18446744073709551615\n"
                           "merge-stderr\n"
                           "stddiag\n"
                           "open-ms 250\n"
                           "linger-ms 4294967295\n"
                           "cache 16777216 6\n"
                           "bind socket\n"
                           "cpus 0-3,8\n"
                           "cpus 4-7\n"
                           "umask 63\n"
                           "limit as 18446744073709551615\n"
                           "limit core 0\n"
                           "limit cpu 1\n"
                           "limit data 2\n"
                           "limit fsize 3\n"
                           "limit nofile 1024\n"
                           "limit nproc 5\n"
                           "limit rss 6\n"
                           "limit stack 8388608\n"
                           "env A=1\n"
                           "env B=%0A\n" APP "cwd /a%20b\n"
                           "cwd-optional\n"
                           "arg sh\n"
                           "arg %\n"
                           "env C=3\n";

static void check_app(const struct job_app *app)
{
    assert_string_equal(app->cwd, "/a b");
    assert_true(app->cwd_is_optional);
    assert_int_equal(app->argv.count, 2);
    assert_string_equal(app->argv.at[0], "sh");
    assert_string_equal(app->argv.at[1], "");
    assert_null(app->argv.at[2]);
    assert_int_equal(app->env.count, 1);
    assert_string_equal(app->env.at[0], "C=3");
}

static void what_is_read_is_written_again(void **state)
{
    struct text_buf again = {0};
    struct job job;

    (void)state;
    assert_int_equal(read_text(text, &job), 0);
    assert_int_equal(job.number, 7);
    assert_int_equal(job.base, 9);
    assert_int_equal(job.size, 5);
    assert_int_equal(job.nodes, 4);
    assert_true(job.is_raw && job.merges_stderr && job.has_stddiag);
    assert_int_equal(job_channels(&job),
                     1 << OV_CHANNEL_STDOUT | 1 << OV_CHANNEL_STDDIAG);
    assert_int_equal(job.slow, JOB_SLOW_SPILL);
    assert_int_equal(job.spill_bytes, 1 << 20);
    assert_string_equal(job.spill_dir, "/a c");
    assert_int_equal(job.open_ms, 250);
    assert_int_equal(job.linger_ms, UINT32_MAX);
    assert_int_equal(job.cache_bytes, 16 << 20);
    assert_int_equal(job.cache_channels, 6);
    assert_true(job.filter.keeps_last && job_filter_has_rules(&job.filter));
    assert_int_equal(job.filter.grep.count, 2);
    assert_string_equal(job.filter.grep.at[0], "a b");
    assert_string_equal(job.filter.grep_v.at[0], "^d");
    assert_int_equal(job.filter.head, 1);
    assert_int_equal(job.filter.tail, JOB_FILTER_LINES_MAX);
    assert_int_equal(job.filter.rate, 7);
    assert_int_equal(job.filter.budget_bytes, UINT64_MAX);
    assert_int_equal(job.manners.umask, 077);
    assert_int_equal(job.manners.soft[JOB_MANNERS_NOFILE], 1024);
    assert_int_equal(job.bind, TOPO_SOCKET);
    assert_int_equal(job.cpus.count, 2);
    assert_string_equal(job.cpus.at[0], "0-3,8");
    assert_int_equal(job.env.count, 2);
    assert_string_equal(job.env.at[1], "B=\n");
    assert_null(job.env.at[2]);
    assert_int_equal(job.apps_count, 1);
    check_app(&job.apps[0]);
    job_encode(&job, &again);
    assert_false(again.bad);
    assert_string_equal(again.at, text);
    text_buf_fini(&again);
    job_fini(&job);
}

/* Keywords that exclude others of the first text, and a job with as few lines
 * as possible. */
static void other_texts_are_written_again(void **state)
{
    static const char *const texts[] = {
        "job 0 1 1\nstdin-slow close 4294967295\nopen-ms 0\nlinger-ms 0\n"
        "bind core\napp\nranks 1 1 1 0\narg sh\n",
        "job 0 1 1\nopen-ms 0\nlinger-ms 0\napp\nranks 1 1 1 0\narg %\n",
        "job 4294967295 2 2\nspill-dir /\nopen-ms 1\nlinger-ms 2\n"
        "cache 1 14\nplaces 1 2 7\n"
        "app\nranks 1 1 1 0\ncwd %\narg a\n"
        "app\nranks 2 2 1 1\ncwd-optional\narg b\narg c\nenv A=\nenv A=%25\n",
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct text_buf again = {0};
        struct job job;

        assert_int_equal(read_text(texts[i], &job), 0);
        job_encode(&job, &again);
        assert_string_equal(again.at, texts[i]);
        text_buf_fini(&again);
        job_fini(&job);
    }
}

/* Returns the processes of a node as "0:0-1 1:4-5": program and ranks. */
static const char *on_node(const struct job *job, uint32_t node)
{
    static char out[128];
    struct job_part part = {0};
    uint32_t count = 0;
    int len = 0;

    out[0] = '\0';
    while (job_next_on_node(job, node, &part)) {
        len += sprintf(out + len, "%s%u:%u-%u", len > 0 ? " " : "", part.app,
                       part.first_rank, part.first_rank + part.count - 1);
        count += part.count;
    }
    assert_int_equal(job_on_node(job, node), count);
    return out;
}

/* Finds the ranks of a node, the node of a rank, and the ranks that read
 * stdin. */
static void ranks_are_found(void **state)
{
    static const char *const nodes[] = {"", "0:0-1", "0:2-2", "0:3-3",
                                        "", "0:4-4", ""};
    static const uint32_t node_of[] = {1, 1, 2, 3, 5, TOPO_NONE};
    static const bool reads[] = {false, true, true, false, true, false};
    struct job job;

    (void)state;
    assert_int_equal(
        read_text("job 7 5 4\nstdin 1 2\nstdin 4 4\n" APP "arg sh\n", &job), 0);
    for (uint32_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
        assert_string_equal(on_node(&job, i), nodes[i]);
    assert_string_equal(on_node(&job, TOPO_NONE), "");
    for (uint32_t rank = 0; rank < 6; rank++) {
        assert_int_equal(job_node_of(&job, rank, NULL), node_of[rank]);
        assert_int_equal(job_reads(&job, rank), reads[rank]);
    }
    assert_int_equal(job_node_of(&job, UINT32_MAX, NULL), TOPO_NONE);
    job_fini(&job);
}

/* The places 1 to 4 are the nodes 5, 2, 3 and 1. */
static void places_may_be_any_nodes(void **state)
{
    static const char moved[] = "job 7 6 4\nstdin 1 2\nstdin 5 5\n"
                                "open-ms 0\nlinger-ms 0\n"
                                "places 1 1 5\nplaces 2 3 2\nplaces 4 4 1\n"
                                "app\nranks 1 1 2 0\nranks 2 3 1 2\narg a\n"
                                "app\nranks 3 4 1 4\narg b\n";
    static const char *const nodes[] = {"", "1:5-5", "0:2-2", "0:3-3 1:4-4",
                                        "", "0:0-1"};
    static const uint32_t node_of[] = {5, 5, 2, 3, 3, 1, TOPO_NONE};
    static const uint32_t place_of[] = {TOPO_NONE, 4, 2, 3, TOPO_NONE, 1};
    struct topo_range items[8];
    struct topo_ranges set;
    struct text_buf again = {0};
    struct job job;
    char list[32];

    (void)state;
    assert_int_equal(read_text(moved, &job), 0);
    for (uint32_t node = 0; node < 6; node++) {
        assert_string_equal(on_node(&job, node), nodes[node]);
        assert_int_equal(job_place(&job, node), place_of[node]);
    }
    for (uint32_t rank = 0; rank < 7; rank++)
        assert_int_equal(job_node_of(&job, rank, NULL), node_of[rank]);
    topo_ranges_init(&set, items, 8);
    job_reader_nodes(&job, &set);
    topo_ranges_format(&set, list, sizeof(list));
    assert_string_equal(list, "1-2,5");
    job_encode(&job, &again);
    assert_string_equal(again.at, moved);
    text_buf_fini(&again);
    job_fini(&job);
}

/* The second program begins on the node of the first one, and the third begins
 * two nodes further on. */
#define THREE                                                                  \
    "job 7 9 5\n"                                                              \
    "env A=1\n"                                                                \
    "env B=1\n"                                                                \
    "app\nranks 1 1 2 0\nranks 2 2 1 2\narg a\n"                               \
    "app\nranks 2 4 1 3\narg b\nenv B=2\nenv C=2\nenv B=3\n"                   \
    "app\nranks 1 1 1 6\nranks 4 5 1 7\narg c\ncwd /\n"

static void programs_share_nodes(void **state)
{
    static const uint32_t app_of[] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    static const uint32_t node_of[] = {1, 1, 2, 2, 3, 4, 1, 4, 5};
    struct text_buf again = {0};
    struct job job;
    uint32_t app;

    (void)state;
    assert_int_equal(read_text(THREE, &job), 0);
    assert_string_equal(on_node(&job, 1), "0:0-1 2:6-6");
    assert_string_equal(on_node(&job, 2), "0:2-2 1:3-3");
    assert_string_equal(on_node(&job, 3), "1:4-4");
    assert_string_equal(on_node(&job, 4), "1:5-5 2:7-7");
    assert_string_equal(on_node(&job, 5), "2:8-8");
    for (uint32_t rank = 0; rank < 9; rank++) {
        assert_int_equal(job_node_of(&job, rank, &app), node_of[rank]);
        assert_int_equal(app, app_of[rank]);
    }
    assert_int_equal(job.apps_count, 3);
    assert_string_equal(job.apps[2].cwd, "/");
    assert_null(job.apps[1].cwd);
    job_encode(&job, &again);
    job_fini(&job);
    assert_int_equal(read_text(again.at, &job), 0);
    assert_string_equal(on_node(&job, 4), "1:5-5 2:7-7");
    text_buf_fini(&again);
    job_fini(&job);
}

static void what_a_program_sets_replaces_what_all_have(void **state)
{
    struct job job;
    const char **env;

    (void)state;
    assert_int_equal(read_text(THREE, &job), 0);
    env = job_app_env(&job, 0);
    assert_string_equal(env[0], "A=1");
    assert_string_equal(env[1], "B=1");
    assert_null(env[2]);
    free(env);
    env = job_app_env(&job, 1);
    assert_string_equal(env[0], "A=1");
    assert_string_equal(env[1], "C=2");
    assert_string_equal(env[2], "B=3");
    assert_null(env[3]);
    free(env);
    job_fini(&job);
}

static void there_are_so_many_programs_at_most(void **state)
{
    struct job job = {0};

    (void)state;
    for (uint32_t i = 0; i < JOB_APPS_MAX; i++)
        assert_int_equal(job_add_app(&job), 0);
    assert_int_equal(job_add_app(&job), OV_EFULL);
    job_fini(&job);
}

/* Texts that no launcher writes. A daemon that accepted one would run a part of
 * the job, or nothing, and not report it. */
#define ONE "app\nranks 1 1 1 0\n"
static const char *const wrong[] = {
    /* a place on the launcher */
    "job 7 2 2\nplaces 1 2 0\napp\nranks 1 2 1 0\narg a\n",
    /* a place is missing */
    "job 7 2 2\nplaces 1 1 1\napp\nranks 1 2 1 0\narg a\n",
    "job 7 2 2\nplaces 2 2 1\napp\nranks 1 2 1 0\narg a\n",
    "job 7 2 2\nplaces 1 1 1\nplaces 3 3 2\napp\nranks 1 2 1 0\narg a\n",
    "job 7 3 3\nplaces 1 2 2\nplaces 3 3 3\napp\nranks 1 3 1 0\narg a\n",
    "job 7 3 3\nplaces 1 2 4294967294\napp\nranks 1 2 1 0\narg a\n",
    "job 7 2 2\nplaces 2 1 1\napp\nranks 1 2 1 0\narg a\n",
    /* `places` comes too late */
    "job 7 2 2\napp\nplaces 1 2 1\nranks 1 2 1 0\narg a\n", "",
    "arg sh",                            /* the last line has no end */
    "job 7 1 1\n" ONE,                   /* the text has no program */
    "app\narg sh\n",                     /* the text has no job */
    "job 7 0 0\napp\narg sh\n",          /* the job has no process */
    "job 7 1 1\narg sh\n" ONE,           /* an argument before any program */
    "job 7 1 1\nranks 1 1 1 0\n",        /* ranks outside of a program */
    "job 7 1 1\ncwd /\n" ONE "arg sh\n", /* a directory outside of a program */
    "job 7 1 1\n" ONE "arg sh\nraw\n", /* a line of the job, within a program */
    "job 7 1 1\napp 1\nranks 1 1 1 0\narg sh\n",
    "job 7 1 1\n" ONE "arg sh\napp\n",         /* a program without any lines */
    "job 7 1 1\n" ONE "arg sh\napp\narg sh\n", /* a program that runs nowhere */
    HEAD "arg sh\nwhat 1\n",                   /* an unknown keyword */
    "open-ms 1\nopen-ms 1\n" HEAD "arg sh\n",  /* a keyword that comes twice */
    HEAD "arg sh\ncwd /\ncwd /\n",
    "raw 1\n" HEAD "arg sh\n",              /* a field too many */
    HEAD "arg sh\narg\n",                   /* a field too few */
    "open-ms -1\n" HEAD "arg sh\n",         /* not a number */
    "open-ms 4294967296\n" HEAD "arg sh\n", /* a number that is too large */
    "base 4294967291\n" HEAD "arg sh\n",    /* beyond the last process number */
    HEAD "arg a b\n",                       /* a space that is not quoted */
    "bind\n" HEAD "arg sh\n",
    "bind none\n" HEAD "arg sh\n", /* a job without binding has no such line */
    "umask 512\n" HEAD "arg sh\n",
    "limit core 0\n" HEAD "arg sh\n", /* other limits are not known */
    "umask 18\nlimit memlock 0\n" HEAD "arg sh\n",
    "umask 18\nlimit core -1\n" HEAD "arg sh\n",
    "bind core 1\n" HEAD "arg sh\n", "bind core\ncpus %\n" HEAD "arg sh\n",
    "bind core\ncpus 0;1\n" HEAD "arg sh\n",
    "bind core\ncpus -1\n" HEAD "arg sh\n",
    "stdin-slow drop 1\n" HEAD "arg sh\n",  /* an unknown policy */
    "stdin-slow spill 1\n" HEAD "arg sh\n", /* too few bytes */
    "stdin-slow spill 1099511627777\n" HEAD "arg sh\n",
    "stdin-slow close 0\n" HEAD "arg sh\n", /* a time of 0 */
    /* the last node is before the first */
    "job 7 1 1\napp\nranks 2 1 1 0\narg sh\n",
    /* the last node is before the first, in the first of two lines */
    "job 7 1 1\napp\nranks 2 1 1 0\nranks 2 2 1 0\narg sh\n",
    /* no process on a node */
    "job 7 1 2\napp\nranks 1 1 0 0\nranks 2 2 1 0\narg sh\n",
    "job 7 1 1\napp\nranks 0 0 1 0\narg sh\n", /* a process on the launcher */
    "job 7 1 1\napp\nranks 1 1 0 0\narg sh\n", /* no process on the only node */
    "job 7 1 1\napp\nranks 1 1 1 1\narg sh\n", /* rank 0 has no node */
    "job 7 2 1\n" ONE "arg sh\n",              /* rank 1 has no node */
    "job 7 1 1\napp\nranks 1 1 2 0\narg sh\n", /* the ranks are one too many */
    "job 7 1 2\n" ONE "arg sh\n",              /* the nodes are one too few */
    /* the nodes are one too few, with two programs */
    "job 7 2 2\n" ONE "arg a\napp\nranks 1 1 1 1\narg b\n",
    /* the nodes are one too many */
    "job 7 2 1\n" ONE "arg a\napp\nranks 2 2 1 1\narg b\n",
    /* both programs have the same rank */
    "job 7 2 1\n" ONE "arg a\n" ONE "arg b\n",
    "job 7 1 1\narg sh\n", /* no rank has a node */
    /* two programs of this form use a node twice */
    "job 7 2 2\n" ONE "ranks 1 1 1 1\narg sh\n",
    /* the nodes go back */
    "job 7 2 2\napp\nranks 2 2 1 0\nranks 1 1 1 1\narg sh\n",
    /* a rank that comes twice */
    "job 7 2 2\n" ONE "ranks 2 2 1 0\narg sh\n",
    "job 7 1 1\napp\nranks 4294967295 4294967295 1 0\narg sh\n",
    "job 7 1 4294967294\napp\nranks 1 4294967294 2147483649 0\narg sh\n",
    "stdin 2 1\n" HEAD "arg sh\n", /* the last reader is before the
                                    * first */
    "stdin 0 5\n" HEAD "arg sh\n", /* a reader beyond the last rank */
    "stdin 2 3\nstdin 3 4\n" HEAD "arg sh\n", /* a reader that comes twice */
    "stdin 3 4\nstdin 1 1\n" HEAD "arg sh\n", /* the readers go back */
};

static void texts_that_make_no_sense_are_refused(void **state)
{
    struct job job;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memset(&job, 0xff, sizeof(job));
        if (read_text(wrong[i], &job) != OV_EPROTO)
            fail_msg("taken: %s", wrong[i]);
        assert_null(job.apps);
        assert_int_equal(job.size, 0);
    }
}

static void the_document_has_the_lines(void **state)
{
    (void)state;
    document_has_lines(job_text_lines());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(other_texts_are_written_again),
        cmocka_unit_test(ranks_are_found),
        cmocka_unit_test(places_may_be_any_nodes),
        cmocka_unit_test(programs_share_nodes),
        cmocka_unit_test(what_a_program_sets_replaces_what_all_have),
        cmocka_unit_test(there_are_so_many_programs_at_most),
        cmocka_unit_test(texts_that_make_no_sense_are_refused),
        cmocka_unit_test(the_document_has_the_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
