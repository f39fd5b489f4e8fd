/* The proof: tallies of each channel, and their comparison. */
#include "config.h"

#include "endpoints/run/proof.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct channel {
    struct job_tally said; /* the tally of what the process wrote, as its daemon
                            * reports it */
    /* what each taker has written */
    struct job_tally written[EP_PROOF_PLACES_MAX];
};

struct process {
    struct channel channels[JOB_WORD_OUTPUTS];
};

struct ep_proof {
    struct process *procs;
    /* an array of its own, so that the entries of silent processes are not
     * touched */
    bool *has_ended;
    uint32_t procs_count;
    /* the channels of the processes: bits 1 << enum ov_channel */
    uint32_t channels;
    uint32_t places;
    struct ep_proof_verdict verdict;
};

int ep_proof_open(uint32_t procs, uint32_t channels, uint32_t places,
                  struct ep_proof **out)
{
    struct ep_proof *proof = calloc(1, sizeof(*proof));

    OV_ASSERT(places > 0 && places <= EP_PROOF_PLACES_MAX);
    if (proof == NULL)
        return OV_ENOMEM;
    proof->procs = calloc(procs, sizeof(*proof->procs));
    proof->has_ended = calloc(procs, sizeof(*proof->has_ended));
    if (procs > 0 && (proof->procs == NULL || proof->has_ended == NULL)) {
        ep_proof_close(proof);
        return OV_ENOMEM;
    }
    proof->procs_count = procs;
    proof->channels = channels;
    proof->places = places;
    *out = proof;
    return 0;
}

void ep_proof_close(struct ep_proof *proof)
{
    if (proof == NULL)
        return;
    free(proof->procs);
    free(proof->has_ended);
    free(proof);
}

void ep_proof_written(struct ep_proof *proof, uint32_t place, uint32_t rank,
                      uint8_t channel, const void *mem, uint32_t len_bytes)
{
    unsigned i = job_word_output(channel);

    OV_ASSERT(place < proof->places);
    if (rank < proof->procs_count && i < JOB_WORD_OUTPUTS)
        job_tally_add(&proof->procs[rank].channels[i].written[place], mem,
                      len_bytes);
}

void ep_proof_ended(struct ep_proof *proof, uint32_t rank,
                    const struct job_tally *tallies)
{
    if (rank >= proof->procs_count)
        return;
    proof->has_ended[rank] = true;
    for (unsigned i = 0; i < JOB_WORD_OUTPUTS; i++) {
        if (tallies[i].bytes > 0)
            proof->procs[rank].channels[i].said = tallies[i];
    }
}

/* --- judging */

static enum ep_proof_reason
compare(const struct channel *ch, const struct job_tally *written, bool is_cut)
{
    if (job_tally_is_equal(&ch->said, written))
        return EP_PROOF_COMPLETE;
    if (written->bytes < ch->said.bytes)
        return is_cut ? EP_PROOF_GIVEN_UP : EP_PROOF_MISSING;
    return written->bytes > ch->said.bytes ? EP_PROOF_EXTRA : EP_PROOF_ALTERED;
}

/* Returns the tally of the taker that counts: of the takers whose tallies are
 * wrong, the one with the fewest bytes; when none is wrong, the first one. */
static const struct job_tally *place_of(const struct ep_proof *proof,
                                        const struct channel *ch)
{
    const struct job_tally *found = &ch->written[0];

    for (uint32_t i = 1; i < proof->places; i++) {
        const struct job_tally *other = &ch->written[i];

        if (!job_tally_is_equal(&ch->said, other) &&
            (job_tally_is_equal(&ch->said, found) ||
             other->bytes < found->bytes))
            found = other;
    }
    return found;
}

static void count_channel(struct ep_proof *proof, uint32_t rank, unsigned i,
                          enum ep_proof_reason reason)
{
    const struct channel *ch = &proof->procs[rank].channels[i];
    struct ep_proof_verdict *out = &proof->verdict;
    struct ep_proof_list *list =
        reason == EP_PROOF_LOST ? &out->lost : &out->gaps;

    out->channels++;
    out->counts[reason]++;
    if (reason == EP_PROOF_COMPLETE)
        out->bytes += ch->said.bytes;
    if (reason == EP_PROOF_COMPLETE || reason == EP_PROOF_GIVEN_UP ||
        list->count == EP_PROOF_LIST_MAX)
        return;
    list->at[list->count++] = (struct ep_proof_gap){
        .rank = rank,
        .channel = (uint8_t)(OV_CHANNEL_STDOUT + i),
        .reason = (uint8_t)reason,
        .is_end_known = proof->has_ended[rank],
        .expected_bytes = ch->said.bytes,
        .delivered_bytes = place_of(proof, ch)->bytes,
    };
}

static bool has_channel(const struct ep_proof *proof, unsigned i)
{
    return (proof->channels & 1u << (OV_CHANNEL_STDOUT + i)) != 0;
}

const struct ep_proof_verdict *ep_proof_judge(struct ep_proof *proof,
                                              bool is_cut,
                                              ep_proof_absent_fn absent,
                                              void *arg)
{
    proof->verdict = (struct ep_proof_verdict){.channels = 0};
    for (uint32_t rank = 0; rank < proof->procs_count; rank++) {
        bool has_ended = proof->has_ended[rank];
        enum ep_proof_reason why =
            has_ended ? EP_PROOF_COMPLETE : absent(arg, rank);

        for (unsigned i = 0; i < JOB_WORD_OUTPUTS; i++) {
            const struct channel *ch = &proof->procs[rank].channels[i];

            /* A channel that the job should not have is judged only when it has
             * bytes. */
            if (!has_channel(proof, i) && place_of(proof, ch)->bytes == 0 &&
                ch->said.bytes == 0)
                continue;
            count_channel(proof, rank, i,
                          has_ended ? compare(ch, place_of(proof, ch), is_cut)
                                    : why);
        }
    }
    return &proof->verdict;
}

const struct ep_proof_verdict *ep_proof_verdict(const struct ep_proof *proof)
{
    return &proof->verdict;
}

uint64_t ep_proof_gaps(const struct ep_proof_verdict *verdict)
{
    const uint64_t *counts = verdict->counts;

    return counts[EP_PROOF_MISSING] + counts[EP_PROOF_EXTRA] +
           counts[EP_PROOF_ALTERED] + counts[EP_PROOF_NO_END];
}

const char *ep_proof_name(enum ep_proof_reason reason)
{
    static const char *const names[] = {
        [EP_PROOF_COMPLETE] = "complete", [EP_PROOF_MISSING] = "missing",
        [EP_PROOF_EXTRA] = "extra",       [EP_PROOF_ALTERED] = "altered",
        [EP_PROOF_NO_END] = "no end",     [EP_PROOF_LOST] = "lost",
        [EP_PROOF_GIVEN_UP] = "given up",
    };

    return names[reason];
}
