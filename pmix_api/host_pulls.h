/* What tools have asked for, as the launcher knows it. */
#ifndef PMIX_API_HOST_PULLS_H
#define PMIX_API_HOST_PULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/late.h"
#include "pmix_api/journal.h"
#include "pmix_api/share.h"
#include "pmix_api/wire.h"

struct px_host;
struct px_host_job;
struct job_record;

struct px_host_range {
    uint32_t first, last; /* numbers of processes */
    uint32_t cache_bytes; /* of each channel from before */
};

/* What a tool has asked for. */
struct px_host_pull {
    struct px_host_pull *next;
    struct px_pull told; /* the range is in `ranges` */
    uint32_t ranges_count;
    struct px_host_range *ranges; /* owned, ascending, apart */
    struct job_late late; /* channels that come behind what was before */
    uint64_t turns;       /* of channels, pushed and not sent */
    bool is_stopped; /* it is over, and gives back what was redirected to it; */
    uint32_t stop_nth; /* the nth to be over, from 1 on; */
    bool is_answered;  /* the helper may begin */
    bool has_journal;
    struct px_journal journal; /* of what is redirected to it */
    unsigned slot;             /* where its state is (share.h) */
    struct px_share_state at;  /* and was at the last look */
    bool is_live;              /* with the first output that it gets: */
    uint64_t live_at;          /* redirected_bytes then */
    uint64_t sent_at;  /* its helper has died: of what it got its tool has all
                          before this position */
    uint64_t until;    /* with has_journal: nothing that is pushed from then on
                          is redirected to it; */
    uint64_t until_at; /* redirected_bytes there, once some has gone */
};

/* --- host_walk.c */

typedef void (*px_pull_rank_fn)(struct px_host *host, struct px_host_pull *pull,
                                const struct px_host_job *job, uint32_t rank);

/* Each process that it names, once, however often it does. */
void px_pulls_walk(struct px_host *host, struct px_host_pull *pull,
                   px_pull_rank_fn visit);

/* --- host_pulls.c */

/* A piece of it; the last one makes it valid. */
void px_pulls_told(struct px_host *host, const struct px_pull *pull);
void px_pulls_ended(struct px_host *host, const struct px_end *end);
void px_pulls_note_end(struct px_host *host, uint32_t id);
void px_pulls_behind(struct px_host *host, uint32_t id);
/* It gets nothing more, and END comes when all has come back. */
void px_pulls_stopped(struct px_host *host, uint32_t id);
/* The next one that is over may give back, unless something of another one is
 * still to come back: the console gets what they had in order. O(pulls). */
void px_pulls_go_on(struct px_host *host);
/* Where it is linked; *px_pulls_find() is NULL when there is none. */
struct px_host_pull **px_pulls_find(struct px_host *host, uint32_t id);
/* One less; nothing else is told of it. */
void px_pulls_drop(struct px_host_pull **at);
/* What all of them want; also those whose helper has died, of which something
 * comes back. O(pulls * processes). */
void px_pulls_sum_up(struct px_host *host);
/* No pull is left, nor anything of them. */
void px_pulls_clear(struct px_host *host);

/* --- host_ends.c: channels that have ended. */

/* False: the channel's end is told already, or it says nothing new. */
bool px_ends_note(struct px_host *host, struct px_host_job *job,
                  const struct job_record *output);
/* A process has ended: so have the channels that it never had. */
void px_ends_exit(struct px_host *host, struct px_host_job *job, uint32_t rank);
/* To a pull that begins: which of its channels have ended before. */
void px_ends_tell(struct px_host *host, struct px_host_pull *pull);
/* The same of processes whose jobs are over and forgotten: all of them. */
void px_ends_tell_over(struct px_host *host, const struct px_host_pull *pull);

/* --- host_replay.c: output from before a pull. */

/* False: there is none, and the pull gets all at once. Else it gets each
 * channel at its turn; `is_late`: also one without a past, as its node may not
 * have heard yet that somebody wants it; */
bool px_replay_begin(struct px_host *host, struct px_host_pull *pull,
                     bool is_late);
/* those without a past now. */
void px_replay_tell(struct px_host *host, struct px_host_pull *pull);
/* A channel ends: where nothing is kept of its job the node may have forgotten
 * that, and does not answer. */
void px_replay_end(struct px_host *host, struct px_host_job *job, uint32_t rank,
                   uint8_t channel);
/* As px_host_output(), with a ticket. */
bool px_replay_output(struct px_host *host, const struct job_record *output);

#endif
