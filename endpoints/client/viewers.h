/* Clients that look at a job: they get a copy of its output, and push to its
 * stdin. Or a client starts a job (job/request.h), which it then owns: the
 * output that it names comes from the first byte on, the job waits while the
 * client does not take that output (if the client asked for this), and the job
 * ends with its client unless it is to be kept. Other clients watch the session
 * (watchers.h).
 *
 * Clients are the tap of the launcher (endpoints/client/requests.h): it tells
 * them about all jobs and each record, and they say what they want of it. They
 * never hold a record, never end a job of others, and never fail. What a client
 * takes is sent from where it lies, or copied to its outbox; when that is full
 * the rest of the record is dropped, and the next record of the channel says
 * how much was. The client is always told about that and about the ends of
 * channels, as soon as it has read something. Output that was written before a
 * client came is asked of the daemons (job/late.h). A client that takes output
 * instead of the console is served from a store (endpoints/client/escrow.h),
 * and its output is never dropped; a client that names a limit for its copies
 * has such a store, too.
 *
 * The door owns the viewers, from its first launch to the last, and each launch
 * opens them anew. A client that comes before that waits; a client that looks
 * at a job when a launch is repeated is told to come again. Everything runs in
 * the loop's thread.
 *
 * Memory: for each slow client 4 MiB and 64 KiB of words, but for all together
 * 16 MiB and 128 KiB for each client beyond that; for each client whose job
 * waits 1 MiB and what is on its way in the tree when the job is held back, 64
 * MiB at most. A byte for each process of a job, and for each client that looks
 * at it one more, another one while the client waits for output from before,
 * and 24 where something was dropped. 8 bytes for each range that a client
 * names.
 */
#ifndef ENDPOINTS_CLIENT_VIEWERS_H
#define ENDPOINTS_CLIENT_VIEWERS_H

#include <stdbool.h>

#include "endpoints/client/requests.h"
#include "job/door.h"

struct ep_viewer;
struct ep_viewers;
struct ep_watchers;

struct ep_viewer_events {
    /* The client is to go, and why; NULL: without a word. Comes from the loop,
     * never from within a call of the viewer's own. The viewer is closed
     * already. */
    void (*on_cut)(void *arg, const char *why);
};

/* Returns NULL when memory is out. */
struct ep_viewers *ep_viewers_new(void);
/* The viewers are closed, and none is left. NULL is fine. */
void ep_viewers_free(struct ep_viewers *all);

/* --- what the launcher tells, between open and close. In a session without a
 * door `all` is NULL. Costs O(viewers) unless stated otherwise. */

/* The job is planned and its daemons are being started. Returns 0 or OV_ENOMEM;
 * then the viewers are not open, and wait. */
int ep_viewers_open(struct ep_viewers *all, const struct ep_client_cfg *cfg);
/* The next close is not the end of the session. */
void ep_viewers_anew(struct ep_viewers *all);
/* Cuts off the clients that have a job. */
void ep_viewers_close(struct ep_viewers *all);
/* A record, or the end of a channel of a lost node. Returns true when it was
 * redirected, and so was taken instead of the console; what no client gets of
 * it comes back by on_back. */
bool ep_viewers_output(struct ep_viewers *all, const struct job_record *rec);
/* Tells whether the record can be given to clients, instead of the console or
 * as output from before. If not, on_back_over says when to ask again. */
bool ep_viewers_has_room(const struct ep_viewers *all,
                         const struct job_record *rec);
/* The node of these ranks is lost and gives no answers. To be called before the
 * ends of their channels. O(count * viewers). */
void ep_viewers_lost(struct ep_viewers *all, uint32_t first, uint32_t count);
/* Tells whether answers to on_replay are still to come. */
bool ep_viewers_replays(const struct ep_viewers *all);
/* Ranks from `number` on were started; the pids are those on their host. */
void ep_viewers_started(struct ep_viewers *all, uint32_t number,
                        const uint32_t *pids, uint32_t count);
/* Tells whether the channel is redirected at present. */
bool ep_viewers_redirects(const struct ep_viewers *all, uint32_t number,
                          uint8_t channel);
/* Tells whether output of the channel is coming back by on_back at present. New
 * output is for the console, behind that. */
bool ep_viewers_gives_back(const struct ep_viewers *all, uint32_t number,
                           uint8_t channel);
/* One piece of output of on_back is on its way to the console. */
void ep_viewers_took_back(struct ep_viewers *all);
/* Tells whether a client wants this output of a further job. */
bool ep_viewers_wants(const struct ep_viewers *all, uint32_t number,
                      uint8_t channel);
void ep_viewers_exit(struct ep_viewers *all, uint32_t number, uint32_t status);
void ep_viewers_logged(struct ep_viewers *all, uint32_t token); /* on_log */
/* These ranks have a stdin, or no longer have one. At the start none has. */
void ep_viewers_has_stdin(struct ep_viewers *all, uint32_t first, uint32_t last,
                          bool is_open);
/* A process of a further job is behind in its stdin, so that for now nothing
 * more is to be pushed to its job; or it has caught up. */
void ep_viewers_behind(struct ep_viewers *all, uint32_t number, bool is_behind);
/* The oldest push of this writer is in its stream. May be called from within
 * on_push and on_pushers. */
void ep_viewers_pushed(struct ep_viewers *all, uint32_t writer);
void ep_viewers_job(struct ep_viewers *all, const struct ep_client_job *told);
/* Jobs that on_spawn has put off are tried again at once: on_spawn may be
 * called from within. */
void ep_viewers_again(struct ep_viewers *all);
/* No output follows. To be called once. True: some clients have yet to read
 * what there is, and on_flushed comes, in minutes at most. */
bool ep_viewers_flush(struct ep_viewers *all);

/* --- clients */

/* The clients that watch (watchers.h); borrowed. */
struct ep_watchers *ep_viewers_watchers(struct ep_viewers *all);

/* The client behind this socket, which is borrowed, wants to attach to the job
 * of this name ("": the only one). It is told about the job at once or when the
 * viewers are open. NULL: it cannot attach, and `why` (JOB_DOOR_TEXT_MAX bytes)
 * says why. */
struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why);
/* The client behind the socket wants to start a job, and its next messages say
 * which. NULL: memory is out. */
struct ep_viewer *ep_viewer_ask(struct ep_viewers *all, int fd,
                                const struct ep_viewer_events *events,
                                void *arg);
void ep_viewer_close(struct ep_viewer *viewer);
/* What the client says from then on. Returns NULL, or what is wrong with it:
 * the client is to go. */
const char *ep_viewer_hear(struct ep_viewer *viewer,
                           const struct job_door *msg);

#endif
