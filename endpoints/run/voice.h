/* Messages of the launcher on stderr, which must not hold up the loop: a line
 * that stderr does not take at once waits. At most 64 KiB of lines wait;
 * further ones are counted, and their number is told in their place.
 */
#ifndef ENDPOINTS_RUN_VOICE_H
#define ENDPOINTS_RUN_VOICE_H

#include <stdarg.h>
#include <stdbool.h>

#include "text/fields.h"

struct run_voice {
    struct text_buf lines; /* owned: lines not yet written */
    unsigned missing;      /* lines that were dropped after these */
    bool is_verbose;
    /* A line waits, and ep_voice_retry() is to be called in a while. NULL:
     * lines are not tried again. */
    void (*on_wait)(void *arg);
    /* Asks for stderr, which others write to as well, or (wants: false) gives
     * it back. Returns whether it may be written to now; if not,
     * ep_voice_retry() is to be called when it may. NULL: always. */
    bool (*ask)(void *arg, bool wants);
    void *arg;
};

/* Writes a line that begins with "xylem: ". It is cut at 4000 bytes. */
void ep_voice_say(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ep_voice_vsay(struct run_voice *voice, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Does the same, but only with --verbose. */
void ep_voice_note(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a line that another program has said, after a prefix that names it. */
void ep_voice_line(struct run_voice *voice, const char *prefix,
                   const char *text);
/* Says why and returns 1, the exit code for it. */
int ep_voice_fail(struct run_voice *voice, const char *why);
/* Writes lines that a stuck stderr did not take; waits wait_ms for each. */
void ep_voice_retry(struct run_voice *voice, int wait_ms);
/* Tells whether lines wait. */
bool ep_voice_waits(const struct run_voice *voice);
void ep_voice_fini(struct run_voice *voice);

#endif
