/* Which records go to the console (or to files, or both: endpoints/output/),
 * and which only to a client.
 *
 * What goes where, and what waits for what, is job/route.h; this carries it
 * out. The proof counts records in their order, so the console is done with a
 * channel before a client has it. In the other direction what clients give back
 * comes before all that is new: as bytes, which are copied and not counted once
 * more. Who gives them back sends no more than a few before it hears that the
 * console has taken them.
 *
 * Memory: 4 bytes for each channel of all processes; 80 bytes for each record
 * that the tree can hand over at once, none of which is touched before the
 * first redirection.
 */
#ifndef ENDPOINTS_RUN_REDIRECT_H
#define ENDPOINTS_RUN_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct job_record;
struct run;

/* Returns 0 or OV_ENOMEM. */
int ep_run_redirect_open(struct run *r);
void ep_run_redirect_close(struct run *r);

/* A record, held once; its hold passes to whoever has it now. */
void ep_run_redirect_record(struct run *r, const struct job_record *rec);

/* A record with a ticket, as it comes from the node: it is for clients alone.
 * Held once, and otherwise the same. */
void ep_run_redirect_replay(struct run *r, const struct job_record *rec);

/* A place, counted from 0, has written one of the channel's records. Calls
 * nobody. False: it had come back, and was counted when it went. */
bool ep_run_redirect_written(struct run *r, uint32_t place, uint32_t rank,
                             uint8_t channel);
/* A place has taken a record; true when it was one that had come back. */
bool ep_run_redirect_taken(struct run *r, uint64_t cookie);

/* As of struct ep_tap_events. */
bool ep_run_redirect_back(struct run *r, const struct job_record *rec);
void ep_run_redirect_back_over(struct run *r);

#endif
