/* What tools have asked for, as the launcher knows it. */
#ifndef PMIX_API_HOST_PULLS_H
#define PMIX_API_HOST_PULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/wire.h"

struct px_host;
struct px_host_job;
struct px_host_output;

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
    uint8_t *waits; /* owned, by number from the first of `ranges` on: channels
                       that come behind what was before; NULL: none do */
    uint32_t waits_first, waits_count;
    uint64_t waits_left;
    bool is_full;    /* its processes are held back */
    bool is_stopped; /* it is over, and gives back what was redirected to it */
    uint16_t ticket;
};

/* --- host_walk.c */

typedef void (*px_pull_rank_fn)(struct px_host *host,
                                const struct px_host_pull *pull,
                                const struct px_host_job *job, uint32_t rank);

/* Each process that it names, once, however often it does. */
void px_pulls_walk(struct px_host *host, const struct px_host_pull *pull,
                   px_pull_rank_fn visit);

/* --- host_pulls.c */

/* A piece of it; the last one makes it valid. */
void px_pulls_told(struct px_host *host, const struct px_pull *pull);
void px_pulls_ended(struct px_host *host, const struct px_end *end);
void px_pulls_behind(struct px_host *host, uint32_t id);
/* It gets nothing more, and END comes when all has come back. */
void px_pulls_stopped(struct px_host *host, uint32_t id);
/* It has no room; or, called once more, has again. */
void px_pulls_full(struct px_host *host, uint32_t id);
/* No pull is left, nor anything of them. */
void px_pulls_clear(struct px_host *host);

/* --- host_ends.c: channels that have ended. */

/* False: the channel's end is told already, or it says nothing new. */
bool px_ends_note(struct px_host *host, struct px_host_job *job,
                  const struct px_host_output *output);
/* A process has ended: so have the channels that it never had. */
void px_ends_exit(struct px_host *host, struct px_host_job *job, uint32_t rank);
/* To a pull that begins: which of its channels have ended before. */
void px_ends_tell(struct px_host *host, const struct px_host_pull *pull);
/* The same of processes whose jobs are over and forgotten: all of them. */
void px_ends_tell_over(struct px_host *host, const struct px_host_pull *pull);

/* --- host_replay.c: output from before a pull. */

/* Channels of the process that the pull gets when it has what was before. */
uint8_t px_replay_waits(const struct px_host_pull *pull, uint32_t number);
/* False: there is none, and the pull gets all at once. Else it gets each
 * channel at its turn; */
bool px_replay_begin(struct px_host *host, struct px_host_pull *pull);
/* those without a past now. */
void px_replay_tell(struct px_host *host, const struct px_host_pull *pull);
void px_replay_drop(struct px_host_pull *pull);
/* As px_host_output(), with a ticket. */
bool px_replay_output(struct px_host *host,
                      const struct px_host_output *output);

#endif
