/* Clients that watch a session: each serves a PMIx tool. They hear of all jobs,
 * and ask and say what concerns no job alone (job/door.h, WATCH).
 *
 * Known are all jobs that run and, of those that have ended, the last 64 whose
 * places, pids and statuses take 4 MiB, the last one in any case; what has
 * never begun is forgotten when it ends. Of channels that broke off 2048 are
 * known: when that many are, further ones are told to those that watch then.
 *
 * The viewers (viewers.h) own this and tell it what they hear as a tap of the
 * launcher. Who comes before the tap is open waits. All in the loop's thread.
 *
 * Memory: of each that does not read 1 MiB of words, and 16 MiB of all and
 * 128 KiB of each beyond that; who has more to read is cut off. 64 KiB of a
 * text that is not whole yet, and 8 bytes for each range that one names.
 */
#ifndef ENDPOINTS_CLIENT_WATCHERS_H
#define ENDPOINTS_CLIENT_WATCHERS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_seen;
struct ep_seen_job;
struct ep_tap_cfg;
struct ep_watcher;
struct ep_watchers;
struct job_door;

enum { EP_WATCHERS_MAX = 128 };

struct ep_watchers_cfg {
    struct ep_seen *seen; /* borrowed: its jobs */
    /* One has nothing left to be told, or goes. */
    void (*on_change)(void *arg);
    void *arg;
};

/* NULL: out of memory. */
struct ep_watchers *ep_watchers_new(const struct ep_watchers_cfg *cfg);
/* It is closed, and no watcher is left. NULL is fine. */
void ep_watchers_free(struct ep_watchers *all);

/* --- what the launcher tells */

/* The tap is open: those that wait hear of the jobs. Returns 0 or OV_ENOMEM. */
int ep_watchers_open(struct ep_watchers *all, const struct ep_tap_cfg *run);
/* It is closed, before its jobs go: those that have heard of them are cut off,
 * and told why (NULL: nothing). Harmless when it was not open. */
void ep_watchers_close(struct ep_watchers *all, const char *why);
/* A job begins. */
void ep_watchers_begun(struct ep_watchers *all, struct ep_seen_job *job);
/* Processes were started or have ended, or channels: it may have got further.
 */
void ep_watchers_look(struct ep_watchers *all, struct ep_seen_job *job);
/* A channel has ended, and not all of its output came. */
void ep_watchers_broken(struct ep_watchers *all, uint32_t number,
                        uint8_t channel);
/* All of its processes have ended, and all output of it came. */
void ep_watchers_ended(struct ep_watchers *all, struct ep_seen_job *job);
/* The text of an on_log is written. */
void ep_watchers_logged(struct ep_watchers *all, uint32_t token);
/* No output follows, of any job. */
void ep_watchers_flush(struct ep_watchers *all);
/* All that they are to hear is on its way; and how many words that waited are,
 * so that a caller sees whether something moves. */
bool ep_watchers_are_told(const struct ep_watchers *all);
uint64_t ep_watchers_sent(const struct ep_watchers *all);

/* --- a client */

struct ep_watcher_events {
    /* The client is to go, and why; NULL: without a word. Never from within a
     * call of its own. The watcher is closed already. */
    void (*on_cut)(void *arg, const char *why);
};

/* The client behind this socket, which is borrowed, watches from now on. NULL:
 * it cannot, and *why is a sentence. */
struct ep_watcher *ep_watcher_open(struct ep_watchers *all, int fd,
                                   const struct ep_watcher_events *events,
                                   void *arg, const char **why);
void ep_watcher_close(struct ep_watcher *watcher);
/* What it says from then on. NULL, or what is wrong with it: it is to go. */
const char *ep_watcher_hear(struct ep_watcher *watcher,
                            const struct job_door *msg);

#endif
