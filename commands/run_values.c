/* Values of the options of `xylem run`. */
#include "commands/run_values.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/units.h"

#define SPILL_DEFAULT   (UINT64_C(1) << 30)
#define CLOSE_MIN_S     0.1
#define CLOSE_DEFAULT_S 10

const char *run_usage_command = "run";

void run_usage(const char *format, ...)
{
    va_list args;

    fputs("xylem: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry `xylem %s --help' for the options.\n",
            run_usage_command);
    exit(2);
}

uint32_t run_number(const char *option, const char *text, uint32_t min,
                    uint32_t max)
{
    unsigned long value;
    char *end;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value < min || value > max)
        run_usage("%s takes a number from %u to %u, not '%s'", option, min, max,
                  text);
    return (uint32_t)value;
}

double run_seconds(const char *option, const char *text, double min)
{
    double value;
    char *end;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(value) ||
        value < min || value > 1e6)
        run_usage("%s takes a number of seconds from %g to 1000000, not '%s'",
                  option, min, text);
    return value;
}

void run_port_range(const char *text, struct ep_run_options *o)
{
    unsigned first, last;
    char rest;

    if (sscanf(text, "%u-%u%c", &first, &last, &rest) != 2 || first == 0 ||
        first > last || last > 65535)
        run_usage("--port-range takes two ports as 20000-20099, not '%s'",
                  text);
    o->port_first = (uint16_t)first;
    o->port_last = (uint16_t)last;
}

/* What follows the name of a policy and its =; NULL: another one. */
static const char *policy_value(const char *text, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(text, name, len) != 0)
        return NULL;
    if (text[len] == '=')
        return text + len + 1;
    return text[len] == '\0' ? "" : NULL;
}

static uint64_t spill_bytes(const char *text)
{
    uint64_t bytes;

    if (!units_bytes(text, &bytes) || bytes < JOB_SPILL_BYTES_MIN ||
        bytes > JOB_SPILL_BYTES_MAX)
        run_usage(
            "--stdin-slow=spill takes bytes from 1M to 1T, as 512M, not '%s'",
            text);
    return bytes;
}

void run_stdin_slow(const char *text, struct ep_run_options *o)
{
    const char *bytes = policy_value(text, "spill");
    const char *time = policy_value(text, "close");

    if (strcmp(text, "wait") == 0) {
        o->slow = JOB_SLOW_WAIT;
    } else if (bytes != NULL) {
        o->slow = JOB_SLOW_SPILL;
        o->spill_bytes = text[5] == '=' ? spill_bytes(bytes) : SPILL_DEFAULT;
    } else if (time != NULL) {
        o->slow = JOB_SLOW_CLOSE;
        o->close_s = text[5] == '='
                         ? run_seconds("--stdin-slow=close", time, CLOSE_MIN_S)
                         : CLOSE_DEFAULT_S;
    } else {
        run_usage("--stdin-slow takes wait, spill, spill=BYTES, close or "
                  "close=SECONDS, not '%s'",
                  text);
    }
}

void run_pmix_cache(const char *text, struct ep_run_options *o)
{
    uint64_t bytes;

    if (!units_bytes(text, &bytes) || bytes > JOB_CACHE_MAX)
        run_usage("--pmix-cache takes bytes from 0 to 16M, as 64K, not '%s'",
                  text);
    o->cache_bytes = (uint32_t)bytes;
    o->has_cache = true;
}

/* N, N:core or N:socket. */
void run_ppn(const char *text, struct job_wish *app)
{
    const char *colon = strchr(text, ':');
    char digits[16];

    app->per = TOPO_NO_OBJECT;
    if (colon != NULL)
        app->per = topo_object_find(colon + 1);
    snprintf(digits, sizeof(digits), "%.*s",
             colon != NULL ? (int)(colon - text) : (int)strlen(text), text);
    if (app->per == TOPO_OBJECTS ||
        (colon != NULL && app->per == TOPO_NO_OBJECT))
        run_usage("--ppn takes N, N:core or N:socket, not '%s'", text);
    app->ppn = run_number("--ppn", digits, 1, EP_RUN_PPN_MAX);
}
