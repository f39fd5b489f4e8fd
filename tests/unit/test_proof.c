/* The proof of the output: every difference from what was written is reported
 * with its reason. */
#include "endpoints/run/proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    OUT = OV_CHANNEL_STDOUT,
    ERR = OV_CHANNEL_STDERR,
    DIAG = OV_CHANNEL_STDDIAG,
    BOTH = 1 << OUT | 1 << ERR,
    PROCS = 4
};

/* Both ends of the output of a job. */
struct both {
    struct ep_proof *proof;
    struct job_tally said[PROCS][JOB_WORD_OUTPUTS];
    struct ep_proof_verdict verdict;
    unsigned asked; /* how often the proof asked about processes that did not
                     * end */
};

static struct both both_open(uint32_t channels)
{
    struct both both = {.asked = 0};

    assert_int_equal(ep_proof_open(PROCS, channels, 1, &both.proof), 0);
    return both;
}

/* The process writes a record. */
static void says(struct both *both, uint32_t rank, uint8_t channel,
                 const char *text)
{
    job_tally_add(&both->said[rank][channel - OUT], text, strlen(text));
}

/* A record comes out at the launcher. */
static void comes(struct both *both, uint32_t rank, uint8_t channel,
                  const char *text)
{
    ep_proof_written(both->proof, 0, rank, channel, text,
                     (uint32_t)strlen(text));
}

static void passes(struct both *both, uint32_t rank, uint8_t channel,
                   const char *text)
{
    says(both, rank, channel, text);
    comes(both, rank, channel, text);
}

static void ends(struct both *both, uint32_t rank)
{
    ep_proof_ended(both->proof, rank, both->said[rank]);
}

static void all_end(struct both *both)
{
    for (uint32_t rank = 0; rank < PROCS; rank++)
        ends(both, rank);
}

/* Returns one reason for each rank: LOST, NO_END, GIVEN_UP, LOST. */
static enum ep_proof_reason absent(void *arg, uint32_t rank)
{
    static const enum ep_proof_reason reasons[PROCS] = {
        EP_PROOF_LOST, EP_PROOF_NO_END, EP_PROOF_GIVEN_UP, EP_PROOF_LOST};

    ((struct both *)arg)->asked++;
    return reasons[rank];
}

static const struct ep_proof_verdict *judge(struct both *both, bool is_cut)
{
    both->verdict = *ep_proof_judge(both->proof, is_cut, absent, both);
    ep_proof_close(both->proof);
    return &both->verdict;
}

/* Returns the only gap, which is in the stdout of rank 2. */
static const struct ep_proof_gap *only_gap(struct both *both)
{
    const struct ep_proof_verdict *verdict;

    passes(both, 1, OUT, "is right");
    all_end(both);
    verdict = judge(both, false);
    assert_int_equal(verdict->channels, 2 * PROCS);
    assert_int_equal(verdict->counts[EP_PROOF_COMPLETE], 2 * PROCS - 1);
    assert_int_equal(verdict->bytes, strlen("is right"));
    assert_int_equal(ep_proof_gaps(verdict), 1);
    assert_int_equal(verdict->gaps.count, 1);
    assert_int_equal(verdict->lost.count, 0);
    assert_int_equal(verdict->gaps.at[0].rank, 2);
    assert_int_equal(verdict->gaps.at[0].channel, OUT);
    assert_true(verdict->gaps.at[0].is_end_known);
    assert_int_equal(both->asked, 0);
    return &verdict->gaps.at[0];
}

static void what_came_as_it_was_written_is_complete(void **state)
{
    struct both both = both_open(BOTH);
    const struct ep_proof_verdict *verdict;

    (void)state;
    passes(&both, 0, OUT, "one");
    passes(&both, 3, ERR, "two");
    passes(&both, 0, ERR, "three");
    passes(&both, 0, OUT, "four");
    all_end(&both);
    verdict = judge(&both, false);
    assert_int_equal(verdict->channels, 8);
    assert_int_equal(verdict->counts[EP_PROOF_COMPLETE], 8);
    assert_int_equal(verdict->bytes, 15);
    assert_int_equal(ep_proof_gaps(verdict), 0);
    assert_int_equal(verdict->gaps.count + verdict->lost.count, 0);
}

/* The exit is reported before all output of the process was written. */
static void what_comes_after_the_end_counts(void **state)
{
    struct both both = both_open(BOTH);

    (void)state;
    says(&both, 1, OUT, "late");
    all_end(&both);
    comes(&both, 1, OUT, "late");
    assert_int_equal(judge(&both, false)->counts[EP_PROOF_COMPLETE], 8);
}

static void a_dropped_record_is_missing(void **state)
{
    struct both both = both_open(BOTH);
    const struct ep_proof_gap *gap;

    (void)state;
    passes(&both, 2, OUT, "first");
    says(&both, 2, OUT, "second");
    passes(&both, 2, OUT, "third");
    gap = only_gap(&both);
    assert_int_equal(gap->reason, EP_PROOF_MISSING);
    assert_int_equal(gap->expected_bytes, 16);
    assert_int_equal(gap->delivered_bytes, 10);
}

static void all_of_a_channel_is_missing(void **state)
{
    struct both both = both_open(BOTH);

    (void)state;
    says(&both, 2, OUT, "all");
    assert_int_equal(only_gap(&both)->reason, EP_PROOF_MISSING);
}

static void a_doubled_record_is_extra(void **state)
{
    struct both both = both_open(BOTH);
    const struct ep_proof_gap *gap;

    (void)state;
    passes(&both, 2, OUT, "first");
    comes(&both, 2, OUT, "first");
    gap = only_gap(&both);
    assert_int_equal(gap->reason, EP_PROOF_EXTRA);
    assert_int_equal(gap->expected_bytes, 5);
    assert_int_equal(gap->delivered_bytes, 10);
}

static void swapped_records_are_altered(void **state)
{
    struct both both = both_open(BOTH);

    (void)state;
    says(&both, 2, OUT, "first");
    says(&both, 2, OUT, "second");
    comes(&both, 2, OUT, "second");
    comes(&both, 2, OUT, "first");
    assert_int_equal(only_gap(&both)->reason, EP_PROOF_ALTERED);
}

static void a_flipped_bit_is_altered(void **state)
{
    struct both both = both_open(BOTH);

    (void)state;
    says(&both, 2, OUT, "bit a");
    comes(&both, 2, OUT, "bit b");
    assert_int_equal(only_gap(&both)->reason, EP_PROOF_ALTERED);
}

/* A record came out for another process: both processes are named. */
static void bytes_of_another_show_at_both(void **state)
{
    struct both both = both_open(BOTH);
    const struct ep_proof_verdict *verdict;

    (void)state;
    says(&both, 0, OUT, "mine");
    comes(&both, 3, ERR, "mine");
    all_end(&both);
    verdict = judge(&both, false);
    assert_int_equal(verdict->gaps.count, 2);
    assert_int_equal(verdict->gaps.at[0].rank, 0);
    assert_int_equal(verdict->gaps.at[0].reason, EP_PROOF_MISSING);
    assert_int_equal(verdict->gaps.at[1].rank, 3);
    assert_int_equal(verdict->gaps.at[1].channel, ERR);
    assert_int_equal(verdict->gaps.at[1].reason, EP_PROOF_EXTRA);
}

static void processes_that_are_none_count_for_nothing(void **state)
{
    struct both both = both_open(BOTH);

    (void)state;
    comes(&both, PROCS, OUT, "whose");
    comes(&both, UINT32_MAX, OUT, "whose");
    comes(&both, 0, OV_CHANNELS, "what");
    comes(&both, 0, OV_CHANNEL_STATE, "what");
    ep_proof_ended(both.proof, PROCS, both.said[0]);
    all_end(&both);
    assert_int_equal(judge(&both, false)->counts[EP_PROOF_COMPLETE], 8);
}

/* Whether or not the process wrote anything, it is unknown what else it had to
 * write. */
static void without_an_end_nothing_is_complete(void **state)
{
    struct both both = both_open(BOTH);
    const struct ep_proof_verdict *verdict;

    (void)state;
    passes(&both, 0, OUT, "part");
    passes(&both, 1, ERR, "some");
    ends(&both, 3);
    verdict = judge(&both, false);
    assert_int_equal(both.asked, 3);
    assert_int_equal(verdict->counts[EP_PROOF_COMPLETE], 2);
    assert_int_equal(verdict->counts[EP_PROOF_LOST], 2);
    assert_int_equal(verdict->counts[EP_PROOF_NO_END], 2);
    assert_int_equal(verdict->counts[EP_PROOF_GIVEN_UP], 2);
    assert_int_equal(ep_proof_gaps(verdict), 2);
    assert_int_equal(verdict->gaps.count, 2);
    assert_int_equal(verdict->gaps.at[1].rank, 1);
    assert_int_equal(verdict->gaps.at[1].delivered_bytes, 4);
    assert_false(verdict->gaps.at[1].is_end_known);
    assert_int_equal(verdict->lost.count, 2);
    assert_int_equal(verdict->lost.at[0].rank, 0);
    assert_int_equal(verdict->lost.at[0].delivered_bytes, 4);
    assert_false(verdict->lost.at[0].is_end_known);
}

/* Bytes that are too many or changed do not count as given up. */
static void output_given_up_is_no_gap(void **state)
{
    struct both both = both_open(BOTH);
    const struct ep_proof_verdict *verdict;

    (void)state;
    says(&both, 0, OUT, "given up");
    passes(&both, 1, OUT, "taken");
    comes(&both, 1, OUT, "taken");
    all_end(&both);
    verdict = judge(&both, true);
    assert_int_equal(verdict->counts[EP_PROOF_GIVEN_UP], 1);
    assert_int_equal(verdict->counts[EP_PROOF_EXTRA], 1);
    assert_int_equal(ep_proof_gaps(verdict), 1);
    assert_int_equal(verdict->gaps.at[0].rank, 1);
}

static void merged_processes_have_one_channel(void **state)
{
    struct both both = both_open(1 << OUT);
    const struct ep_proof_verdict *verdict;

    (void)state;
    passes(&both, 0, OUT, "all");
    comes(&both, 1, ERR, "none");
    all_end(&both);
    verdict = judge(&both, false);
    assert_int_equal(verdict->channels, PROCS + 1);
    assert_int_equal(verdict->counts[EP_PROOF_COMPLETE], PROCS);
    assert_int_equal(verdict->gaps.at[0].channel, ERR);
}

/* Also beside stdout alone; a process that writes nothing on this channel has
 * written everything. */
static void diagnostics_are_a_channel_as_others(void **state)
{
    struct both both = both_open(1 << OUT | 1 << DIAG);
    const struct ep_proof_verdict *verdict;

    (void)state;
    passes(&both, 0, OUT, "out");
    passes(&both, 0, DIAG, "right");
    says(&both, 2, DIAG, "lacking");
    all_end(&both);
    verdict = judge(&both, false);
    assert_int_equal(verdict->channels, 2 * PROCS);
    assert_int_equal(verdict->counts[EP_PROOF_COMPLETE], 2 * PROCS - 1);
    assert_int_equal(verdict->gaps.at[0].rank, 2);
    assert_int_equal(verdict->gaps.at[0].channel, DIAG);
    assert_int_equal(verdict->gaps.at[0].reason, EP_PROOF_MISSING);
}

static enum ep_proof_reason all_lost(void *arg, uint32_t rank)
{
    (void)arg;
    (void)rank;
    return EP_PROOF_LOST;
}

static void the_list_is_bounded_and_the_count_is_not(void **state)
{
    struct ep_proof_verdict verdict;
    struct ep_proof *proof;

    (void)state;
    assert_int_equal(ep_proof_open(10000, BOTH, 1, &proof), 0);
    verdict = *ep_proof_judge(proof, false, all_lost, NULL);
    ep_proof_close(proof);
    assert_int_equal(verdict.counts[EP_PROOF_LOST], 20000);
    assert_int_equal(verdict.lost.count, EP_PROOF_LIST_MAX);
    assert_int_equal(verdict.lost.at[EP_PROOF_LIST_MAX - 1].rank,
                     EP_PROOF_LIST_MAX / 2 - 1);
}

/* The output is incomplete when files lack something, even if the console has
 * everything; and the other way round. */
static void each_place_must_have_all(void **state)
{
    for (uint32_t less = 0; less < 2; less++) {
        struct job_tally said[JOB_WORD_OUTPUTS] = {{0}};
        const struct ep_proof_verdict *verdict;
        struct ep_proof *proof;

        (void)state;
        assert_int_equal(ep_proof_open(2, BOTH, 2, &proof), 0);
        for (uint32_t rank = 0; rank < 2; rank++) {
            for (uint32_t place = 0; place < 2; place++)
                ep_proof_written(proof, place, rank, OUT, "one", 3);
        }
        job_tally_add(&said[0], "one", 3);
        ep_proof_ended(proof, 0, said);
        job_tally_add(&said[0], "two", 3);
        ep_proof_ended(proof, 1, said);
        ep_proof_written(proof, 1 - less, 1, OUT, "two", 3);
        verdict = ep_proof_judge(proof, false, NULL, NULL);
        assert_int_equal(verdict->counts[EP_PROOF_MISSING], 1);
        assert_int_equal(verdict->counts[EP_PROOF_COMPLETE], 3);
        assert_int_equal(verdict->gaps.at[0].delivered_bytes, 3);
        ep_proof_written(proof, less, 1, OUT, "two", 3);
        verdict = ep_proof_judge(proof, false, NULL, NULL);
        assert_int_equal(ep_proof_gaps(verdict), 0);
        assert_int_equal(verdict->bytes, 9);
        ep_proof_close(proof);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_must_have_all),
        cmocka_unit_test(what_came_as_it_was_written_is_complete),
        cmocka_unit_test(what_comes_after_the_end_counts),
        cmocka_unit_test(a_dropped_record_is_missing),
        cmocka_unit_test(all_of_a_channel_is_missing),
        cmocka_unit_test(a_doubled_record_is_extra),
        cmocka_unit_test(swapped_records_are_altered),
        cmocka_unit_test(a_flipped_bit_is_altered),
        cmocka_unit_test(bytes_of_another_show_at_both),
        cmocka_unit_test(processes_that_are_none_count_for_nothing),
        cmocka_unit_test(without_an_end_nothing_is_complete),
        cmocka_unit_test(output_given_up_is_no_gap),
        cmocka_unit_test(merged_processes_have_one_channel),
        cmocka_unit_test(diagnostics_are_a_channel_as_others),
        cmocka_unit_test(the_list_is_bounded_and_the_count_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
