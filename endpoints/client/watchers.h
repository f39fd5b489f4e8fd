/* Clients that watch a session, each for a PMIx tool. They are told about all
 * jobs, and make requests that do not concern a single job (job/door.h, WATCH).
 *
 * All jobs that run are kept, and of those that have ended the latest 64, as
 * long as their places, pids and statuses take 4 MiB together; the latest one
 * is always kept. A job that has never begun is forgotten when it ends. At most
 * 2048 channels that have ended without all of their output are remembered for
 * clients that connect later; when there are more, only clients that watch at
 * that moment are told.
 *
 * The viewers (viewers.h) own the watchers, and pass on to them what the
 * launcher tells the viewers. A client that connects before there is a launch
 * waits. Everything runs in the loop's thread.
 *
 * Memory: 1 MiB of messages for each client that does not read. All of them
 * together have 16 MiB; when that is used up, 128 KiB for each. A client for
 * which more would have to be kept is disconnected. In addition, for each
 * client 64 KiB for a text that has not arrived as a whole, and 8 bytes for
 * each range that it names.
 */
#ifndef ENDPOINTS_CLIENT_WATCHERS_H
#define ENDPOINTS_CLIENT_WATCHERS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_seen;
struct ep_seen_job;
struct ep_client_cfg;
struct ep_watcher;
struct ep_watchers;
struct job_door;

enum { EP_WATCHERS_MAX = 128 };

struct ep_watchers_cfg {
    struct ep_seen *seen; /* borrowed; the jobs that viewers can look at */
    /* A watcher has been sent everything, or is closed. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Makes the list of watchers, without a client. Returns NULL when memory is
 * out. */
struct ep_watchers *ep_watchers_new(const struct ep_watchers_cfg *cfg);
/* Frees the watchers, which must be closed and have no client. NULL is fine. */
void ep_watchers_free(struct ep_watchers *all);

/* --- what the launcher tells, by way of the viewers */

/* Opens the watchers for a launch, and tells clients that wait about its jobs.
 * Returns 0 or OV_ENOMEM. */
int ep_watchers_open(struct ep_watchers *all, const struct ep_client_cfg *run);
/* Closes the watchers. To be called before the jobs of the launch are freed.
 * Disconnects clients that know these jobs, and tells them `why` (NULL: no
 * reason). Does nothing when the watchers are not open. */
void ep_watchers_close(struct ep_watchers *all, const char *why);
/* Tells clients about a job that begins. */
void ep_watchers_begun(struct ep_watchers *all, struct ep_seen_job *job);
/* Tells clients about the job's stage if it has reached another one. To be
 * called after processes or channels of the job have started or ended. */
void ep_watchers_look(struct ep_watchers *all, struct ep_seen_job *job);
/* Tells clients that a channel has ended without all of its output. */
void ep_watchers_broken(struct ep_watchers *all, uint32_t number,
                        uint8_t channel);
/* Keeps the job for a while, as it is over: its processes have ended, and all
 * its output has arrived. */
void ep_watchers_ended(struct ep_watchers *all, struct ep_seen_job *job);
/* Tells the client that the text which it wanted printed is written (see
 * on_log). */
void ep_watchers_logged(struct ep_watchers *all, uint32_t token);
/* Tells clients that no output of any job follows. */
void ep_watchers_flush(struct ep_watchers *all);
/* The first function tells whether everything for the clients is sent; the
 * second returns how many messages that had to wait were sent, so that a caller
 * sees whether anything moves. */
bool ep_watchers_are_told(const struct ep_watchers *all);
uint64_t ep_watchers_sent(const struct ep_watchers *all);

/* --- for each client */

struct ep_watcher_events {
    /* The client must be disconnected; `why` is the reason to tell it, or NULL
     * for none. Never called from within a call of a function of this
     * header for the same client. The watcher is closed already. */
    void (*on_cut)(void *arg, const char *why);
};

/* Lets the client with this socket watch. The socket is borrowed. Returns NULL
 * when it cannot, with a sentence in *why. */
struct ep_watcher *ep_watcher_open(struct ep_watchers *all, int fd,
                                   const struct ep_watcher_events *events,
                                   void *arg, const char **why);
void ep_watcher_close(struct ep_watcher *watcher);
/* Handles a later message of the client. Returns NULL; or what is wrong with
 * the message, and the client must be disconnected. */
const char *ep_watcher_hear(struct ep_watcher *watcher,
                            const struct job_door *msg);

#endif
