/* Formats figures in the unit that fits them. */
#include "sim/figure.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/model.h"

static const char *scaled(char *text, uint64_t value, unsigned step,
                          const char *const *units)
{
    uint64_t whole = value, rest = 0;
    unsigned unit = 0;

    while (whole >= step && units[unit + 1] != NULL) {
        rest = whole % step * 1000 / step;
        whole /= step;
        unit++;
    }
    if (unit == 0 || whole >= 100)
        snprintf(text, SIM_FIGURE_BYTES, "%" PRIu64 " %s", whole, units[unit]);
    else if (whole >= 10)
        snprintf(text, SIM_FIGURE_BYTES, "%" PRIu64 ".%01u %s", whole,
                 (unsigned)(rest / 100), units[unit]);
    else
        snprintf(text, SIM_FIGURE_BYTES, "%" PRIu64 ".%02u %s", whole,
                 (unsigned)(rest / 10), units[unit]);
    return text;
}

const char *sim_figure_time(char *text, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};

    if (ns == SIM_NEVER) {
        snprintf(text, SIM_FIGURE_BYTES, "-");
        return text;
    }
    return scaled(text, ns, 1000, units);
}

const char *sim_figure_bytes(char *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};

    return scaled(text, bytes, 1024, units);
}

const char *sim_figure_rate(char *text, uint64_t rate)
{
    static const char *const units[] = {"B/s",  "kB/s", "MB/s",
                                        "GB/s", "TB/s", NULL};

    return scaled(text, rate, 1000, units);
}
