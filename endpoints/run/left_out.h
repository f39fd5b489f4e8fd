/* What daemons have left out of the output of a job, as they tell it: exact for
 * a process whose end was reported, and at least that much for all others. */
#ifndef ENDPOINTS_RUN_LEFT_OUT_H
#define ENDPOINTS_RUN_LEFT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/filter.h"
#include "job/word.h"

enum { EP_LEFT_TEXT_MAX = 512 };

struct run_left;

/* Memory: some 140 bytes for each process of which something was left out, and
 * 1 for each other, provided that the system gives pages only to memory that is
 * written to. Returns 0 or OV_ENOMEM. */
int ep_left_open(uint32_t procs, struct run_left **out);
void ep_left_close(struct run_left *left); /* NULL is fine */

/* Takes in a LEFT word about this rank. */
void ep_left_hear(struct run_left *left, uint32_t rank,
                  const struct job_word *word);
/* Notes that all is told of the rank, which has sent what `tallies` say.
 * Returns how many bytes of what it wrote were neither sent nor left out; 0
 * unless something is wrong. */
uint64_t ep_left_ended(struct run_left *left, uint32_t rank,
                       const struct job_tally *tallies);

/* What was left out in all. */
struct ep_left_sum {
    struct text_left at[TEXT_LEFT_REASONS];
    uint64_t limited_lines; /* lines that stayed because a limit was hit */
    bool is_least;          /* it may have been more */
};

void ep_left_add(struct ep_left_sum *sum, const struct text_left *at);
/* O(procs). `left` may be NULL: nothing was. */
struct ep_left_sum ep_left_sum(const struct run_left *left);
/* What was left out of one rank. */
const struct text_left *ep_left_of(const struct run_left *left, uint32_t rank);
uint32_t ep_left_procs(const struct run_left *left);

/* The name of a reason in a report: "progress", "grep" ... */
const char *ep_left_name(enum text_left_reason reason);

/* Says which options have left lines out: "7 lines (90 bytes) by --grep, 2
 * lines ...". Empty when no line was. */
void ep_left_text(const struct ep_left_sum *sum,
                  const struct job_filter *filter, char text[EP_LEFT_TEXT_MAX]);
/* Says what was left out of progress bars. Empty when nothing was. */
void ep_left_bars(const struct ep_left_sum *sum, char text[EP_LEFT_TEXT_MAX]);

#endif
