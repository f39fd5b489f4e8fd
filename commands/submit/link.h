/* The connection to a launcher: all that is PMIx, by public calls alone.
 *
 * Calls from the main thread; callbacks come in the library's thread, which
 * reads nothing from the launcher while one of them waits.
 *
 * What can fail returns NULL, or a text that says what went wrong, borrowed
 * until the next call.
 */
#ifndef COMMANDS_SUBMIT_LINK_H
#define COMMANDS_SUBMIT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands/attach/show.h"
#include "topo/ranges.h"

struct link_events {
    void (*on_output)(const struct show_output *output);
    /* The launcher has gone, or has cut us off: nothing more comes. */
    void (*on_lost)(void);
    /* Input was taken: NULL; or why the job takes no more, borrowed. is_over:
     * nobody reads it any more. */
    void (*on_pushed)(const char *why, bool is_over);
};

const char *link_open(const char *uri, const struct link_events *events);

/* The job of this name, or NULL: the only one. */
const char *link_job(const char *nspace, struct show_job *out);

/* Asks for all output of a job that we have started. *channels, bits 1 <<
 * TEXT_CHANNEL_: those that are wanted, and then those that come; what the job
 * was started without does not. */
const char *link_pull(unsigned *channels);

/* Sends input to these ranks; no member: to all. No bytes: the end of it.
 * `mem` is borrowed until on_pushed. */
const char *link_push(const struct topo_ranges *ranks, const void *mem,
                      size_t len_bytes);

/* Takes leave of the launcher; not from a callback. */
void link_close(void);

/* For who asks more of a launcher than that: statuses are the library's. What
 * went wrong, with the status in words. */
const char *link_say(const char *what, int status);
/* The library's thread has the answer to what was just asked; one at a time. */
void link_answer(int status);
/* Waits for that in the main thread, or PMIX_ERR_LOST_CONNECTION. */
int link_wait(void);

#endif
