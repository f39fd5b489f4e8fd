/* Jobs that are over and whose output is still kept by their nodes, for clients
 * that come late.
 *
 * The nodes keep the output, as far as they have room, until the launcher tells
 * them to forget the job. Therefore all nodes agree on which jobs clients can
 * ask for.
 */
#ifndef ENDPOINTS_RUN_HISTORY_H
#define ENDPOINTS_RUN_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct run_history;

/* How many jobs are kept, and for how many seconds each. When one too many is
 * over, the job that ended first is forgotten. A job is kept a little longer
 * while the answer to a client that asked for earlier output is on its way. */
enum { RUN_HISTORY_MAX = 32, RUN_HISTORY_S = 30 };

struct run_history_events {
    /* A job is forgotten. The callee tells the nodes and the clients. */
    void (*on_forget)(void *arg, uint32_t base, uint32_t size);
    /* The kept output of these processes is lost. */
    void (*on_lost)(void *arg, uint32_t first, uint32_t count);
    /* Returns whether nodes have yet to answer a request for earlier output. */
    bool (*is_awaited)(void *arg);
};

/* Makes an empty history. The events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_history_open(const struct run_history_events *events, void *arg,
                        struct run_history **out);
/* Forgets all jobs without calling on_forget. NULL is fine. */
void ep_run_history_close(struct run_history *past);

/* Adds a job that is over. When memory is out, the job is forgotten at once.
 * O(ranks). */
void ep_run_history_add(struct run_history *past, const struct job *job,
                        uint64_t now_ns);
/* Forgets the jobs that were kept for their full time. Returns whether any job
 * is left; then call this again a second later. O(jobs that are forgotten). */
bool ep_run_history_tick(struct run_history *past, uint64_t now_ns);
/* Calls on_lost for all processes of a lost node, as the output that the node
 * kept is lost, too. O(processes of all jobs). */
void ep_run_history_lost(struct run_history *past, uint32_t node);

#endif
