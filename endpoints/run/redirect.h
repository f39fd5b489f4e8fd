/* Sends records to the console (or files, or both: endpoints/output/) or only
 * to a client.
 *
 * job/route.h decides what goes where and what waits for what; this carries it
 * out. The proof counts records in their order, so the console finishes with a
 * channel before a client gets it. In the other direction, what clients give
 * back comes before everything new: as bytes, which are copied and not counted
 * again. A client's store gives back no more than a few records before it hears
 * that the console has taken them.
 *
 * Memory: 4 bytes for each channel of all processes, and 80 bytes for each
 * record that the tree can hand over at once. None of the latter is touched
 * before the first redirection.
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

/* Takes a record that is held once; its hold passes to whichever place or
 * client has it now. */
void ep_run_redirect_record(struct run *r, const struct job_record *rec);

/* Takes a record with a ticket as it comes from its node: it is for clients
 * alone. It is held once, as above. */
void ep_run_redirect_replay(struct run *r, const struct job_record *rec);

/* A place, counted from 0, has written one of the channel's records. Calls no
 * callback. False: the record had come back, and was counted when it went
 * out. */
bool ep_run_redirect_written(struct run *r, uint32_t place, uint32_t rank,
                             uint8_t channel);
/* A place has taken a record. Returns true when it was one that had come
 * back. */
bool ep_run_redirect_taken(struct run *r, uint64_t cookie);

/* Do what on_back and on_back_over of struct ep_client_events are to do. */
bool ep_run_redirect_back(struct run *r, const struct job_record *rec);
void ep_run_redirect_back_over(struct run *r);

#endif
