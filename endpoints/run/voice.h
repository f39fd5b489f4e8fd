/* Messages of the launcher on stderr, which must not hold up the event loop: a
 * line that stderr does not accept at once waits. At most 64 KiB of lines wait;
 * further lines are dropped, and a line with their number is written instead.
 */
#ifndef ENDPOINTS_RUN_VOICE_H
#define ENDPOINTS_RUN_VOICE_H

#include <stdarg.h>
#include <stdbool.h>

#include "text/fields.h"

struct run_voice {
    struct text_buf lines; /* owned: lines not yet written */
    unsigned missing;      /* lines that were dropped after those in `lines` */
    bool is_verbose, is_quiet; /* at most one of these is set */
    /* A line waits: the callee has to call ep_voice_retry() after a while.
     * NULL: waiting lines are not tried again. */
    void (*on_wait)(void *arg);
    /* Asks for permission to write to stderr, to which others write as well, or
     * (`wants` is false) gives the permission back. Returns false when it is
     * not given now; ep_voice_retry() must then be called when stderr is free.
     * NULL: writing is always permitted. */
    bool (*ask)(void *arg, bool wants);
    void *arg;
};

/* Writes a line that begins with "xylem: ". A longer line is cut at 4000
 * bytes. */
void ep_voice_say(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ep_voice_vsay(struct run_voice *voice, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Writes a notice, which reports nothing bad, as ep_voice_say() does: it is not
 * written with
 * --quiet. */
void ep_voice_remark(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a line as ep_voice_say() does, but only with --verbose. */
void ep_voice_note(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a line that another program has printed, after a prefix that names the
 * program. */
void ep_voice_line(struct run_voice *voice, const char *prefix,
                   const char *text);
/* Writes `why` as a message and returns 1, the exit code for an error. */
int ep_voice_fail(struct run_voice *voice, const char *why);
/* Tries to write the lines that wait, for up to wait_ms each. */
void ep_voice_retry(struct run_voice *voice, int wait_ms);
/* Tells whether any line waits to be written. */
bool ep_voice_waits(const struct run_voice *voice);
void ep_voice_fini(struct run_voice *voice);

#endif
