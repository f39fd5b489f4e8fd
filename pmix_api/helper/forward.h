/* Output of the jobs that the tool has started, which comes to it by itself:
 * its library shows it, but what a pull of the tool has.
 *
 * Who has started the job hears its output (spawns.h) and hands it on; what the
 * tool does not take waits here (backlog.h). A channel is one stream, of which
 * each piece goes either to the pulls that name it or to what is shown, so that
 * nothing is missing between the two and nothing comes twice. What was for a
 * pull and, as that was deregistered, has reached nobody is shown.
 *
 * What the tool has had is kept as far as that of the job is (past.h). A pull
 * that asks for what was before it has that first, of the channels that no
 * other pull has; what is on its way to the tool just then is not for it.
 *
 * What is shown is whole lines (gather.h), unless the spawn wants bytes as they
 * come. The library of the tool puts them into the format that the spawn asks
 * for.
 *
 * All in the loop's thread. Memory: that of a backlog, two gathers and a past a
 * job, two bytes a process, and what the tool has yet to read of what its pulls
 * have.
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
struct px_past_claim;
struct px_source_deliveries;

struct px_forwards_events {
    /* Channels of a process that pulls of the tool name; bits. */
    uint8_t (*pulled)(void *arg, uint32_t base, uint32_t rank);
    /* Deliveries when the first of those was answered that name this channel;
     * 0: none does. */
    uint64_t (*since)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* This delivery, which was for a pull, has reached nobody: those that named
     * it by then are over. */
    void (*on_missed)(void *arg, uint32_t base, uint32_t rank, uint8_t channel,
                      uint64_t delivery);
    /* A channel has ended, and the tool is told. */
    void (*on_end)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* There is something to give. */
    void (*on_change)(void *arg);
};

struct px_forwards_cfg {
    struct ep_writer *writer; /* borrowed, as all */
    const char *dir;          /* of files in which output waits */
    struct px_source_deliveries *deliveries;
    const struct px_forwards_events *events;
    void *arg;
};

/* One job. */
struct px_forward_cfg {
    const struct job_door *job; /* JOB */
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

/* The job begins; nothing of it is given yet. Returns 0, OV_ENOMEM or OV_ESYS.
 */
int px_forward_add(struct px_forwards *all, const struct px_forward_cfg *cfg);
/* The tool knows of the job. */
void px_forward_begin(struct px_forwards *all, uint32_t base);
/* An OUTPUT of it. False: not now, as px_door_events has it. */
bool px_forward_hear(struct px_forwards *all, uint32_t base,
                     const struct job_door *msg);
/* Nothing more comes of it from the session. */
void px_forward_cut(struct px_forwards *all, uint32_t base);
/* Nothing of it is given any more. */
void px_forward_drop(struct px_forwards *all, uint32_t base);
/* Nothing of any job is given any more: the tool has gone. */
void px_forwards_stop(struct px_forwards *all);
/* A pull of the tool wishes this for what it gets. */
void px_forward_wish(struct px_forwards *all, uint32_t base,
                     const struct px_lib_wish *wish);

/* A pull of the tool, which waits for its answer, is to have what comes from
 * now on; and before that what it claims, which is nothing where that is 0 or
 * nothing of the job is kept: of channels that no other one names and that come
 * so. Returns 0, or OV_ENOMEM. */
int px_forward_claim(struct px_forwards *all, uint32_t base,
                     const struct px_past_claim *claim);
/* It is over, or was refused. */
void px_forward_forget(struct px_forwards *all, uint32_t owner);

/* Channels of a process that come so and have not ended; bits. O(jobs). */
uint8_t px_forward_covers(const struct px_forwards *all, uint32_t base,
                          uint32_t rank);
/* Something of it, or (UINT32_MAX) of any, is still to be given. */
bool px_forward_is_open(const struct px_forwards *all, uint32_t base);

/* Gives a delivery of each, where there is room for it. Says whether there was
 * any. Not while a pull waits for its answer. */
bool px_forwards_give(struct px_forwards *all, uint64_t now_ms);
/* This delivery has reached no pull; and (taken) so many are read, of which it
 * is known what was missed. */
void px_forwards_missed(struct px_forwards *all, uint64_t delivery);
void px_forwards_taken(struct px_forwards *all, uint64_t taken);
/* Time has something to do here. */
bool px_forwards_are_busy(const struct px_forwards *all);

#endif
