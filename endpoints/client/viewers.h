/* Clients that look at a job: they get a copy of its output, and push bytes to
 * its stdin. A client may also start a job (job/request.h), which it then owns:
 * the client gets the output that it names from the first byte on, the job
 * waits while the client does not take that output (if the client asked for
 * this), and the job ends with its client unless it is to be kept. Other
 * clients watch the session (watchers.h).
 *
 * All clients together are the launcher's tap (endpoints/client/requests.h):
 * the launcher tells the tap about all jobs and each record, and the tap makes
 * requests for its clients. No client keeps a record from being freed or ends a
 * job that it does not own. A record is sent to a client from where it lies in
 * memory, or copied to the client's outbox. When the outbox is full, the rest
 * of the record is dropped, and the next record of the channel says how much
 * was dropped. The client is always told about this and about the ends of
 * channels, as soon as it has read something. The daemons are asked for output
 * that was written before a client connected (job/late.h). A client that gets
 * output instead of the console has a store (endpoints/client/escrow.h), and
 * its output is never dropped; a client that names a limit for its copies has
 * such a store, too.
 *
 * The door owns the viewers as long as the session lasts, and each launch opens
 * them again. A client that connects before that waits; a client that looks at
 * a job when a launch is repeated is told to attach again. Everything runs in
 * the loop's thread.
 *
 * Memory: for each slow client 4 MiB of output and 64 KiB of other messages.
 * All slow clients together have 16 MiB of output; when that is used up, 128
 * KiB for each. For a client whose job waits, 1 MiB and what is on its way in
 * the tree when the job stops, 64 MiB at most. A byte for each process of a
 * job; for each client that looks at the job, one more for each process,
 * another one while the client waits for earlier output, and 24 once something
 * was dropped. 8 bytes for each range that a client names.
 */
#ifndef ENDPOINTS_CLIENT_VIEWERS_H
#define ENDPOINTS_CLIENT_VIEWERS_H

#include <stdbool.h>

#include "endpoints/client/requests.h"
#include "job/clock.h"
#include "job/door.h"

/* The size of a text that names some hosts of a job. */
enum { EP_VIEWERS_HOSTS_BYTES = 256 };

struct ep_viewer;
struct ep_viewers;
struct ep_watchers;
struct text_buf;

struct ep_viewer_events {
    /* The client must be disconnected; `why` is the reason to tell it, or NULL
     * for none. Called from the event loop, never from within a call of a
     * function of this header for the same client. The viewer is closed
     * already. */
    void (*on_cut)(void *arg, const char *why);
};

/* Makes the viewers of a session, without a client. Returns NULL when memory is
 * out. */
struct ep_viewers *ep_viewers_new(void);
/* Frees the viewers, which must be closed and have no client. NULL is fine. */
void ep_viewers_free(struct ep_viewers *all);

/* --- what the launcher tells the viewers, from open to close. In a session
 * without a door `all` is NULL. Costs O(viewers) unless stated otherwise. */

/* Opens the viewers for a launch whose job is planned and whose daemons are
 * being started. Returns 0 or OV_ENOMEM; after an error they are not open, and
 * clients wait. */
int ep_viewers_open(struct ep_viewers *all, const struct ep_client_cfg *cfg);
/* Notes that another launch follows the next ep_viewers_close(), so that
 * clients are told to attach again. */
void ep_viewers_anew(struct ep_viewers *all);
/* Closes the viewers at the end of a launch, and disconnects the clients that
 * have a job. */
void ep_viewers_close(struct ep_viewers *all);
/* Gives clients a record, or the end of a channel of a lost node. Returns true
 * when a client got the record instead of the console; what no client has read
 * of it is given back by on_back. */
bool ep_viewers_output(struct ep_viewers *all, const struct job_record *rec);
/* Tells whether clients have room for the record, which is for them instead of
 * the console, or is earlier output. If not, on_back_over says when to ask
 * again. */
bool ep_viewers_has_room(const struct ep_viewers *all,
                         const struct job_record *rec);
/* Notes that the node of `count` ranks is lost and gives no answers. To be
 * called before the ends of their channels. O(count * viewers). */
void ep_viewers_lost(struct ep_viewers *all, uint32_t first, uint32_t count);
/* Tells whether some clients still wait for answers to on_replay. */
bool ep_viewers_replays(const struct ep_viewers *all);
/* Notes that `count` ranks from `number` on were started. The pids are those on
 * their host. */
void ep_viewers_started(struct ep_viewers *all, uint32_t number,
                        const uint32_t *pids, uint32_t count);
/* Tells whether a client gets the channel instead of the console now. */
bool ep_viewers_redirects(const struct ep_viewers *all, uint32_t number,
                          uint8_t channel);
/* Tells whether on_back has yet to give back output of the channel. New output
 * of the channel must wait until then, and is for the console. */
bool ep_viewers_gives_back(const struct ep_viewers *all, uint32_t number,
                           uint8_t channel);
/* Notes that the console has accepted a piece of output from on_back. */
void ep_viewers_took_back(struct ep_viewers *all);
/* Tells whether a client wants this output of a further job. */
bool ep_viewers_wants(const struct ep_viewers *all, uint32_t number,
                      uint8_t channel);
void ep_viewers_exit(struct ep_viewers *all, uint32_t number, uint32_t status,
                     struct job_span at);
/* Notes that the text with this token was written, see on_log. */
void ep_viewers_logged(struct ep_viewers *all, uint32_t token);
/* Notes that these ranks have a stdin, or no longer have one. At first no rank
 * has. */
void ep_viewers_has_stdin(struct ep_viewers *all, uint32_t first, uint32_t last,
                          bool is_open);
/* Notes that a process of a further job is slow to read its stdin, so that
 * clients push nothing more to its job for now; or (is_behind is false) that
 * the process has read enough. */
void ep_viewers_behind(struct ep_viewers *all, uint32_t number, bool is_behind);
/* Notes that the oldest push of this writer has its place in its stream. May be
 * called from within on_push and on_pushers. */
void ep_viewers_pushed(struct ep_viewers *all, uint32_t writer);
void ep_viewers_job(struct ep_viewers *all, const struct ep_client_job *told);
/* Tries again to start the jobs that on_spawn has put off; on_spawn may be
 * called from within. */
void ep_viewers_again(struct ep_viewers *all);
/* Notes that no output follows. To be called once. Returns true when some
 * clients have yet to read what is there; on_flushed is called when they have,
 * or after minutes at most. */
bool ep_viewers_flush(struct ep_viewers *all);

/* Describes the first job that is not over and whose base is not less than
 * this one, as an answer to LIST; is_over: there is none now. The answer
 * borrows from `hosts`, and from the viewers until the next call. `all` is not
 * NULL. O(jobs), and O(parts of the job). */
void ep_viewers_list(const struct ep_viewers *all, uint32_t base,
                     char hosts[EP_VIEWERS_HOSTS_BYTES],
                     struct job_door *answer);

/* Writes which processes of the job with this base run, and how the others have
 * ended, as lines. *is_more: what they are doing is not known yet, but will be
 * soon. Returns false when there is no such job, or it is over. */
bool ep_viewers_groups(const struct ep_viewers *all, uint32_t base,
                       struct text_buf *text, bool *is_more);

/* --- clients */

/* Returns the clients that watch (watchers.h); borrowed. */
struct ep_watchers *ep_viewers_watchers(struct ep_viewers *all);

/* Lets the client with this socket attach to the job of this name ("": to the
 * only job). The socket is borrowed. The client is told about the job at once,
 * or when the viewers are open. Returns NULL when it cannot attach, with the
 * reason in `why` (JOB_DOOR_TEXT_MAX bytes). */
struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why);
/* Lets the client with this socket start a job, which its next messages
 * describe. The socket is borrowed. Returns NULL when memory is out. */
struct ep_viewer *ep_viewer_ask(struct ep_viewers *all, int fd,
                                const struct ep_viewer_events *events,
                                void *arg);
void ep_viewer_close(struct ep_viewer *viewer);
/* Handles a later message of the client. Returns NULL; or what is wrong with
 * the message, and the client must be disconnected. */
const char *ep_viewer_hear(struct ep_viewer *viewer,
                           const struct job_door *msg);

#endif
