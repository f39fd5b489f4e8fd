/* Limits the lists of hosts that fuzz targets read. */
#ifndef TESTS_FUZZ_LISTS_H
#define TESTS_FUZZ_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many hosts the brackets of one term can name, when the longest
 * number in it has this many digits. Larger terms are refused at once. */
static inline uint64_t lists_worth(unsigned digits)
{
    uint64_t worth = 1;

    if (digits > 9)
        return 0;
    while (digits-- > 0)
        worth *= 10;
    return worth;
}

/* True when the text could name so many hosts that reading it would leave no
 * time for other inputs. */
static inline bool lists_are_costly(const char *text, size_t len_bytes)
{
    unsigned digits = 0, longest = 0, run = 0;
    bool is_inside = false;
    uint64_t hosts = 0;

    for (size_t i = 0; i < len_bytes; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';

        run = is_inside && is_digit ? run + 1 : 0;
        longest = run > longest ? run : longest;
        if (text[i] == ']')
            digits += longest;
        if (text[i] == '[' || text[i] == ']') {
            is_inside = text[i] == '[';
            longest = 0;
        } else if (!is_inside && (text[i] == ',' || text[i] <= ' ')) {
            hosts += lists_worth(digits);
            digits = 0;
        }
    }
    return hosts + lists_worth(digits) >= 100000;
}

#endif
