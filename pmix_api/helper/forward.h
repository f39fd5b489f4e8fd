/* Output of the jobs that the tool has started, which comes to it without a
 * pull. The tool's library shows it, except what goes to a pull of the tool.
 *
 * The connection that has started the job hears its output (spawns.h) and hands
 * it on to here; what the tool does not take waits (backlog.h). A channel is
 * one stream: each piece goes either to the pulls that name the channel, or is
 * shown. So nothing is missing between the two and nothing comes twice. A piece
 * that was meant for a pull, and reached nothing because the pull was
 * deregistered, is shown.
 *
 * What the tool has had is kept within the bounds of the job's cache (past.h).
 * A pull that asks for earlier output gets that first, for the channels that no
 * other pull has; it does not get what is on its way to the tool at that
 * moment.
 *
 * What is shown is whole lines (gather.h), unless the spawn wants bytes as they
 * come. The tool's library puts them into the format that the spawn asks for.
 *
 * All in the loop's thread. Memory: that of a backlog, two gathers and a past
 * for each job, two bytes for each process, and what the tool has not yet read
 * of what its pulls got.
 */
#ifndef PMIX_API_HELPER_FORWARD_H
#define PMIX_API_HELPER_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "job/door.h"
#include "pmix_api/helper/lib/lib.h"

struct ep_writer;
struct px_door;
struct px_forwards;
struct px_history_claim;
struct px_source_deliveries;

struct px_forwards_events {
    /* The channels of a process that pulls of the tool name; bits. */
    uint8_t (*pulled)(void *arg, uint32_t base, uint32_t rank);
    /* How many deliveries there were when the first of the pulls that name this
     * channel was answered; 0: none names it. */
    uint64_t (*since)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* This delivery was for a pull and reached none: the pulls that named the
     * channel by then are over. */
    void (*on_missed)(void *arg, uint32_t base, uint32_t rank, uint8_t channel,
                      uint64_t delivery);
    /* A channel has ended, and the tool has been told. */
    void (*on_end)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* There is something to give to the tool. */
    void (*on_change)(void *arg);
};

struct px_forwards_cfg {
    struct ep_writer *writer; /* all of this is borrowed */
    const char *dir;          /* in which files with waiting output are made */
    struct px_source_deliveries *deliveries;
    const struct px_forwards_events *events;
    void *arg;
};

/* What px_forward_add() has to know of a job. */
struct px_forward_cfg {
    const struct job_door *job; /* its JOB message */
    uint8_t channels;           /* bits, 1 << channel */
    bool has_lines;             /* only whole lines are shown */
    const struct px_lib_wish *wish;
    struct px_door *door; /* borrowed until px_forward_cut() */
};

/* Returns 0 or OV_ENOMEM. */
int px_forwards_open(const struct px_forwards_cfg *cfg,
                     struct px_forwards **out);
/* NULL is fine. */
void px_forwards_close(struct px_forwards *all);

/* Adds a job; none of its output is given yet. Returns 0, OV_ENOMEM or
 * OV_ESYS. */
int px_forward_add(struct px_forwards *all, const struct px_forward_cfg *cfg);
/* Lets the output of the job go to the tool, which knows the job now. */
void px_forward_begin(struct px_forwards *all, uint32_t base);
/* Takes an OUTPUT of the job. False: it cannot be taken now, as px_door_events
 * says. */
bool px_forward_hear(struct px_forwards *all, uint32_t base,
                     const struct job_door *msg);
/* Says that the session sends nothing more of the job. */
void px_forward_cut(struct px_forwards *all, uint32_t base);
/* Gives no further output of the job. */
void px_forward_drop(struct px_forwards *all, uint32_t base);
/* Gives no further output of any job: the tool has gone. */
void px_forwards_stop(struct px_forwards *all);
/* Says how a pull of the tool wishes to get its output. */
void px_forward_wish(struct px_forwards *all, uint32_t base,
                     const struct px_lib_wish *wish);

/* Says that a pull of the tool, which waits for its answer, is to get what
 * comes from now on, and before that the earlier output that `claim` asks for.
 * It gets earlier output only of channels that come without a pull and that no
 * other pull names; none when the claim asks for 0 bytes or nothing of the job
 * is kept. Returns 0, or OV_ENOMEM. */
int px_forward_claim(struct px_forwards *all, uint32_t base,
                     const struct px_history_claim *claim);
/* Forgets the claims of a pull that is over or was refused. */
void px_forward_forget(struct px_forwards *all, uint32_t owner);

/* The channels of a process that come without a pull and have not ended; bits.
 * O(jobs). */
uint8_t px_forward_covers(const struct px_forwards *all, uint32_t base,
                          uint32_t rank);
/* True when output of the job, or of any job with UINT32_MAX, is still to be
 * given. */
bool px_forward_is_open(const struct px_forwards *all, uint32_t base);

/* Gives at most one delivery of each job, where there is room for it. Returns
 * whether there was any. Not to be called while a pull waits for its answer. */
bool px_forwards_give(struct px_forwards *all, uint64_t now_ms);
/* Say that this delivery has reached no pull, and that the tool has read
 * `taken` deliveries. Those that reached no pull must have been told before. */
void px_forwards_missed(struct px_forwards *all, uint64_t delivery);
void px_forwards_taken(struct px_forwards *all, uint64_t taken);
/* True when the passing of time has an effect here, so that px_forwards_give()
 * must be called again. */
bool px_forwards_are_busy(const struct px_forwards *all);

#endif
