/* What the launcher's side of PMIx says to its caller. */
#ifndef PMIX_API_HOST_EVENTS_H
#define PMIX_API_HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/neighbours.h"
#include "job/replay.h"
#include "pmix_api/spawn.h"
#include "pmix_api/wire.h"

struct job_record;

enum { PX_NSPACE_BYTES = 64 };

/* A job beside the run's own. */
struct px_spawned {
    char nspace[PX_NSPACE_BYTES]; /* its name */
    uint32_t base;                /* the number of its first process, not 0 */
    uint32_t size, apps, parts;
    uint32_t cache_bytes;   /* of each channel that it forwards are kept for
                               on_replay, until px_host_forgotten() */
    enum px_answer refusal; /* where there is none */
    bool is_later;          /* nor is it refused: see px_host_again() */
};

struct px_host_events {
    /* Where the ranks of the job with this base are: part `index` of parts, in
     * the order of ranks, borrowed until the next call. Of a job of on_spawn:
     * at once. */
    void (*on_part)(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out);
    /* The bytes of px_host_output() are not needed any more. */
    void (*on_released)(void *arg, uint64_t cookie);
    /* Redirected output goes to the helper now, and cannot come back. In order
     * for each channel. */
    void (*on_gone)(void *arg, uint64_t cookie);
    /* No tool is there for this redirected output any more: it is the caller's,
     * who is still told on_released. In order, and before anything that comes
     * later. */
    void (*on_returned)(void *arg, uint64_t cookie);
    /* Redirected output that no tool has taken, and of which on_gone was told:
     * the caller's once more. Borrowed within the call; px_host_took_back() is
     * to follow. In order for each channel. False: it does not take it. */
    bool (*on_back)(void *arg, const struct job_record *output);
    /* Nothing more comes back of some channels: px_host_gives_back(). */
    void (*on_back_over)(void *arg);
    /* All that tools wanted has gone to them, or cannot; once, after
     * px_host_flush(). */
    void (*on_flushed)(void *arg);
    /* A tool wants what was before. Returns the ticket of the outputs that
     * answer: a turn, the last one, comes for each channel, or px_host_lost();
     * new output of a channel comes behind it. 0: nothing is kept. */
    uint16_t (*on_replay)(void *arg, const struct job_replay_wish *want);
    /* A tool has something to say: text for stdout or stderr, borrowed. With a
     * token other than 0 px_host_done() is due once it is written. False: it
     * cannot be taken, and nothing is due. */
    bool (*on_log)(void *arg, const struct px_log *log);
    /* A tool sends a signal, to all processes or to some. */
    enum px_answer (*on_signal)(void *arg, const struct px_signal *signal);
    /* A tool has pushed to processes of the job with this base: a message as of
     * overlay/wire/push.h, borrowed within the call; px_host_pushed() is to
     * follow for each, also from within it. Four at most of a stream of
     * job/job.h are without that. All that tools push to a job comes from one
     * writer, whose number is the base. */
    void (*on_push)(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes);
    /* Tools push nothing further to that job. */
    void (*on_left)(void *arg, uint32_t base, uint32_t writer);
    /* A tool is about to push to the run's own job: the end of the launcher's
     * stdin must not end that of its processes. Or none is left. */
    void (*on_pushers)(void *arg, bool are_there);
    /* More output is wanted than before: px_host_wants(). Returns whether nodes
     * that have dropped it are told; on_replay says when they have heard. */
    bool (*on_wanted)(void *arg);
    /* A tool wants a job; all is borrowed. True: it begins, *out says which,
     * and px_host_over() is to follow, behind px_host_running() or _failed();
     * behind that px_host_forgotten() where something is kept. False:
     * out->refusal says why not, or it is to be asked for later. */
    bool (*on_spawn)(void *arg, const struct px_spawn *spawn,
                     struct px_spawned *out);
    /* Tools can connect, at this address; again with another helper. NULL: not
     * any more, as that has died. */
    void (*on_up)(void *arg, const char *uri);
    /* A dvm: tools could not connect yet, and never will; why. */
    void (*on_given_up)(void *arg, const char *why);
    void (*on_say)(void *arg, const char *text);  /* to the user */
    void (*on_note)(void *arg, const char *text); /* who wants to know all */
};

#endif
