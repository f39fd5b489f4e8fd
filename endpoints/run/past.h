/* Jobs that are over and whose output is still kept on their nodes, for those
 * who come late.
 *
 * The nodes keep it until they are told to forget the job, and what of it they
 * have room for; so all of them agree on which jobs there are to be asked for.
 */
#ifndef ENDPOINTS_RUN_PAST_H
#define ENDPOINTS_RUN_PAST_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct run_past;

/* So many jobs, each for so long; when one more is over the one that was over
 * first goes. They stay a little longer while an answer of output from before
 * is due. */
enum { RUN_PASTS_MAX = 32, RUN_PASTS_S = 30 };

struct run_past_events {
    /* This job is forgotten: the nodes and the clients are to hear of it. */
    void (*on_forget)(void *arg, uint32_t base, uint32_t size);
    /* What was kept of these processes is gone. */
    void (*on_lost)(void *arg, uint32_t first, uint32_t count);
    /* Is an answer due? */
    bool (*is_awaited)(void *arg);
};

/* Events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_past_open(const struct run_past_events *events, void *arg,
                     struct run_past **out);
/* Forgets all without a word. NULL is fine. */
void ep_run_past_close(struct run_past *past);

/* The job is over. Where memory is out it is forgotten at once. O(ranks). */
void ep_run_past_add(struct run_past *past, const struct job *job,
                     uint64_t now_ns);
/* Forgets those whose time is over; is there still one? Ask again a second
 * later then. O(those that go). */
bool ep_run_past_tick(struct run_past *past, uint64_t now_ns);
/* The node is gone, and what it kept. O(processes of all). */
void ep_run_past_lost(struct run_past *past, uint32_t node);

#endif
