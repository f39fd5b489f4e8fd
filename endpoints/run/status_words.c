/* Puts a line of status together. */
#include "endpoints/run/status_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PART_BYTES = 512,
    SIZE_BYTES = 32,
    /* what a launch of some hundred nodes says beside its hosts, and " and N
     * more" behind them */
    OTHER_COLUMNS = 68,
    AWAITED_MIN = 12,
};

struct line {
    char *text;
    size_t room_bytes; /* most characters of the line */
};

/* Adds a part if there is room for all of it. Returns whether there was. */
static bool add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool add(struct line *line, const char *format, ...)
{
    const size_t len_bytes = strlen(line->text);
    char part[PART_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(part, sizeof(part), format, args);
    va_end(args);
    if (len_bytes == 0)
        snprintf(line->text, line->room_bytes + 1, "%s", part);
    else if (len_bytes + strlen(part) > line->room_bytes)
        return false;
    else
        strcpy(line->text + len_bytes, part);
    return true;
}

static void size_words(uint64_t bytes, char *words)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    snprintf(words, SIZE_BYTES, "%.3g %s", value, units[unit]);
}

static void add_time(struct line *line, uint64_t s)
{
    if (s < 3600)
        add(line, ", %" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        add(line, ", %" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600,
            s / 60 % 60, s % 60);
}

static void add_launch(struct line *line, const struct run_status_view *view)
{
    add(line, "xylem: %u of %u node%s joined", view->joined, view->nodes,
        view->nodes == 1 ? "" : "s");
    add_time(line, view->elapsed_s);
    if (view->awaited != NULL)
        add(line, ", waiting for %s", view->awaited);
}

static void add_processes(struct line *line, const struct run_status_view *view)
{
    add(line, "xylem: %u %s", view->processes - view->over,
        view->is_starting ? "starting" : "running");
    if (view->over > view->failed)
        add(line, ", %u done", view->over - view->failed);
    if (view->failed > 0)
        add(line, ", %u failed", view->failed);
    add_time(line, view->elapsed_s);
}

/* The rate makes room for the reader that lags. */
static void add_stdin(struct line *line, const struct run_status_view *view)
{
    char sent[SIZE_BYTES], rate[SIZE_BYTES];

    size_words(view->stdin_bytes, sent);
    size_words(view->stdin_rate, rate);
    if (view->slow_host != NULL &&
        (add(line, ", stdin %s (%s/s), slowest: rank %u on %s", sent, rate,
             view->slow_rank, view->slow_host) ||
         add(line, ", stdin %s, slowest: rank %u on %s", sent, view->slow_rank,
             view->slow_host)))
        return;
    if (!add(line, ", stdin %s (%s/s)", sent, rate))
        add(line, ", stdin %s", sent);
}

void ep_run_status_words(const struct run_status_view *view, unsigned columns,
                         char *text, size_t size_bytes)
{
    struct line line = {.text = text, .room_bytes = size_bytes - 1};

    text[0] = '\0';
    if (columns <= line.room_bytes)
        line.room_bytes = columns > 0 ? columns - 1 : 0;
    if (view->is_launching) {
        add_launch(&line, view);
        return;
    }
    add_processes(&line, view);
    if (view->has_stdin)
        add_stdin(&line, view);
}

bool ep_run_status_lags(const struct run_status_view *before,
                        const struct run_status_view *now)
{
    return before->slow_host != NULL && now->slow_host != NULL &&
           before->slow_rank == now->slow_rank &&
           (before->stdin_base == now->stdin_base ||
            (before->is_uneven && now->is_uneven));
}

size_t ep_run_status_room(unsigned columns)
{
    return columns > OTHER_COLUMNS + AWAITED_MIN ? columns - OTHER_COLUMNS
                                                 : AWAITED_MIN;
}
