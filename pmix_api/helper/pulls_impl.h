/* A pull, for the files that know pulls from inside. */
#ifndef PMIX_API_HELPER_PULLS_IMPL_H
#define PMIX_API_HELPER_PULLS_IMPL_H

#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/queue.h"
#include "pmix_api/helper/show.h"
#include "pmix_api/helper/trail.h"
#include "pmix_api/helper/wish.h"
#include "pmix_api/share.h"

enum pull_state {
    PULL_FREE,
    PULL_SPAWNING, /* the library has no request for it yet */
    PULL_ASKED,    /* the library has yet to name its request */
    PULL_KNOWN,
    PULL_OVER, /* the library has forgotten it */
};

struct pull {
    enum pull_state state;
    uint32_t id;
    bool redirects, is_behind;
    bool is_forward; /* of a job that its tool has spawned */
    bool is_ending;  /* with the last of what waits it is over */
    bool is_doubted; /* KNOWN: its tool has deregistered one of its own */
    bool is_settled; /* OVER: nothing is left to resume */
    bool is_stopping, is_stopped; /* OVER: the launcher is told, and knows */
    bool is_drained;              /* OVER: some of it has gone back, perhaps */
    uint64_t lost_bytes;          /* OVER: redirected, and nobody has them */
    bool is_forsaken;   /* OVER: its tool takes nothing any more, and the
                           launcher has what was for it, */
    uint64_t kept_from; /* from this position on */
    uint32_t since; /* the first redirected output that it got, since the last
                       of its channels that came behind its past; 0: none yet */
    struct px_receiver to;
    uint32_t seen;
    uint32_t output;       /* of a forward: enum px_output_flag */
    struct px_show *show;  /* owned: makes lines of it; NULL: none */
    uint32_t nth;          /* ASKED: in the order of the questions */
    struct px_wish wish;   /* of a forward, until its job is known */
    pmix_proc_t spawner;   /* of the same: its tool's name */
    uint64_t past_bytes;   /* from before, that wait beside the others */
    uint64_t bound_bytes;  /* redirected output that may wait */
    uint32_t first, procs; /* the numbers from its first process to its last */
    uint8_t *wanted;       /* owned [procs]: bits, 1 << channel, until the end
                              of that is with the library */
    uint32_t open;         /* so many of them are left */
    uint8_t *live;         /* owned [procs]: those that it gets */
    uint32_t batch, room;  /* of its tool, when that batch was open */
    uint64_t given_ms;     /* to the library, the last time */
    struct px_queue queue;
    uint64_t passed_bytes; /* payload that has gone past the queue */
    struct px_trail trail;
    struct px_share_state at; /* as it was told */
    bool has_read;            /* its tool had read all when it closed: */
    uint64_t read_bytes;      /* what had left the queue by then */
};

/* Payload that has come for it; without what its queue had no room for, which
 * is nowhere on the way. */
static inline uint64_t px_pull_own_bytes(const struct pull *pull)
{
    return pull->passed_bytes + pull->queue.stored_bytes;
}

/* All of them, PULLS_MAX, under the lock. */
struct pull *px_pulls_lock(void);
void px_pulls_unlock(void);

/* Under the lock. The pull with this number; NULL: there is none. */
struct pull *px_pulls_find(struct pull *pulls, uint32_t id);
/* Under the lock. A slot for a pull of the tool that is being heard; NULL:
 * there is none left. */
struct pull *px_pulls_slot(void);
/* Under the lock. It wants these channels of the process, bits as above. */
void px_pulls_want(struct pull *pull, uint32_t number, uint8_t channels);
/* Makes it one of these processes. False: it cannot be. */
bool px_pulls_span(struct pull *pull, const struct px_wish *wish,
                   struct topo_range span);

/* Under the lock. Output whose bytes stay where they are, straight to the
 * library; false: it is to wait. The main thread. */
bool px_serve_pass(struct pull *pull, const struct px_output *output,
                   uint64_t now_ms);

/* Under the lock. Output for it, that waits from here on. */
void px_pulls_store(struct pull *pull, const struct px_output *output);

#endif
