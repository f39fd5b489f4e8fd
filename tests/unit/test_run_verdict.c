/* The messages about incomplete output, and which processes they name. */
#include "config.h"

#include "endpoints/run/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/nodes.h"
#include "tests/unit/plan_rig.h"

enum { OUT = OV_CHANNEL_STDOUT };

/* A process on each of three hosts, each of which has ended after writing 5
 * bytes; and the verdict. */
struct trial {
    struct fixture f;
    struct run_nodes *nodes;
    struct ep_proof *proof;
    struct run_judged what;
    struct capture said;
};

static void open_trial(struct trial *c)
{
    memset(c, 0, sizeof(*c));
    open_fixture(&c->f, "a,b,c");
    assert_int_equal(ep_run_plan_nodes(&c->f.plan, &c->f.most), 0);
    assert_int_equal(ep_run_nodes_open(3, &c->nodes), 0);
    ep_run_nodes_told(c->nodes, &c->f.job);
    assert_int_equal(ep_proof_open(3, 1 << OUT, 1, &c->proof), 0);
    c->what = (struct run_judged){
        .plan = &c->f.plan,
        .job = &c->f.job,
        .nodes = c->nodes,
        .proof = c->proof,
        .voice = &c->f.voice,
        .is_news = true,
    };
}

static void close_trial(struct trial *c)
{
    ep_proof_close(c->proof);
    ep_run_nodes_close(c->nodes);
    close_fixture(&c->f);
}

/* The process wrote five bytes, and these came out. */
static void ends(struct trial *c, uint32_t rank, const char *came)
{
    struct job_tally said[JOB_WORD_OUTPUTS] = {{0}};

    job_tally_add(&said[0], "abcd\n", 5);
    ep_proof_written(c->proof, 0, rank, OUT, came, (uint32_t)strlen(came));
    ep_proof_ended(c->proof, rank, said);
}

/* Returns whether output is missing; *said is the message for the user. */
static bool judge(struct trial *c)
{
    bool lacks;

    capture_begin(&c->said);
    lacks = ep_run_judge(&c->what);
    capture_end(&c->said);
    return lacks;
}

static void what_is_whole_needs_no_words(void **state)
{
    struct trial c;

    (void)state;
    open_trial(&c);
    for (uint32_t rank = 0; rank < 3; rank++)
        ends(&c, rank, "abcd\n");
    assert_false(judge(&c));
    assert_string_equal(c.said.text, "");
    close_trial(&c);
}

static void each_gap_is_named_with_what_is_known(void **state)
{
    struct trial c;

    (void)state;
    open_trial(&c);
    ends(&c, 0, "abc");
    ends(&c, 1, "abcd\nx");
    ends(&c, 2, "abcx\n");
    assert_true(judge(&c));
    assert_string_equal(
        c.said.text,
        "xylem: output is incomplete: rank 0 on a (stdout: 3 bytes of the 5 "
        "that it wrote), rank 1 on b (stdout: 6 bytes, it wrote 5), rank 2 on "
        "c (stdout: 5 bytes, which differ from what it wrote)\n");
    close_trial(&c);
}

/* The node lives and has reported the end of the job, so nothing was lost with
 * it. */
static void an_exit_that_was_never_told_is_a_gap(void **state)
{
    struct trial c;

    (void)state;
    open_trial(&c);
    ends(&c, 0, "abcd\n");
    ends(&c, 1, "abcd\n");
    ep_run_nodes_over(c.nodes, 3, 1);
    assert_true(judge(&c));
    assert_non_null(strstr(c.said.text, "incomplete: rank 2 on c (stdout: 0 "
                                        "bytes, the end is not known)"));
    close_trial(&c);
}

static void what_a_lost_node_lacks_is_no_gap(void **state)
{
    struct trial c;

    (void)state;
    open_trial(&c);
    ends(&c, 0, "abcd\n");
    ends(&c, 2, "abcd\n");
    ep_proof_written(c.proof, 0, 1, OUT, "ab", 2);
    ep_run_nodes_lose(c.nodes, 2);
    assert_false(judge(&c));
    assert_string_equal(c.said.text,
                        "xylem: output received from lost nodes: rank 1 on b "
                        "(stdout: 2 bytes, the end is not known)\n");
    close_trial(&c);
}

static void a_loss_that_was_said_is_no_news(void **state)
{
    struct trial c;

    (void)state;
    open_trial(&c);
    ends(&c, 0, "abcd\n");
    ends(&c, 2, "abcd\n");
    ep_run_nodes_lose(c.nodes, 2);
    c.what.is_news = false;
    assert_false(judge(&c));
    assert_string_equal(c.said.text, "");
    close_trial(&c);
}

/* Missing bytes are expected where output was given up; other differences are
 * not. */
static void what_was_given_up_is_no_gap(void **state)
{
    struct trial c;

    (void)state;
    open_trial(&c);
    ends(&c, 0, "abc");
    ends(&c, 1, "");
    ends(&c, 2, "abcd\nx");
    c.what.is_cut = true;
    assert_true(judge(&c));
    assert_null(strstr(c.said.text, "rank 0"));
    assert_null(strstr(c.said.text, "rank 1"));
    assert_non_null(strstr(c.said.text, "rank 2 on c"));
    close_trial(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_whole_needs_no_words),
        cmocka_unit_test(each_gap_is_named_with_what_is_known),
        cmocka_unit_test(an_exit_that_was_never_told_is_a_gap),
        cmocka_unit_test(what_a_lost_node_lacks_is_no_gap),
        cmocka_unit_test(a_loss_that_was_said_is_no_news),
        cmocka_unit_test(what_was_given_up_is_no_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
