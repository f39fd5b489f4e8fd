/* The connection to a launcher: all that is PMIx, by public calls alone.
 *
 * Calls from the main thread; callbacks come in the library's thread, which
 * reads nothing from the launcher while one of them waits.
 *
 * What can fail returns NULL, or a text that says what went wrong, borrowed
 * until the next call.
 */
#ifndef COMMANDS_ATTACH_LINK_H
#define COMMANDS_ATTACH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/ranges.h"

struct link_output {
    uint32_t rank;
    uint8_t channel; /* EP_CHANNEL_ */
    bool is_end;     /* of the channel */
    /* Missing just before: we took too little; it was not kept for us. */
    uint64_t dropped_bytes, before_bytes;
    const void *mem; /* borrowed */
    size_t len_bytes;
};

struct link_events {
    void (*on_output)(const struct link_output *output);
    /* The launcher has gone, or has cut us off: nothing more comes. */
    void (*on_lost)(void);
    /* Input was taken: NULL; or why the job takes no more, borrowed. is_over:
     * nobody reads it any more. */
    void (*on_pushed)(const char *why, bool is_over);
};

/* A copy of what comes from now on, or of a job that we have started all. */
enum link_how { LINK_COPY, LINK_HELD };

/* A job, as the launcher tells it; owned by the connection. */
struct link_job {
    const char *nspace;
    uint32_t size;            /* processes */
    const char *const *hosts; /* [size] */
};

const char *link_open(const char *uri, const struct link_events *events);

/* The job of this name, or NULL: the only one. */
const char *link_job(const char *nspace, struct link_job *out);

/* Asks for the output of these ranks of the job; no member, or NULL: of all.
 * *channels, bits 1 << TEXT_CHANNEL_: those that are wanted, and then those
 * that come; what the job was started without does not. */
const char *link_pull(const struct topo_ranges *ranks, enum link_how how,
                      unsigned *channels);

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
