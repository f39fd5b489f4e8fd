/* Clients that look at a job: they get a copy of its output, and push to its
 * stdin. Or they start one (job/request.h), which is theirs: what they name of
 * its output comes from the first byte on, it waits while they do not take that
 * where they ask for it, and it ends with them unless it is to be kept. Others
 * watch the session (watchers.h).
 *
 * They are the tap of the launcher (endpoints/client/taps.h): it tells them of
 * all jobs and of each record, and they say what they want of it. They never
 * hold a record, never end a job of others, and never fail. What a client takes
 * is sent from where it lies, or copied to its outbox; where that is full the
 * record is dropped, or what is left of it, and the next one of the channel
 * says how much. Of that, and of the ends of channels, it is told in any case,
 * as soon as it has read something. What was written before a client came is
 * asked of the daemons (job/late.h). One that takes output in the place of the
 * console is served from a store (endpoints/client/escrow.h), and nothing of
 * that is dropped; so is one that names a limit for its copies.
 *
 * The door owns this, from its first launch to the last; each launch opens it
 * anew. Who comes before that waits; who looks at a job when a launch is
 * done again is told to come again. All in the loop's thread.
 *
 * Memory: for each client that is slow 4 MiB and 64 KiB of words, 16 MiB for
 * all and 128 KiB of each beyond that; for one whose job waits 1 MiB and what
 * is on its way in the tree when the job is held back, 64 MiB at most. For each
 * process of a job a byte, and for each client that looks at it one more, while
 * it waits for what was before another one, and 24 where something was dropped.
 * 8 bytes for each range that a client names.
 */
#ifndef ENDPOINTS_CLIENT_VIEWERS_H
#define ENDPOINTS_CLIENT_VIEWERS_H

#include <stdbool.h>

#include "endpoints/client/taps.h"
#include "job/door.h"

struct ep_viewer;
struct ep_viewers;
struct ep_watchers;

struct ep_viewer_events {
    /* The client is to go, and why; NULL: without a word. From the loop, never
     * from within a call of its own. The viewer is closed already. */
    void (*on_cut)(void *arg, const char *why);
};

/* NULL: out of memory. */
struct ep_viewers *ep_viewers_new(void);
/* They are closed, and none is left. NULL is fine. */
void ep_viewers_free(struct ep_viewers *all);

/* --- what the launcher tells, between open and close; where a session has no
 * door, and so none of them, `all` is NULL. O(viewers), unless it says else. */

/* The job is planned and its daemons are being started. Returns 0 or
 * OV_ENOMEM: they are not open, and wait. */
int ep_viewers_open(struct ep_viewers *all, const struct ep_tap_cfg *cfg);
/* The next close is not the end of the session. */
void ep_viewers_anew(struct ep_viewers *all);
/* Those that have a job go. */
void ep_viewers_close(struct ep_viewers *all);
/* A record, or the end of a channel of a lost node. True: it was redirected,
 * and taken in the place of the console; what nobody gets of it comes by
 * on_back. */
bool ep_viewers_output(struct ep_viewers *all, const struct job_record *rec);
/* Can they be given the record, in the place of the console or as output from
 * before? Else on_back_over says when to ask again. */
bool ep_viewers_has_room(const struct ep_viewers *all,
                         const struct job_record *rec);
/* The node of these ranks is lost: it gives no answers. Before the ends of
 * their channels. O(count * viewers). */
void ep_viewers_lost(struct ep_viewers *all, uint32_t first, uint32_t count);
/* Are answers to on_replay still to come? */
bool ep_viewers_replays(const struct ep_viewers *all);
/* Ranks from `number` on were started; their pids are those of their host. */
void ep_viewers_started(struct ep_viewers *all, uint32_t number,
                        const uint32_t *pids, uint32_t count);
/* Is the channel redirected at present? */
bool ep_viewers_redirects(const struct ep_viewers *all, uint32_t number,
                          uint8_t channel);
/* Does output of the channel come back by on_back at present? What is new is
 * for the console behind that. */
bool ep_viewers_gives_back(const struct ep_viewers *all, uint32_t number,
                           uint8_t channel);
/* One output of on_back is on its way to the console. */
void ep_viewers_took_back(struct ep_viewers *all);
/* Does a client want this output of a further job? */
bool ep_viewers_wants(const struct ep_viewers *all, uint32_t number,
                      uint8_t channel);
void ep_viewers_exit(struct ep_viewers *all, uint32_t number, uint32_t status);
void ep_viewers_logged(struct ep_viewers *all, uint32_t token); /* on_log */
/* These ranks have a stdin, or no more; at the start nobody has. */
void ep_viewers_has_stdin(struct ep_viewers *all, uint32_t first, uint32_t last,
                          bool is_open);
/* This process of a further job is behind in its stdin, so that nothing more is
 * to be pushed to its job for now; or it is not any more. */
void ep_viewers_behind(struct ep_viewers *all, uint32_t number, bool is_behind);
/* The oldest push of this writer is in its stream. May be called from within
 * on_push and on_pushers. */
void ep_viewers_pushed(struct ep_viewers *all, uint32_t writer);
void ep_viewers_job(struct ep_viewers *all, const struct ep_tap_job *told);
/* What on_spawn has put off can be tried again, at once: from within it that
 * may be called. */
void ep_viewers_again(struct ep_viewers *all);
/* No output follows. Once. True: some have yet to read what there is, and
 * on_flushed comes, in minutes at most. */
bool ep_viewers_flush(struct ep_viewers *all);

/* --- clients */

/* Those that watch (watchers.h); borrowed. */
struct ep_watchers *ep_viewers_watchers(struct ep_viewers *all);

/* The client behind this socket, which is borrowed, wants to attach to the job
 * of this name ("": the only one): it is told of it, at once or when they are
 * open. NULL: it cannot, and `why` (JOB_DOOR_TEXT_MAX bytes) says why. */
struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why);
/* The client behind it wants to start a job: what it says is next. NULL: out of
 * memory. */
struct ep_viewer *ep_viewer_ask(struct ep_viewers *all, int fd,
                                const struct ep_viewer_events *events,
                                void *arg);
void ep_viewer_close(struct ep_viewer *viewer);
/* What it says from then on. NULL, or what is wrong with it: it is to go. */
const char *ep_viewer_hear(struct ep_viewer *viewer,
                           const struct job_door *msg);

#endif
