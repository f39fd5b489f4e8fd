/* Judges at the end of a run whether all output has arrived, in messages and in
 * the exit code. */
#include "endpoints/run/verdict.h"

#include <inttypes.h>
#include <stdio.h>

#include "text/style.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/voice.h"
#include "job/job.h"

enum { NAMED_MAX = 4, NAME_BYTES = 400 };

/* Judges a process whose exit nobody has reported. */
static enum ep_proof_reason absent(void *arg, uint32_t rank)
{
    const struct run_judged *what = arg;
    const uint32_t node = job_node_of(what->job, rank, NULL);

    if (ep_run_nodes_is_silent(what->nodes, node))
        return EP_PROOF_LOST;
    return ep_run_nodes_is_final(what->nodes, node) ? EP_PROOF_NO_END
                                                    : EP_PROOF_GIVEN_UP;
}

/* Writes the words that follow "N bytes" in a message about a channel. */
static void gap_words(const struct ep_proof_gap *gap, char *words, size_t size)
{
    words[0] = '\0';
    switch ((enum ep_proof_reason)gap->reason) {
    case EP_PROOF_MISSING:
        snprintf(words, size, " of the %" PRIu64 " that it wrote",
                 gap->expected_bytes);
        break;
    case EP_PROOF_EXTRA:
        snprintf(words, size, ", it wrote %" PRIu64, gap->expected_bytes);
        break;
    case EP_PROOF_ALTERED:
        snprintf(words, size, ", which differ from what it wrote");
        break;
    case EP_PROOF_NO_END:
    case EP_PROOF_LOST:
        snprintf(words, size, ", the end is not known");
        break;
    case EP_PROOF_COMPLETE:
    case EP_PROOF_GIVEN_UP:
    case EP_PROOF_REASONS:
        break;
    }
}

/* Writes one line about all channels in the list. `say` is ep_voice_say or
 * ep_voice_note. */
static void tell(const struct run_judged *of,
                 void (*say)(struct run_voice *, const char *, ...),
                 const char *what, const struct ep_proof_list *list,
                 uint64_t total)
{
    char text[NAMED_MAX * NAME_BYTES] = "", words[64];
    size_t at = 0;
    uint32_t named;

    for (named = 0; named < list->count && named < NAMED_MAX; named++) {
        const struct ep_proof_gap *gap = &list->at[named];

        gap_words(gap, words, sizeof(words));
        at += (size_t)snprintf(
            text + at, NAME_BYTES,
            "%srank %" PRIu32 " on %.250s (%s: %" PRIu64 " bytes%s)",
            named > 0 ? ", " : "", gap->rank,
            ep_run_host_of_rank(of->plan, gap->rank),
            text_channel_name(gap->channel), gap->delivered_bytes, words);
    }
    if (total > named)
        say(of->voice, "%s: %s, and %" PRIu64 " more", what, text,
            total - named);
    else
        say(of->voice, "%s: %s", what, text);
}

bool ep_run_judge(const struct run_judged *what)
{
    const struct ep_proof_verdict *verdict = ep_proof_judge(
        what->proof, what->is_cut, absent, (void *)(uintptr_t)what);
    uint64_t gaps = ep_proof_gaps(verdict);
    uint64_t lost = verdict->counts[EP_PROOF_LOST];

    if (gaps > 0)
        tell(what, ep_voice_say, "output is incomplete", &verdict->gaps, gaps);
    if (lost > 0)
        tell(what, what->is_news ? ep_voice_say : ep_voice_note,
             "output received from lost nodes", &verdict->lost, lost);
    return gaps > 0;
}
