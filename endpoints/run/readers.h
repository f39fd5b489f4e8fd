/* Tells the user which processes of the run's own job do not read their stdin
 * while the job waits for that.
 *
 * The first one is told at once. Others are gathered for ten seconds and told
 * in one line, and so on: each process once. Daemons report processes also
 * while the job does not wait for them; these are told when it does.
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

/* Notes that the job waits for this rank of it, which is told unless it was
 * before. */
void ep_run_readers_held(struct run_readers *readers, uint32_t rank);
/* Notes that this rank of the job has not read for some time what waits for
 * it. */
void ep_run_readers_unread(struct run_readers *readers, uint32_t rank);

#endif
