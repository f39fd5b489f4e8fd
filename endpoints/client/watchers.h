/* Clients that watch a session, each for a PMIx tool. They hear of all jobs,
 * and ask and say what does not concern a single job (job/door.h, WATCH).
 *
 * All jobs that run are known, and of those that have ended the latest 64 whose
 * places, pids and statuses take 4 MiB together, but always the last one. A job
 * that has never begun is forgotten when it ends. At most 2048 channels that
 * broke off are remembered for clients that come later; further ones are told
 * only to the clients that watch at that moment.
 *
 * The viewers (viewers.h) own the watchers and tell them what they hear as a
 * tap of the launcher. A client that comes before the tap is open waits.
 * Everything runs in the loop's thread.
 *
 * Memory: 1 MiB of words for each client that does not read, but for all
 * together 16 MiB and 128 KiB for each beyond that; a client for which more is
 * to be kept is cut off. 64 KiB for a text that is not whole yet, and 8 bytes
 * for each range that a client names.
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
    struct ep_seen *seen; /* borrowed: with its jobs */
    /* A watcher has nothing left to be told, or goes. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Returns NULL when memory is out. */
struct ep_watchers *ep_watchers_new(const struct ep_watchers_cfg *cfg);
/* The watchers are closed, and none is left. NULL is fine. */
void ep_watchers_free(struct ep_watchers *all);

/* --- what the launcher tells */

/* The tap is open: watchers that wait are told about the jobs. Returns 0 or
 * OV_ENOMEM. */
int ep_watchers_open(struct ep_watchers *all, const struct ep_client_cfg *run);
/* The tap is closed, before its jobs go: clients that have heard of these are
 * cut off, and told why (NULL: nothing). Harmless when it was not open. */
void ep_watchers_close(struct ep_watchers *all, const char *why);
/* A job begins. */
void ep_watchers_begun(struct ep_watchers *all, struct ep_seen_job *job);
/* Processes or channels of the job have started or ended: it may have reached
 * another stage. */
void ep_watchers_look(struct ep_watchers *all, struct ep_seen_job *job);
/* A channel has ended without all of its output. */
void ep_watchers_broken(struct ep_watchers *all, uint32_t number,
                        uint8_t channel);
/* All processes of the job have ended, and all its output came. */
void ep_watchers_ended(struct ep_watchers *all, struct ep_seen_job *job);
/* The text of an on_log is written. */
void ep_watchers_logged(struct ep_watchers *all, uint32_t token);
/* No output follows, of any job. */
void ep_watchers_flush(struct ep_watchers *all);
/* True when everything that watchers are to hear is on its way; and how many
 * words that waited were sent, so that a caller sees whether something
 * moves. */
bool ep_watchers_are_told(const struct ep_watchers *all);
uint64_t ep_watchers_sent(const struct ep_watchers *all);

/* --- a client */

struct ep_watcher_events {
    /* The client is to go, and why; NULL: without a word. Never comes from
     * within a call of the watcher's own. The watcher is closed already. */
    void (*on_cut)(void *arg, const char *why);
};

/* The client behind this socket, which is borrowed, watches from now on. NULL:
 * it cannot, and *why is a sentence. */
struct ep_watcher *ep_watcher_open(struct ep_watchers *all, int fd,
                                   const struct ep_watcher_events *events,
                                   void *arg, const char **why);
void ep_watcher_close(struct ep_watcher *watcher);
/* What the client says from then on. Returns NULL, or what is wrong with it:
 * the client is to go. */
const char *ep_watcher_hear(struct ep_watcher *watcher,
                            const struct job_door *msg);

#endif
