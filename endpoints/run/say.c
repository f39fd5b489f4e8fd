/* Lines on stderr, which must not hold up the loop. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/impl.h"
#include "endpoints/sys/ready.h"

/* A line of ours fits what a pipe takes at once; so many wait at most. */
enum { LINE_BYTES_MAX = 4000, LINES_BYTES_MAX = 64 * 1024 };

/* Writes a line to stderr only when that cannot block: the loop must not wait
 * for a stderr that nobody reads. Returns false when it must wait. */
static bool write_line(const char *line, size_t len_bytes, int wait_ms)
{
    if (!ep_ready(STDERR_FILENO, POLLOUT, wait_ms))
        return false;
    if (write(STDERR_FILENO, line, len_bytes) < 0)
        return true; /* nobody is there to be told */
    return true;
}

void ep_run_retry_lines(struct run *r, int wait_ms)
{
    while (r->lines.len_bytes > 0) {
        char *newline = memchr(r->lines.at, '\n', r->lines.len_bytes);
        size_t len_bytes = (size_t)(newline - r->lines.at) + 1;

        if (!write_line(r->lines.at, len_bytes, wait_ms))
            return;
        text_buf_cut(&r->lines, len_bytes);
    }
}

void ep_run_watch(struct run *r)
{
    static const struct timeval second = {1, 0};

    if (r->watch != NULL && !evtimer_pending(r->watch, NULL))
        event_add(r->watch, &second);
}

void ep_run_line(struct run *r, const char *prefix, const char *text)
{
    size_t before = r->lines.len_bytes;

    if (before < LINES_BYTES_MAX)
        text_buf_printf(&r->lines, "%s: %.*s\n", prefix, LINE_BYTES_MAX, text);
    ep_run_retry_lines(r, 0);
    if (r->lines.len_bytes > 0)
        ep_run_watch(r);
}

static void __attribute__((format(printf, 2, 0)))
say(struct run *r, const char *format, va_list args)
{
    char text[LINE_BYTES_MAX + 1];

    vsnprintf(text, sizeof(text), format, args);
    ep_run_line(r, "xylem", text);
}

void ep_run_say(struct run *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(r, format, args);
    va_end(args);
}

void ep_run_note(struct run *r, const char *format, ...)
{
    va_list args;

    if (!r->options.verbose)
        return;
    va_start(args, format);
    say(r, format, args);
    va_end(args);
}

int ep_run_fail(struct run *r, const char *why)
{
    ep_run_say(r, "%s", why);
    return 1;
}
