/* The connection to a session's door (job/door.h), for one job in the session:
 * a job that runs in the session already, or a new job.
 *
 * First the client finds out where the job's processes are, which blocks
 * (attach/entrance.h); everything else is done in the event loop. Output that
 * comes while show_has_room() is false waits in memory and in a file
 * (sys/hoard.h), so that the session need not keep it. There is one such
 * connection in a process.
 *
 * Functions that can fail return NULL, or a text that says what went wrong,
 * borrowed until the next call.
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
    /* All earlier output has come: from now on output comes as processes write
     * it. May be NULL. */
    void (*on_live)(void);
    void (*on_output)(const struct show_output *output);
    /* The connection is lost, and all output that came was passed on. */
    void (*on_lost)(void);
    void (*on_pushed)(bool is_over); /* to be passed to feed_pushed() */
    /* Output cannot be read back, or the session disconnects this client; `why`
     * is borrowed. */
    void (*on_error)(const char *why);
    /* Only for clients that start a job; else NULL. on_started: all processes
     * run. on_unstarted: a process cannot be started, and the job ends. */
    void (*on_started)(void);
    void (*on_unstarted)(const struct job_door *unstarted);
    /* A signal is on its way. */
    void (*on_signalled)(void);
    /* Output of the job that we have started, when it comes; on_output may
     * follow later. */
    void (*on_heard)(const struct show_output *output);
    /* A process has failed first: the message FIRST, and the process's rank. */
    void (*on_first)(const struct job_door *first, uint32_t rank);
    /* The message STALLED, and a message RANGES before it; the job's processes
     * are numbered from `base` on. */
    void (*on_stalled)(const struct job_door *stalled, uint32_t base);
    void (*on_note)(const struct job_door *note); /* the message NOTE */
    /* All processes have ended: the message ENDED. */
    void (*on_ended)(const struct job_door *ended);
};

/* Attaches to the job of this name or, with NULL, to the only job. The
 * connection becomes this module's. */
const char *session_attach(struct ep_session *connection, const char *nspace,
                           struct show_job *out);
/* Starts a job, which ends when the connection does, and whose output all comes
 * to us. Blocks until the session answers. When the job does not begin, *answer
 * is the message UNSTARTED, else its kind is 0. */
const char *session_spawn(struct ep_session *connection,
                          const struct job_request *request,
                          struct show_job *out, struct job_door *answer);
/* Begins to read messages of the session in the event loop. Output that waits
 * takes at most file_bytes of the file; while it takes that much, no messages
 * are read. */
const char *session_open(struct event_base *base, struct ep_writer *writer,
                         uint64_t file_bytes,
                         const struct session_events *events);
/* Asks for the output of these ranks, or of all if the set is empty. `channels`
 * has a bit, 1 << TEXT_CHANNEL_, for each wanted channel. */
void session_pull(const struct topo_ranges *ranks, unsigned channels);
/* Sends a piece of stdin, as described at feed_push_fn. */
void session_push(const struct topo_ranges *ranks, const void *mem,
                  size_t len_bytes);
/* Sends a signal to all processes of the job that we have started; on_signalled
 * follows. */
void session_signal(int signo);
/* To be called when show_has_room() is true again. */
void session_go_on(void);
/* Stops reading messages, and drops the output that waits. The writer must
 * still exist. */
void session_leave(void);
/* Frees everything, also what struct show_job points to. */
void session_close(void);

#endif
