/* The job's text: what is written is read, and what is read makes sense. */
#include "endpoints/msg/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* Five ranks: 0 and 1 on node 1, 2 on node 2, 3 on node 3, 4 on node 5. */
#define HEAD                                                                   \
    "job 7 5 4\n"                                                              \
    "ranks 1 1 2 0\n"                                                          \
    "ranks 2 3 1 2\n"                                                          \
    "ranks 5 5 1 4\n"

/* Decodes a copy, as it is overwritten. */
static int read_text(const char *text, struct ep_job *job)
{
    char *copy = strdup(text);
    int rc;

    assert_non_null(copy);
    rc = ep_job_decode(copy, strlen(text), job);
    free(copy);
    return rc;
}

/* Each keyword of the protocol comes back as it was. */
static void what_is_read_is_written_again(void **state)
{
    static const char text[] = HEAD "stdin 0 1\n"
                                    "stdin 4 4\n"
                                    "stdin-slow spill 1048576\n"
                                    "spill-dir /a%20c\n"
                                    "raw\n"
                                    "merge-stderr\n"
                                    "open-ms 250\n"
                                    "linger-ms 4294967295\n"
                                    "cwd /a%20b\n"
                                    "cwd-optional\n"
                                    "arg sh\n"
                                    "arg %\n"
                                    "env A=1\n"
                                    "env B=%0A\n";
    struct ep_text again = {0};
    struct ep_job job;

    (void)state;
    assert_int_equal(read_text(text, &job), 0);
    assert_int_equal(job.number, 7);
    assert_int_equal(job.size, 5);
    assert_int_equal(job.nodes, 4);
    assert_true(job.is_raw && job.merges_stderr && job.cwd_is_optional);
    assert_int_equal(job.slow, EP_SLOW_SPILL);
    assert_int_equal(job.spill_bytes, 1 << 20);
    assert_string_equal(job.spill_dir, "/a c");
    assert_int_equal(job.open_ms, 250);
    assert_int_equal(job.linger_ms, UINT32_MAX);
    assert_string_equal(job.cwd, "/a b");
    assert_int_equal(job.argc, 2);
    assert_string_equal(job.argv[0], "sh");
    assert_string_equal(job.argv[1], "");
    assert_null(job.argv[2]);
    assert_int_equal(job.env_count, 2);
    assert_string_equal(job.env[1], "B=\n");
    assert_null(job.env[2]);
    ep_job_encode(&job, &again);
    assert_false(again.bad);
    assert_string_equal(again.at, text);
    ep_text_fini(&again);
    ep_job_fini(&job);
}

/* The way from a node to its ranks, back, and to those that read stdin. */
static void ranks_are_found(void **state)
{
    static const struct {
        uint32_t node, count, first;
    } nodes[] = {{0, 0, 0}, {1, 2, 0}, {2, 1, 2}, {3, 1, 3},
                 {4, 0, 0}, {5, 1, 4}, {6, 0, 0}, {TOPO_NONE, 0, 0}};
    static const uint32_t node_of[] = {1, 1, 2, 3, 5, TOPO_NONE};
    static const bool reads[] = {false, true, true, false, true, false};
    struct ep_job job;
    uint32_t first;

    (void)state;
    assert_int_equal(read_text(HEAD "stdin 1 2\nstdin 4 4\narg sh\n", &job), 0);
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        assert_int_equal(ep_job_on_node(&job, nodes[i].node, &first),
                         nodes[i].count);
        assert_int_equal(first, nodes[i].first);
    }
    for (uint32_t rank = 0; rank < 6; rank++) {
        assert_int_equal(ep_job_node_of(&job, rank), node_of[rank]);
        assert_int_equal(ep_job_reads(&job, rank), reads[rank]);
    }
    assert_int_equal(ep_job_node_of(&job, UINT32_MAX), TOPO_NONE);
    ep_job_fini(&job);
}

/* Texts that no launcher writes. A daemon that took one would run a part of the
 * job, or nothing, and say so to nobody. */
static const char *const wrong[] = {
    "",
    "arg sh",                            /* no end of line */
    "job 7 1 1\nranks 1 1 1 0\n",        /* no program */
    "arg sh\n",                          /* no job */
    "job 7 0 0\narg sh\n",               /* no process */
    HEAD "arg sh\nwhat 1\n",             /* no such keyword */
    HEAD "arg sh\nraw 1\n",              /* a field too many */
    HEAD "arg sh\narg\n",                /* one too few */
    HEAD "arg sh\nopen-ms -1\n",         /* no number */
    HEAD "arg sh\nopen-ms 4294967296\n", /* too large */
    HEAD "arg a b\n",                    /* a raw space */
    HEAD "arg sh\nstdin-slow drop 1\n",  /* no such policy */
    HEAD "arg sh\nstdin-slow spill 1\n", /* too little */
    HEAD "arg sh\nstdin-slow spill 1099511627777\n",
    HEAD "arg sh\nstdin-slow close 0\n",  /* no time */
    "job 7 1 1\nranks 2 1 1 0\narg sh\n", /* from a node to one before */
    "job 7 1 1\nranks 2 1 1 0\nranks 2 2 1 0\narg sh\n", /* the same */
    "job 7 1 2\nranks 1 1 0 0\nranks 2 2 1 0\narg sh\n", /* none on one */
    "job 7 1 1\nranks 0 0 1 0\narg sh\n",                /* on the launcher */
    "job 7 1 1\nranks 1 1 0 0\narg sh\n",                /* nothing on a node */
    "job 7 1 1\nranks 1 1 1 1\narg sh\n",                /* rank 0 is nowhere */
    "job 7 2 1\nranks 1 1 1 0\narg sh\n",                /* rank 1 is nowhere */
    "job 7 1 1\nranks 1 1 2 0\narg sh\n",                /* one too many */
    "job 7 1 2\nranks 1 1 1 0\narg sh\n",                /* a node too few */
    "job 7 1 1\narg sh\n",                               /* all are nowhere */
    "job 7 2 2\nranks 1 1 1 0\nranks 1 1 1 1\narg sh\n", /* a node twice */
    "job 7 2 2\nranks 2 2 1 0\nranks 1 1 1 1\narg sh\n", /* going back */
    "job 7 2 2\nranks 1 1 1 0\nranks 2 2 1 0\narg sh\n", /* a rank twice */
    "job 7 1 1\nranks 4294967295 4294967295 1 0\narg sh\n",
    "job 7 1 4294967294\nranks 1 4294967294 2147483649 0\narg sh\n",
    HEAD "arg sh\nstdin 2 1\n",            /* from a rank to one before */
    HEAD "arg sh\nstdin 0 5\n",            /* more than there are */
    HEAD "arg sh\nstdin 2 3\nstdin 3 4\n", /* one twice */
    HEAD "arg sh\nstdin 3 4\nstdin 1 1\n", /* going back */
};

static void texts_that_make_no_sense_are_refused(void **state)
{
    struct ep_job job;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memset(&job, 0xff, sizeof(job));
        if (read_text(wrong[i], &job) != OV_EPROTO)
            fail_msg("taken: %s", wrong[i]);
        assert_null(job.argv);
        assert_null(job.ranks);
        assert_int_equal(job.size, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(ranks_are_found),
        cmocka_unit_test(texts_that_make_no_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
