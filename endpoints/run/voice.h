/* What the launcher says on stderr, which must not hold up the loop: a line
 * that stderr does not take at once waits, 64 KiB of them at most. What is
 * beyond that is counted, and told where it is missing.
 */
#ifndef ENDPOINTS_RUN_VOICE_H
#define ENDPOINTS_RUN_VOICE_H

#include <stdarg.h>
#include <stdbool.h>

#include "text/fields.h"

struct run_voice {
    struct text_buf lines; /* owned: not yet written */
    unsigned missing;      /* lines behind these */
    bool is_verbose;
    /* A line waits: ep_voice_retry() is due in a while. NULL: nobody looks. */
    void (*on_wait)(void *arg);
    /* Asks for stderr, where others write to it, too, or gives it back; the
     * answer is whether it may be written to now, else ep_voice_retry() is due
     * when it may. NULL: always. */
    bool (*ask)(void *arg, bool wants);
    void *arg;
};

/* Lines are cut at 4000 bytes; "xylem: " stands before them. */
void ep_voice_say(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ep_voice_vsay(struct run_voice *voice, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* With --verbose only. */
void ep_voice_note(struct run_voice *voice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A line of somebody else's, with who says it before it. */
void ep_voice_line(struct run_voice *voice, const char *prefix,
                   const char *text);
/* Says why and returns 1, the exit code for it. */
int ep_voice_fail(struct run_voice *voice, const char *why);
/* Lines that a stuck stderr did not take; waits so long for each. */
void ep_voice_retry(struct run_voice *voice, int wait_ms);
/* Do lines wait? */
bool ep_voice_waits(const struct run_voice *voice);
void ep_voice_fini(struct run_voice *voice);

#endif
