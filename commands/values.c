/* Reads values of options. Numbers with units are computed with integers, so
 * that the results are the same on every machine. */
#include "commands/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/refuse.h"

/* --- plain values */

const char *value_words(const char *option, const char *text)
{
    if (text[0] == '\0')
        usage("%s needs a value that is not empty", option);
    return text;
}

uint64_t value_number(const char *option, const char *text, uint64_t least,
                      uint64_t most)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value < least || value > most)
        usage("%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
              option, least, most, text);
    return value;
}

/* --- values that have units */

struct unit {
    const char *name;
    uint64_t factor;
    uint64_t divisor;
};

enum { BOUND_BYTES = 24 };

__extension__ typedef unsigned __int128 wide_t;

#define K UINT64_C(1000)
#define I UINT64_C(1024)

#define SECOND (K * K * K)

/* Reads digits with an optional decimal point, as the fraction *value / *scale.
 * Returns the text after the number, or NULL when there is no valid number. */
static const char *read_digits(const char *text, uint64_t *value,
                               uint64_t *scale)
{
    bool has_point = false, has_digit = false;

    *value = 0;
    *scale = 1;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !has_point);
         text++) {
        if (*text == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        if (*value > UINT64_MAX / 10 - 10 || *scale > UINT64_MAX / 10)
            return NULL;
        *value = *value * 10 + (uint64_t)(*text - '0');
        if (has_point)
            *scale *= 10;
    }
    return has_digit ? text : NULL;
}

static bool convert(const char *text, const struct unit *units, size_t count,
                    uint64_t *result)
{
    uint64_t value, scale;
    wide_t wide;

    text = read_digits(text, &value, &scale);
    if (text == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        wide = (wide_t)value * units[i].factor / scale / units[i].divisor;
        *result = (uint64_t)wide;
        return wide <= INT64_MAX;
    }
    return false;
}

static bool is_bytes(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1, 1},
        {"B", 1, 1},
        {"K", I, 1},
        {"k", I, 1},
        {"KiB", I, 1},
        {"KB", K, 1},
        {"kB", K, 1},
        {"M", I * I, 1},
        {"m", I * I, 1},
        {"MiB", I * I, 1},
        {"MB", K * K, 1},
        {"G", I * I * I, 1},
        {"g", I * I * I, 1},
        {"GiB", I * I * I, 1},
        {"GB", K * K * K, 1},
        {"T", I * I * I * I, 1},
        {"t", I * I * I * I, 1},
        {"TiB", I * I * I * I, 1},
        {"TB", K * K * K * K, 1},
    };

    return convert(text, units, sizeof(units) / sizeof(units[0]), bytes);
}

static bool is_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {
        {"ns", 1, 1},
        {"us", K, 1},
        {"ms", K * K, 1},
        {"s", SECOND, 1},
        {"", SECOND, 1},
        {"m", 60 * SECOND, 1},
        {"min", 60 * SECOND, 1},
        {"h", 3600 * SECOND, 1},
        {"d", 24 * 3600 * SECOND, 1},
    };

    return convert(text, units, sizeof(units) / sizeof(units[0]), ns);
}

static bool is_rate(const char *text, uint64_t *rate)
{
    static const struct unit units[] = {
        {"", 1, 1},
        {"B", 1, 1},
        {"B/s", 1, 1},
        {"K", K, 1},
        {"kB", K, 1},
        {"KB", K, 1},
        {"kB/s", K, 1},
        {"M", K * K, 1},
        {"MB", K * K, 1},
        {"MB/s", K * K, 1},
        {"G", K * K * K, 1},
        {"GB", K * K * K, 1},
        {"GB/s", K * K * K, 1},
        {"kbit", K, 8},
        {"kbit/s", K, 8},
        {"Mbit", K * K, 8},
        {"Mbit/s", K * K, 8},
        {"Gbit", K * K * K, 8},
        {"Gbit/s", K * K * K, 8},
    };

    return convert(text, units, sizeof(units) / sizeof(units[0]), rate);
}

/* Prints a bound as a user would write it: 1M, 64K, 1500. */
static void print_bytes(uint64_t bytes, char out[BOUND_BYTES])
{
    static const char units[] = {'\0', 'K', 'M', 'G', 'T'};
    size_t i = 0;

    while (i + 1 < sizeof(units) && bytes > 0 && bytes % I == 0) {
        bytes /= I;
        i++;
    }
    snprintf(out, BOUND_BYTES, "%" PRIu64 "%c", bytes, units[i]);
}

uint64_t value_bytes(const char *option, const char *text, uint64_t least,
                     uint64_t most)
{
    char from[BOUND_BYTES], to[BOUND_BYTES];
    uint64_t value;
    bool is_valid = is_bytes(text, &value);

    if (!is_valid && most >= INT64_MAX)
        usage("%s takes a number of bytes as 64K, 1M or 1.5GiB, not '%s'",
              option, text);
    print_bytes(least, from);
    print_bytes(most, to);
    if (!is_valid || value < least || value > most)
        usage("%s takes bytes from %s to %s, as 64K, 1M or 1.5GiB, not '%s'",
              option, from, to, text);
    return value;
}

uint64_t value_time(const char *option, const char *text)
{
    uint64_t value;

    if (!is_time(text, &value))
        usage("%s takes a time as 500ns, 2us, 1.5ms, 10s or 5m, not '%s'",
              option, text);
    return value;
}

double value_seconds(const char *option, const char *text, double least)
{
    uint64_t ns = 0;
    bool is_valid = is_time(text, &ns);
    double value = (double)ns / 1e9;

    if (!is_valid || value < least || value > VALUE_SECONDS_MOST)
        usage("%s takes a time from %g to %d seconds, as 90, 500ms, 5m or 2h, "
              "not '%s'",
              option, least, VALUE_SECONDS_MOST, text);
    return value;
}

uint64_t value_rate(const char *option, const char *text)
{
    uint64_t value;

    if (!is_rate(text, &value) || value < VALUE_RATE_LEAST)
        usage("%s takes a rate of at least %d bytes a second as 100MB, 12.5GB "
              "or 10Gbit, not '%s'",
              option, VALUE_RATE_LEAST, text);
    return value;
}
