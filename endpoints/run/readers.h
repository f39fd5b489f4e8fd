/* Tells the user which processes of the run's own job do not read their stdin,
 * so that the job waits for them.
 *
 * The first process is reported at once. Further ones are gathered for ten
 * seconds and reported in one line, and so on: each process once. Daemons
 * report slow processes also while the job does not wait for them; the user is
 * told about these when the job does.
 */
#ifndef ENDPOINTS_RUN_READERS_H
#define ENDPOINTS_RUN_READERS_H

#include <stdint.h>

struct event_base;
struct job_life;
struct run_plan;
struct run_readers;

/* The plan and the life of the job are borrowed; messages are written by the
 * voice of the plan. Returns 0 or OV_ENOMEM. */
int ep_run_readers_open(const struct run_plan *plan,
                        const struct job_life *life, struct event_base *base,
                        struct run_readers **out);
void ep_run_readers_close(struct run_readers *readers); /* NULL is fine */

/* Notes that the job waits for this rank, which is reported unless it was
 * before. */
void ep_run_readers_held(struct run_readers *readers, uint32_t rank);
/* Notes that this rank of the job has not read the waiting input for some
 * time. */
void ep_run_readers_unread(struct run_readers *readers, uint32_t rank);

#endif
