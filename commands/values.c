/* Reads values of options. Numbers with units are computed with integers, so
 * that the results are the same on every machine. */
#include "commands/values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
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

double value_seconds(const char *option, const char *text, double least)
{
    double value;
    char *end;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(value) ||
        value < least || value > 1e6)
        usage("%s takes a number of seconds from %g to 1000000, not '%s'",
              option, least, text);
    return value;
}

/* --- values with units */

struct unit {
    const char *name;
    uint64_t factor;
    uint64_t divisor;
};

__extension__ typedef unsigned __int128 wide_t;

#define K UINT64_C(1000)
#define I UINT64_C(1024)

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

bool value_is_bytes(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1, 1},           {"B", 1, 1},
        {"K", I, 1},          {"k", I, 1},
        {"KiB", I, 1},        {"KB", K, 1},
        {"kB", K, 1},         {"M", I * I, 1},
        {"MiB", I * I, 1},    {"MB", K * K, 1},
        {"G", I * I * I, 1},  {"GiB", I * I * I, 1},
        {"GB", K * K * K, 1}, {"T", I * I * I * I, 1},
    };

    return convert(text, units, sizeof(units) / sizeof(units[0]), bytes);
}

static bool is_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {
        {"ns", 1, 1},        {"us", K, 1},       {"ms", K * K, 1},
        {"s", K * K * K, 1}, {"", K * K * K, 1}, {"min", 60 * K * K * K, 1},
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

uint64_t value_bytes(const char *option, const char *text)
{
    uint64_t value;

    if (!value_is_bytes(text, &value))
        usage("%s takes a number of bytes as 64K, 1M or 1.5GiB, not '%s'",
              option, text);
    return value;
}

uint64_t value_time(const char *option, const char *text)
{
    uint64_t value;

    if (!is_time(text, &value))
        usage("%s takes a time as 500ns, 2us, 1.5ms or 10s, not '%s'", option,
              text);
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
