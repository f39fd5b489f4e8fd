/* Counts what was left out, by rank and by reason. */
#include "endpoints/run/left_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

struct left_rank {
    uint64_t source_bytes, limited_lines;
    struct text_left at[TEXT_LEFT_REASONS];
};

struct run_left {
    uint32_t procs;
    bool *has_ended; /* owned [procs] */
    struct left_rank ranks[];
};

int ep_left_open(uint32_t procs, struct run_left **out)
{
    struct run_left *left =
        calloc(1, sizeof(*left) + (size_t)procs * sizeof(left->ranks[0]));

    *out = NULL;
    if (left == NULL)
        return OV_ENOMEM;
    left->has_ended = calloc(procs, sizeof(*left->has_ended));
    if (left->has_ended == NULL) {
        free(left);
        return OV_ENOMEM;
    }
    left->procs = procs;
    *out = left;
    return 0;
}

void ep_left_close(struct run_left *left)
{
    if (left == NULL)
        return;
    free(left->has_ended);
    free(left);
}

void ep_left_hear(struct run_left *left, uint32_t rank,
                  const struct job_word *word)
{
    if (left == NULL || rank >= left->procs)
        return;
    left->ranks[rank].source_bytes = word->source_bytes;
    left->ranks[rank].limited_lines = word->limited_lines;
    memcpy(left->ranks[rank].at, word->left, sizeof(word->left));
}

uint64_t ep_left_ended(struct run_left *left, uint32_t rank,
                       const struct job_tally *tallies)
{
    const struct left_rank *at;
    uint64_t bytes = 0;

    if (left == NULL || rank >= left->procs)
        return 0;
    left->has_ended[rank] = true;
    at = &left->ranks[rank];
    for (unsigned i = 0; i < JOB_WORD_OUTPUTS; i++)
        bytes += tallies[i].bytes;
    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++)
        bytes += at->at[i].bytes;
    return at->source_bytes > bytes ? at->source_bytes - bytes : 0;
}

void ep_left_add(struct ep_left_sum *sum, const struct text_left *at)
{
    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++) {
        sum->at[i].lines += at[i].lines;
        sum->at[i].bytes += at[i].bytes;
    }
}

struct ep_left_sum ep_left_sum(const struct run_left *left)
{
    struct ep_left_sum sum = {.is_least = false};

    for (uint32_t rank = 0; rank < ep_left_procs(left); rank++) {
        const struct left_rank *at = &left->ranks[rank];

        sum.is_least = sum.is_least || !left->has_ended[rank];
        sum.limited_lines += at->limited_lines;
        ep_left_add(&sum, at->at);
    }
    return sum;
}

const struct text_left *ep_left_of(const struct run_left *left, uint32_t rank)
{
    return left->ranks[rank].at;
}

uint32_t ep_left_procs(const struct run_left *left)
{
    return left != NULL ? left->procs : 0;
}

const char *ep_left_name(enum text_left_reason reason)
{
    static const char *const names[TEXT_LEFT_REASONS] = {
        [TEXT_LEFT_PROGRESS] = "progress", [TEXT_LEFT_GREP] = "grep",
        [TEXT_LEFT_GREP_V] = "grep_v",     [TEXT_LEFT_RATE] = "rate",
        [TEXT_LEFT_LINES] = "lines",       [TEXT_LEFT_BUDGET] = "budget",
        [TEXT_LEFT_ROOM] = "room",
    };

    return names[reason];
}

static const char *option_of(enum text_left_reason reason,
                             const struct job_filter *filter)
{
    static const char *const options[TEXT_LEFT_REASONS] = {
        [TEXT_LEFT_GREP] = "by --grep",
        [TEXT_LEFT_GREP_V] = "by --grep-v",
        [TEXT_LEFT_RATE] = "by --rate",
        [TEXT_LEFT_LINES] = "by --tail",
        [TEXT_LEFT_BUDGET] = "by --budget",
        [TEXT_LEFT_ROOM] = "for lack of room",
    };

    if (reason == TEXT_LEFT_LINES && filter->head > 0)
        return filter->tail > 0 ? "by --head and --tail" : "by --head";
    return options[reason];
}

void ep_left_text(const struct ep_left_sum *sum,
                  const struct job_filter *filter, char text[EP_LEFT_TEXT_MAX])
{
    size_t len = 0;

    text[0] = '\0';
    for (unsigned i = TEXT_LEFT_GREP; i < TEXT_LEFT_REASONS; i++) {
        const struct text_left *at = &sum->at[i];

        if (at->bytes == 0 || len >= EP_LEFT_TEXT_MAX)
            continue;
        len += (size_t)snprintf(text + len, EP_LEFT_TEXT_MAX - len,
                                "%s%" PRIu64 " line%s (%" PRIu64 " bytes) %s",
                                len > 0 ? ", " : "", at->lines,
                                at->lines == 1 ? "" : "s", at->bytes,
                                option_of((enum text_left_reason)i, filter));
    }
}

void ep_left_bars(const struct ep_left_sum *sum, char text[EP_LEFT_TEXT_MAX])
{
    const struct text_left *bars = &sum->at[TEXT_LEFT_PROGRESS];

    text[0] = '\0';
    if (bars->bytes > 0)
        snprintf(text, EP_LEFT_TEXT_MAX,
                 "%s%" PRIu64 " earlier states of progress bars were left out, "
                 "%" PRIu64 " bytes (--progress=last)",
                 sum->is_least ? "at least " : "", bars->lines, bars->bytes);
}
