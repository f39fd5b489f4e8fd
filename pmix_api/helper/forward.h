/* Output of the jobs that the tool has started, which goes to the tool without
 * a pull. The PMIx library in the tool shows this output, except the part that
 * goes to a pull of the tool.
 *
 * The connection that has started the job receives the output (spawns.h) and
 * passes it to this module; output that the tool does not read yet waits
 * (backlog.h). Each piece of a channel goes either to the pulls that name the
 * channel, or is shown, so that no piece is missing and none comes twice. A
 * piece that was meant for a pull, but did not reach it because the tool
 * deregistered the pull, is shown.
 *
 * Output that the tool has received is kept, within the bounds of the job's
 * cache (history.h). A pull that asks for earlier output gets that first, for
 * the channels that no other pull names; it does not get output that is on its
 * way to the tool at that moment.
 *
 * Whole lines are shown (gather.h), unless the spawn asked for bytes as they
 * come. The tool's library puts them into the format that the spawn asks for.
 *
 * All in the loop's thread. Memory: a backlog, two gathers and a history for
 * each job, two bytes for each process, and the output for pulls that the tool
 * has not read yet.
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
    /* Returns the channels of a process that pulls of the tool name, as bits.
     */
    uint8_t (*pulled)(void *arg, uint32_t base, uint32_t rank);
    /* Returns how many deliveries to the tool there had been when the first of
     * the pulls that name this channel was answered; 0: no pull names it. */
    uint64_t (*since)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* Reports that a delivery was meant for a pull and reached none: so the
     * pulls that named the channel up to then have ended. */
    void (*on_missed)(void *arg, uint32_t base, uint32_t rank, uint8_t channel,
                      uint64_t delivery);
    /* Reports that a channel has ended, and that the tool knows. */
    void (*on_end)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* Reports that there is output to deliver to the tool. */
    void (*on_change)(void *arg);
};

struct px_forwards_cfg {
    struct ep_writer *writer; /* borrowed, as are all members */
    const char *dir;          /* in which files with waiting output are made */
    struct px_source_deliveries *deliveries;
    const struct px_forwards_events *events;
    void *arg;
};

/* A job, for px_forward_add(). */
struct px_forward_cfg {
    const struct job_door *job; /* the JOB message about the job */
    uint8_t channels;           /* bits, 1 << channel */
    bool has_lines;             /* show only whole lines */
    const struct px_lib_wish *wish;
    struct px_door *door; /* borrowed until px_forward_cut() */
};

/* Returns 0 or OV_ENOMEM. */
int px_forwards_open(const struct px_forwards_cfg *cfg,
                     struct px_forwards **out);
/* NULL is fine. */
void px_forwards_close(struct px_forwards *all);

/* Adds a job, without delivering any of its output yet. Returns 0, OV_ENOMEM or
 * OV_ESYS. */
int px_forward_add(struct px_forwards *all, const struct px_forward_cfg *cfg);
/* Begins to deliver output of the job; the tool must know the job by now. */
void px_forward_begin(struct px_forwards *all, uint32_t base);
/* Handles an OUTPUT of the job. False: it cannot be stored now; see on_word in
 * struct px_door_events. */
bool px_forward_hear(struct px_forwards *all, uint32_t base,
                     const struct job_door *msg);
/* Notes that the session sends nothing more of the job. */
void px_forward_cut(struct px_forwards *all, uint32_t base);
/* Stops delivering output of the job. */
void px_forward_drop(struct px_forwards *all, uint32_t base);
/* Stops delivering output of all jobs, because the tool has disconnected. */
void px_forwards_stop(struct px_forwards *all);
/* Sets how output is gathered for a pull of the tool, as the pull asked. */
void px_forward_wish(struct px_forwards *all, uint32_t base,
                     const struct px_lib_wish *wish);

/* Registers a pull of the tool, before the pull is answered: it gets new output
 * from now on, and before that the earlier output that `claim` asks for. It
 * gets earlier output only of channels that go to the tool without a pull and
 * that no other pull names; none when the claim asks for 0 bytes or no output
 * of the job is kept. Returns 0, or OV_ENOMEM. */
int px_forward_claim(struct px_forwards *all, uint32_t base,
                     const struct px_history_claim *claim);
/* Forgets the claims of a pull that has ended or was refused. */
void px_forward_forget(struct px_forwards *all, uint32_t owner);

/* The channels of a process that go to the tool without a pull and have not
 * ended, as bits. O(jobs). */
uint8_t px_forward_covers(const struct px_forwards *all, uint32_t base,
                          uint32_t rank);
/* True when output of the job is still to be delivered; UINT32_MAX as `base`:
 * of any job. */
bool px_forward_is_open(const struct px_forwards *all, uint32_t base);

/* Makes at most one delivery for each job, if there is room for it. Returns
 * true when it made one. Must not be called while a pull waits for its
 * answer. */
bool px_forwards_give(struct px_forwards *all, uint64_t now_ms);
/* px_forwards_missed() notes that a delivery reached no pull,
 * px_forwards_taken() that the tool has read the first `taken` deliveries. For
 * each of these that reached no pull, px_forwards_missed() must have been
 * called before. */
void px_forwards_missed(struct px_forwards *all, uint64_t delivery);
void px_forwards_taken(struct px_forwards *all, uint64_t taken);
/* True when output waits for time to pass, so that px_forwards_give() must be
 * called again later. */
bool px_forwards_are_busy(const struct px_forwards *all);

#endif
