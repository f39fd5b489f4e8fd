/* The words for a daemon that did not come. */
#ifndef ENDPOINTS_BOOT_STARTER_WORDS_H
#define ENDPOINTS_BOOT_STARTER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "text/fields.h"

/* The daemon in question; all borrowed. */
struct ep_starter_who {
    enum ep_launcher launcher;
    const char *host; /* NULL: this machine */
    const char *xylemd;
    const char *rsh;
    /* Beginning of what was not part of the protocol. */
    const struct text_buf *rubbish;
    const struct text_buf *last; /* its last lines on stderr */
};

/* Each adds a text without newline to `out`; errors show in out->bad. */

/* The daemon has given the reason itself. */
void ep_starter_words_own(struct text_buf *out,
                          const struct ep_starter_who *who, const char *text);

/* The process ended with this status (as from waitpid) before the daemon was
 * ready. */
void ep_starter_words_exit(struct text_buf *out,
                           const struct ep_starter_who *who, int status);

/* The process could not be started: the step that failed and its errno. */
void ep_starter_words_failed(struct text_buf *out,
                             const struct ep_starter_who *who, const char *step,
                             int err);

/* The daemon was not ready in time: in all its time, or in one try of
 * several. */
void ep_starter_words_late(struct text_buf *out,
                           const struct ep_starter_who *who, uint32_t waited_ms,
                           uint32_t time_ms);

/* The daemon has called, and hung up before it was ready. */
void ep_starter_words_gone(struct text_buf *out,
                           const struct ep_starter_who *who);

/* The process writes something else to stdout: too much before the first line
 * of the protocol, or (line not NULL) a line that is not well-formed. */
void ep_starter_words_babble(struct text_buf *out,
                             const struct ep_starter_who *who,
                             const char *line);

/* The daemon has another version. */
void ep_starter_words_version(struct text_buf *out,
                              const struct ep_starter_who *who,
                              const char *version);

#endif
