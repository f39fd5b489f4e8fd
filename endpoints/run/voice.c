/* Messages on stderr, which must not hold up the event loop. */
#include "endpoints/run/voice.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/ready.h"

/* A line is short enough for a pipe to accept it as a whole. At most
 * LINES_BYTES_MAX bytes of lines wait. */
enum { LINE_BYTES_MAX = 4000, LINES_BYTES_MAX = 64 * 1024 };

/* Writes a line to stderr if that is possible within wait_ms, because the loop
 * must not block when nobody reads stderr. Returns false when the line has to
 * wait. */
static bool write_line(const char *line, size_t len_bytes, int wait_ms)
{
    if (!ep_ready(STDERR_FILENO, POLLOUT, wait_ms))
        return false;
    if (write(STDERR_FILENO, line, len_bytes) < 0)
        return true; /* stderr is closed, so there is nowhere to write to */
    return true;
}

static void tell_missing(struct run_voice *voice)
{
    if (voice->missing == 0)
        return;
    text_buf_printf(
        &voice->lines,
        "xylem: %u messages are missing here, as nobody read stderr in time\n",
        voice->missing);
    voice->missing = 0;
}

/* Writes the lines that wait. Returns true when all were written. */
static bool write_lines(struct run_voice *voice, int wait_ms)
{
    struct text_buf *lines = &voice->lines;

    while (lines->len_bytes > 0) {
        char *newline = memchr(lines->at, '\n', lines->len_bytes);
        size_t len_bytes = (size_t)(newline - lines->at) + 1;

        if (!write_line(lines->at, len_bytes, wait_ms))
            return false;
        text_buf_cut(lines, len_bytes);
        if (lines->len_bytes == 0)
            tell_missing(voice);
    }
    return true;
}

void ep_voice_retry(struct run_voice *voice, int wait_ms)
{
    if (!ep_voice_waits(voice))
        return;
    if (voice->ask != NULL && !voice->ask(voice->arg, true))
        return;
    if (write_lines(voice, wait_ms) && voice->ask != NULL)
        voice->ask(voice->arg, false);
}

bool ep_voice_waits(const struct run_voice *voice)
{
    return voice->lines.len_bytes > 0;
}

void ep_voice_line(struct run_voice *voice, const char *prefix,
                   const char *text)
{
    if (voice->lines.len_bytes < LINES_BYTES_MAX && voice->missing == 0)
        text_buf_printf(&voice->lines, "%s: %.*s\n", prefix, LINE_BYTES_MAX,
                        text);
    else
        voice->missing++;
    ep_voice_retry(voice, 0);
    if (ep_voice_waits(voice) && voice->on_wait != NULL)
        voice->on_wait(voice->arg);
}

void ep_voice_vsay(struct run_voice *voice, const char *format, va_list args)
{
    char text[LINE_BYTES_MAX + 1];

    vsnprintf(text, sizeof(text), format, args);
    ep_voice_line(voice, "xylem", text);
}

void ep_voice_say(struct run_voice *voice, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ep_voice_vsay(voice, format, args);
    va_end(args);
}

void ep_voice_remark(struct run_voice *voice, const char *format, ...)
{
    va_list args;

    if (voice->is_quiet)
        return;
    va_start(args, format);
    ep_voice_vsay(voice, format, args);
    va_end(args);
}

void ep_voice_note(struct run_voice *voice, const char *format, ...)
{
    va_list args;

    if (!voice->is_verbose)
        return;
    va_start(args, format);
    ep_voice_vsay(voice, format, args);
    va_end(args);
}

int ep_voice_fail(struct run_voice *voice, const char *why)
{
    ep_voice_say(voice, "%s", why);
    return 1;
}

void ep_voice_fini(struct run_voice *voice)
{
    text_buf_fini(&voice->lines);
}
