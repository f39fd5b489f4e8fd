/* The lines that tool_lines writes and tool_check expects: a function of seed,
 * rank and number, so that any line can be made again and compared.
 *
 * Lines have 1 to 300 bytes, newline included; about one in 500 has 3,000, one
 * in 2,000 has 10,000, one in 10,000 has 60,000, and every rank has each of
 * these within its first 1,000 lines. A line that has room for it is *marked*:
 *
 *     @RANK:NUMBER:filler       filler is any byte but a newline, NUL included
 *
 * A shorter one is lower-case letters, or empty.
 */
#ifndef TESTS_HARNESS_LINES_TEXT_H
#define TESTS_HARNESS_LINES_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINES_LEN_MAX = 60000,
    LINES_RANK_MAX = 999999,
    LINES_TABLE = 128 * 1024,
};

struct lines_text {
    uint64_t seed;
    char filler[LINES_TABLE];
    char letters[LINES_TABLE];
};

/* Prepare to make lines of this seed. */
void lines_text_init(struct lines_text *text, uint64_t seed);

/* Make line `number` (from 0) of a rank in `line`, which has room for
 * LINES_LEN_MAX bytes, without its newline. Returns the length and sets
 * `*marked`.
 */
size_t lines_text_get(const struct lines_text *text, uint32_t rank,
                      uint32_t number, char *line, bool *marked);

/* Read the mark of a line. Returns false when it has none. */
bool lines_text_parse(const char *line, size_t len, uint32_t *rank,
                      uint32_t *number);

/* Returns the hash of an unmarked line. The sum of these hashes does not depend
 * on the order of the lines. */
uint64_t lines_text_hash(const char *line, size_t len);

#endif
