/* The connection to a session's door (job/door.h), for one job in it: one that
 * runs there, or a new one.
 *
 * First it is found where the job is, which waits for the session
 * (attach/entrance.h); the loop has the rest. What comes while
 * show_has_room() says no waits in memory and in a file (sys/hoard.h), so
 * that the session is rid of it. There is one in a process.
 *
 * What can fail returns NULL, or a text that says what went wrong, borrowed
 * until the next call.
 */
#ifndef COMMANDS_ATTACH_SESSION_H
#define COMMANDS_ATTACH_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands/attach/show.h"
#include "endpoints/client/sessions.h"
#include "job/request.h"
#include "topo/ranges.h"

struct ep_writer;
struct event_base;

struct session_events {
    /* What is written from now on comes; may be NULL. */
    void (*on_live)(void);
    void (*on_output)(const struct show_output *output);
    /* Nothing more comes, and all that came was passed on. */
    void (*on_lost)(void);
    void (*on_pushed)(bool is_over); /* as of feed_pushed() */
    /* Output cannot be read again, or the session wants no more of this client,
     * and why; borrowed. */
    void (*on_error)(const char *why);
    /* Who starts a job hears of it; all others leave these NULL. Its processes
     * run; or one cannot be started, and it ends; */
    void (*on_started)(void);
    void (*on_unstarted)(const struct job_door *unstarted);
    /* a signal is on its way; */
    void (*on_signalled)(void);
    /* all have ended: ENDED, with the rank of the process that it names. */
    void (*on_ended)(const struct job_door *ended, uint32_t rank);
};

/* Attaches to the job of this name, or (NULL) to the only one, by a connection
 * that is the session's from here on. */
const char *session_attach(struct ep_session *connection, const char *nspace,
                           struct show_job *out);
/* Or begins one, which ends with the connection: all of its output comes. It is
 * waited for. Where the session does not begin it *answer is UNSTARTED, else
 * its kind is 0. */
const char *session_spawn(struct ep_session *connection,
                          const struct job_request *request,
                          struct show_job *out, struct job_door *answer);
/* From here on it is heard in the loop. What waits takes file_bytes of the file
 * at most; then the session is not heard until it is less. */
const char *session_open(struct event_base *base, struct ep_writer *writer,
                         uint64_t file_bytes,
                         const struct session_events *events);
/* Asks for the output of these ranks; no member: of all. `channels`: those that
 * are wanted, bits 1 << TEXT_CHANNEL_. */
void session_pull(const struct topo_ranges *ranks, unsigned channels);
/* Sends input, as feed_push_fn says. */
void session_push(const struct topo_ranges *ranks, const void *mem,
                  size_t len_bytes);
/* To all processes of a job of one's own; on_signalled follows. */
void session_signal(int signo);
/* There is room: show_has_room(). */
void session_go_on(void);
/* Hears nothing more, and drops what it keeps; the writer is there still. */
void session_leave(void);
/* Frees all, also what is in struct show_job. */
void session_close(void);

#endif
