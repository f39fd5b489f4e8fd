/* Numbers, sizes, times and rates, or the end. */
#include "commands/sim_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/units.h"
#include "sim/model.h"

_Noreturn void sim_usage(const char *format, ...)
{
    va_list args;

    fputs("xylem: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\nTry `xylem sim --help' for the options.\n", stderr);
    exit(2);
}

uint64_t sim_number(const char *option, const char *text, uint64_t min,
                    uint64_t max)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value < min || value > max)
        sim_usage("%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
                  option, min, max, text);
    return value;
}

uint64_t sim_bytes(const char *option, const char *text)
{
    uint64_t value;

    if (!units_bytes(text, &value))
        sim_usage("%s takes a number of bytes as 64K, 1M or 1.5GiB, not '%s'",
                  option, text);
    return value;
}

uint64_t sim_time(const char *option, const char *text)
{
    uint64_t value;

    if (!units_time(text, &value))
        sim_usage("%s takes a time as 500ns, 2us, 1.5ms or 10s, not '%s'",
                  option, text);
    return value;
}

uint64_t sim_rate(const char *option, const char *text)
{
    uint64_t value;

    if (!units_rate(text, &value) || value < SIM_RATE_LEAST)
        sim_usage("%s takes a rate of at least 1024 bytes a second as 100MB, "
                  "12.5GB or 10Gbit, not '%s'",
                  option, text);
    return value;
}
