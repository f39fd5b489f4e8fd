/* Patterns of lines: regular expressions of PCRE2 that take bytes as they are,
 * NUL and what is no UTF-8 included.
 *
 * A match has limits, so that no pattern and no line can hold up its caller for
 * long: PATTERN_* of pattern.c, and a time where a clock is given. Patterns are
 * compiled to machine code where the system lets them be.
 */
#ifndef TEXT_PATTERN_H
#define TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TEXT_PATTERNS_MAX = 32,        /* patterns of a set */
    TEXT_PATTERN_BYTES_MAX = 4096, /* of one pattern */
    TEXT_PATTERN_WHY_MAX = 256,    /* bytes of the library's message */
    /* what the lines between two calls of text_patterns_begin() may take */
    TEXT_PATTERN_LIMIT_MS = 100,
};

/* A set of patterns, of which one has to match. */
struct text_patterns;

/* What is wrong with a pattern: the library's message, and before which byte it
 * was found. */
struct text_pattern_fault {
    char why[TEXT_PATTERN_WHY_MAX];
    size_t at_bytes;
};

/* Makes an empty set. cpu_ns: the processor time of this thread in nanoseconds;
 * NULL: there is no limit by time. Returns 0 or OV_ENOMEM. */
int text_patterns_open(uint64_t (*cpu_ns)(void), struct text_patterns **out);
void text_patterns_close(struct text_patterns *set); /* NULL is fine */

/* Adds a pattern. Returns 0; OV_EINVAL, with *fault, when it is not valid or
 * longer than TEXT_PATTERN_BYTES_MAX; OV_EFULL when there are
 * TEXT_PATTERNS_MAX; or OV_ENOMEM. After an error the set is unchanged. */
int text_patterns_add(struct text_patterns *set, const char *text,
                      struct text_pattern_fault *fault);

/* Begins to count the time that lines may take together: once it is used up,
 * all further ones are given up, until the next call. Before the first call
 * there is no limit by time. NULL is fine. */
void text_patterns_begin(struct text_patterns *set);

/* Tells whether a pattern matches somewhere in the line, which is given without
 * its newline. *is_limited is set to true when none was found to match, but one
 * was given up at a limit; else it stays as it is. */
bool text_patterns_match(struct text_patterns *set, const uint8_t *line,
                         size_t len_bytes, bool *is_limited);

#endif
