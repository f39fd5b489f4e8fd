/* The launcher's side of PMIx: it starts the helper, tells it of the job, and
 * hands it the output that tools have asked for.
 *
 * Nothing that happens to the helper or to a tool touches the job. One that
 * dies, cannot be started, or hangs for ten seconds is started again, at most
 * eight times with growing pauses; that of a dvm as often as it takes, or three
 * times before tools could connect. The user is told the first time.
 *
 * Memory: what is asked for is not copied but held, in the caller's buffers,
 * until the socket to the helper has taken it. A healthy helper takes it at
 * once: it queues for the tools itself. From one that has taken nothing for
 * HOLD_MS nothing is held any more, so that the caller's windows are free; the
 * bytes are counted, and told to it when it takes again.
 *
 * All calls and callbacks in the thread that runs the event base; callbacks
 * come from the loop, on_released from px_host_close, too.
 */
#ifndef PMIX_API_HOST_H
#define PMIX_API_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "job/record.h"
#include "pmix_api/host_events.h"

struct event_base;
struct px_host;

struct px_host_cfg {
    struct event_base *base; /* borrowed, as are all pointers here */
    const char *path;        /* of the helper, the program xylem-pmix */
    const char *mark;        /* whose folder it is, for its name; or "" */
    const char *nspace;
    uint32_t size; /* processes */
    uint32_t apps; /* programs */
    uint32_t parts;
    uint8_t allow; /* PX_ALLOW_USER, PX_ALLOW_ROOT: whose tools may connect */
    uint32_t cache_bytes; /* of each channel are kept for on_replay */
    uint32_t push_bytes;  /* of a message for on_push, at most */
    bool is_dvm;          /* the processes are daemons, and no job */
    const struct px_host_events *events;
    void *arg;
};

/* The helper is started 200 ms after the first processes, or a second after
 * this, so that it takes no time from a launch; at once when the environment
 * names a rendezvous file, for which a tool waits. Returns 0 or OV_ENOMEM. */
int px_host_open(const struct px_host_cfg *cfg, struct px_host **out);

/* Ends the helper, releases what it holds, frees everything. NULL is fine. */
void px_host_close(struct px_host *host);

/* Output of a process; all of it, whether tools are there or not: those that
 * come later are told which channels have ended. Returns true when a tool wants
 * it: its bytes are borrowed until on_released. What is redirected is not
 * dropped for a helper that takes nothing: it waits until that has died. O(1).
 */
bool px_host_output(struct px_host *host, const struct job_record *output);

/* The node of these processes is lost: it answers to no on_replay. */
void px_host_lost(struct px_host *host, uint32_t first, uint32_t count);
/* Answers to on_replay are still to come. O(pulls). */
bool px_host_replays(const struct px_host *host);

/* Ranks from `rank` on were started; pids as their host counts them. */
void px_host_started(struct px_host *host, uint32_t rank, const uint32_t *pids,
                     uint32_t count);
/* Is the channel redirected to a tool at present? O(1). */
bool px_host_redirects(const struct px_host *host, uint32_t rank,
                       uint8_t channel);

/* Does a tool want the channel, as far as its helper has said, or will it when
 * it has what was before? O(1). */
bool px_host_wants(const struct px_host *host, uint32_t rank, uint8_t channel);

/* Does redirected output of the channel come back by on_back at present? What
 * is new is to be shown behind that: on_back_over says when. O(1). */
bool px_host_gives_back(const struct px_host *host, uint32_t rank,
                        uint8_t channel);
/* One output of on_back is needed no more, or has gone on its way. */
void px_host_took_back(struct px_host *host);

/* A process has ended; status as of waitpid. */
void px_host_exit(struct px_host *host, uint32_t rank, uint32_t status);
/* What was to be asked for later is, in order. */
void px_host_again(struct px_host *host);
/* Somebody else has started a job, of which tools are to know; `forwards` as of
 * struct px_spawn. */
void px_host_begun(struct px_host *host, const struct px_spawned *spawned,
                   uint8_t forwards);
/* All processes of the job with this base run. */
void px_host_running(struct px_host *host, uint32_t base);
/* One cannot be started, for this reason; the others will end. */
void px_host_failed(struct px_host *host, uint32_t base, enum px_answer why);
/* All have ended, and all of its output came. */
void px_host_over(struct px_host *host, uint32_t base);
/* Nor is anything of it kept any more. */
void px_host_forgotten(struct px_host *host, uint32_t base);

/* The answer to an on_log. Harmless when its helper has gone. */
void px_host_done(struct px_host *host, uint32_t token, enum px_answer answer);

/* These ranks of one job have a stdin, which tools may push to; or they have
 * none any more, for good. At the start nobody has one. */
void px_host_stdin(struct px_host *host, uint32_t first, uint32_t last,
                   bool is_open);

/* This process of a further job is behind in its stdin, so nothing more is to
 * go to its job for now; or it no longer is. */
void px_host_behind(struct px_host *host, uint32_t number, bool is_behind);

/* The oldest push to the job with this base without this call has its place in
 * the stream. Another one may come. */
void px_host_pushed(struct px_host *host, uint32_t base);

/* No output follows, and the job is over. Returns true when on_flushed will
 * come: within 20 s of the last px_host_took_back() or of this call; false:
 * there is nothing to wait for. */
bool px_host_flush(struct px_host *host);

#endif
