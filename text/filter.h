/* Decides of each line of one channel of one process whether it is given, held
 * back until the channel ends, or left out. Pure: the time comes from outside.
 *
 * A line is judged by its first TEXT_FILTER_LINE_MAX bytes; where it comes in
 * pieces, its other pieces follow the first one. The rules, in this order:
 *
 *     grep, grep_v   a line without a match, or with one, is left out; one on
 *                    which a limit of a pattern is hit stays
 *     rate           this many lines at once, and then as many a second
 *     head, tail     the first lines are given; others are held back with
 *                    `tail`, and else left out
 *     budget         lines are given while they fit into its first part; all
 *                    later ones are held back
 *
 * Of what is held back the owner keeps the last: `tail` lines at most, and with
 * a budget text_filter_held() bytes.
 */
#ifndef TEXT_FILTER_H
#define TEXT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "text/left.h"

enum {
    TEXT_FILTER_LINE_MAX = 65536,
    TEXT_FILTER_HELD_MAX = 256 << 10, /* the most bytes that are held back */
};

struct text_patterns;

/* The rules of a job. Members that are 0 or NULL say nothing. */
struct text_filter_rules {
    struct text_patterns *grep, *grep_v; /* borrowed */
    uint32_t head, tail;                 /* lines */
    uint32_t rate;                       /* lines a second */
    uint64_t budget_bytes;
};

enum text_verdict { TEXT_GIVEN, TEXT_HELD, TEXT_LEFT_OUT };

/* All zero at first. */
struct text_filter {
    struct text_left left[TEXT_LEFT_REASONS];
    uint64_t limited_lines;    /* lines that stayed because a limit was hit */
    uint64_t passed_lines;     /* lines that grep and rate let through */
    uint64_t given_bytes;      /* with a budget: bytes that were given */
    uint64_t rate_ns;          /* where the lines given use up the rate */
    enum text_verdict verdict; /* on the line that is not over */
    enum text_left_reason reason;
    bool is_open;  /* the last piece was not the end of its line */
    bool is_spent; /* the first part of the budget is used up */
};

struct text_piece {
    uint32_t len_bytes;
    enum text_verdict verdict;
    bool is_first; /* it begins its line */
};

/* True when lines may be held back until the channel ends. */
bool text_filter_holds(const struct text_filter_rules *rules);
/* How many bytes may be held back. */
uint64_t text_filter_held(const struct text_filter_rules *rules);

/* Begins to count the time that patterns may take for the lines that follow,
 * see text_patterns_begin(). To be called for each read. */
void text_filter_begin(const struct text_filter_rules *rules);

/* Decides on the piece at the beginning of `mem`: up to its newline, or all
 * len_bytes (at least 1). What is left out is counted. now_ns: of a clock that
 * does not go back. O(length of the piece), and what the patterns cost. */
struct text_piece text_filter_next(struct text_filter *filter,
                                   const struct text_filter_rules *rules,
                                   const uint8_t *mem, uint32_t len_bytes,
                                   uint64_t now_ns);

/* Counts what the owner has left out: bytes, and lines that were begun by
 * them. */
void text_filter_leave(struct text_filter *filter, enum text_left_reason reason,
                       uint64_t lines, uint64_t bytes);

#endif
