/* The connection to a session's door (job/door.h), for one job in it.
 *
 * All calls and callbacks in the main thread. First it is found where the job
 * is, which waits for the session; the loop has the rest. What comes while
 * show_has_room() says no waits in memory and in a file (console/hoard.h), so
 * that the session is rid of it. There is one in a process.
 *
 * What can fail returns NULL, or a text that says what went wrong, borrowed
 * until the next call.
 */
#ifndef COMMANDS_ATTACH_SESSION_H
#define COMMANDS_ATTACH_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/attach/show.h"
#include "endpoints/client/sessions.h"
#include "topo/ranges.h"

struct ep_writer;
struct event_base;

struct session_events {
    void (*on_live)(void); /* what is written from now on comes */
    void (*on_output)(const struct show_output *output);
    /* Nothing more comes, and all that came was passed on. */
    void (*on_lost)(void);
    /* As of feed_pushed(). */
    void (*on_pushed)(const char *why, bool is_over);
    /* Output cannot be kept or read again, and why; borrowed. */
    void (*on_error)(const char *why);
};

/* Attaches to the job of this name, or (NULL) to the only one, by a connection
 * that is the session's from here on. */
const char *session_attach(struct ep_session *connection, const char *nspace,
                           struct show_job *out);
/* From here on it is heard in the loop. */
const char *session_open(struct event_base *base, struct ep_writer *writer,
                         const struct session_events *events);
/* Asks for the output of these ranks; no member: of all. *channels, bits
 * 1 << TEXT_CHANNEL_: those that are wanted, and then those that come. */
const char *session_pull(const struct topo_ranges *ranks, unsigned *channels);
/* As of feed_push_fn. */
const char *session_push(const struct topo_ranges *ranks, const void *mem,
                         size_t len_bytes);
/* There is room: show_has_room(). */
void session_go_on(void);
/* Hears nothing more, and drops what it keeps; the writer is there still. */
void session_leave(void);
/* Frees all, also what is in struct show_job. */
void session_close(void);

#endif
