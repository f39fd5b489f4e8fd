/* Jobs that are over and whose output their nodes still keep, for clients that
 * come late.
 *
 * The nodes keep the output, as far as they have room, until they are told to
 * forget the job. So all of them agree on which jobs can be asked for.
 */
#ifndef ENDPOINTS_RUN_HISTORY_H
#define ENDPOINTS_RUN_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct run_history;

/* How many jobs are kept, and for how long each. When one more is over, the one
 * that was over first goes. Jobs stay a little longer while an answer with
 * output from before is due. */
enum { RUN_HISTORY_MAX = 32, RUN_HISTORY_S = 30 };

struct run_history_events {
    /* This job is forgotten: the nodes and the clients are to be told. */
    void (*on_forget)(void *arg, uint32_t base, uint32_t size);
    /* What was kept of these processes is gone. */
    void (*on_lost)(void *arg, uint32_t first, uint32_t count);
    /* Tells whether an answer is due. */
    bool (*is_awaited)(void *arg);
};

/* Events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_history_open(const struct run_history_events *events, void *arg,
                        struct run_history **out);
/* Forgets all jobs without telling anybody. NULL is fine. */
void ep_run_history_close(struct run_history *past);

/* The job is over. It is forgotten at once when memory is out. O(ranks). */
void ep_run_history_add(struct run_history *past, const struct job *job,
                        uint64_t now_ns);
/* Forgets the jobs whose time is over. Returns whether one is left: then call
 * again a second later. O(jobs that go). */
bool ep_run_history_tick(struct run_history *past, uint64_t now_ns);
/* The node is gone, and with it what it kept. O(processes of all jobs). */
void ep_run_history_lost(struct run_history *past, uint32_t node);

#endif
