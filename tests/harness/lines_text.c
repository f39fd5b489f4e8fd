/* Makes the lines: each from a hash of seed, rank and number. */
#include "tests/harness/lines_text.h"

#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

void lines_text_init(struct lines_text *text, uint64_t seed)
{
    text->seed = seed;
    for (size_t i = 0; i < LINES_TABLE; i++) {
        uint64_t value = mix(seed + i);
        char byte = (char)(value & 255);

        text->filler[i] = byte == '\n' ? ' ' : byte;
        text->letters[i] = (char)('a' + (value >> 8) % 26);
    }
}

/* Returns the length with the newline. Long lines come at fixed numbers, which
 * differ a little between ranks. */
static size_t line_len(uint64_t random, uint32_t rank, uint32_t number)
{
    uint32_t place = number + 7 * (rank % 64);

    if (place % 10000 == 500)
        return LINES_LEN_MAX;
    if (place % 2000 == 900)
        return 10000;
    if (place % 500 == 450)
        return 3000;
    return 1 + (size_t)(random % 300);
}

size_t lines_text_get(const struct lines_text *text, uint32_t rank,
                      uint32_t number, char *line, bool *marked)
{
    uint64_t random = mix(text->seed ^ mix((uint64_t)rank << 32 | number));
    size_t len = line_len(random, rank, number) - 1;
    size_t from = (size_t)(random >> 32) % (LINES_TABLE - LINES_LEN_MAX);
    char mark[32];
    size_t mark_len =
        (size_t)snprintf(mark, sizeof mark, "@%u:%u:", rank, number);

    *marked = len >= mark_len;
    if (!*marked) {
        memcpy(line, text->letters + from, len);
        return len;
    }
    memcpy(line, mark, mark_len);
    memcpy(line + mark_len, text->filler + from, len - mark_len);
    return len;
}

/* Reads digits and a colon from `at`. Returns the position after them; 0 when
 * they are not there. */
static size_t number_parse(const char *line, size_t len, size_t at,
                           uint32_t *value)
{
    uint64_t sum = 0;
    size_t start = at;

    while (at < len && at - start < 10 && line[at] >= '0' && line[at] <= '9')
        sum = sum * 10 + (uint64_t)(line[at++] - '0');
    if (at == start || at == len || line[at] != ':' || sum > UINT32_MAX)
        return 0;
    *value = (uint32_t)sum;
    return at + 1;
}

bool lines_text_parse(const char *line, size_t len, uint32_t *rank,
                      uint32_t *number)
{
    size_t at;

    if (len == 0 || line[0] != '@')
        return false;
    at = number_parse(line, len, 1, rank);
    return at > 0 && number_parse(line, len, at, number) > 0;
}

uint64_t lines_text_hash(const char *line, size_t len)
{
    uint64_t hash = mix(len);

    for (size_t i = 0; i < len; i++)
        hash = mix(hash ^ (unsigned char)line[i]);
    return hash;
}
