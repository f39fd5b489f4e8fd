/* The texts of errors about a daemon that did not become ready. */
#ifndef ENDPOINTS_BOOT_STARTER_WORDS_H
#define ENDPOINTS_BOOT_STARTER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "text/fields.h"

/* The daemon that the text is about; all pointers are borrowed. */
struct ep_starter_who {
    enum ep_launcher launcher;
    const char *host; /* NULL: this machine */
    const char *xylemd;
    const char *rsh;
    /* The beginning of its output that was not part of the protocol. */
    const struct text_buf *rubbish;
    const struct text_buf *last; /* the last lines that the command wrote to
                                  * stderr */
};

/* Each function adds a text without newline to `out`. Errors show in
 * out->bad. */

/* Writes the reason that the daemon has given itself. */
void ep_starter_words_own(struct text_buf *out,
                          const struct ep_starter_who *who, const char *text);

/* Writes that the process ended with this status (as from waitpid) before the
 * daemon was ready. */
void ep_starter_words_exit(struct text_buf *out,
                           const struct ep_starter_who *who, int status);

/* Writes that the process could not be started: which step failed, with the
 * errno err. */
void ep_starter_words_failed(struct text_buf *out,
                             const struct ep_starter_who *who, const char *step,
                             int err);

/* Writes that the daemon was not ready after waited_ms, which is one try, or
 * after time_ms, its whole time. */
void ep_starter_words_late(struct text_buf *out,
                           const struct ep_starter_who *who, uint32_t waited_ms,
                           uint32_t time_ms);

/* Writes that the daemon had connected, and closed the connection before it was
 * ready. */
void ep_starter_words_gone(struct text_buf *out,
                           const struct ep_starter_who *who);

/* Writes that the process prints something else on stdout: too much before the
 * first line of the protocol, or (line not NULL) a line that is not
 * well-formed. */
void ep_starter_words_babble(struct text_buf *out,
                             const struct ep_starter_who *who,
                             const char *line);

/* Writes that the daemon's version differs from ours. */
void ep_starter_words_version(struct text_buf *out,
                              const struct ep_starter_who *who,
                              const char *version);

#endif
