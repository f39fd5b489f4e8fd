/* Sends each record either to the takers (console, files, or both:
 * endpoints/output/) or to a client that gets output instead of the console.
 *
 * job/route.h decides where each record goes and what it waits for; this module
 * carries that out. The proof counts the records of a channel in their order,
 * so the console finishes with a channel before a client gets it. In the other
 * direction, output that a client gives back comes before newer output. It
 * comes as bytes, which are copied and not counted a second time. A client's
 * store gives back no more than a few records before it learns that the console
 * has accepted them.
 *
 * Memory: 4 bytes for each channel of all processes, and 80 bytes for each
 * record that the tree can have in the launcher at a time; the 80 bytes are
 * touched only after the first redirection.
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

/* Sends a record to where it belongs. The record has one holder, which is the
 * caller; the taker or client that gets the record becomes its holder
 * instead. */
void ep_run_redirect_record(struct run *r, const struct job_record *rec);

/* Sends earlier output, a record with a ticket, to the clients that asked for
 * it. The caller is the record's only holder, and is no longer afterwards. */
void ep_run_redirect_replay(struct run *r, const struct job_record *rec);

/* Notes that taker `place` (0 or 1) has written a record of the channel. Calls
 * no callback. Returns false when the record must not be counted: a client had
 * given it back, and it was counted when the client got it. */
bool ep_run_redirect_written(struct run *r, uint32_t place, uint32_t rank,
                             uint8_t channel);
/* Notes that a taker has finished with a record. Returns true when a client had
 * given this record back. */
bool ep_run_redirect_taken(struct run *r, uint64_t cookie);

/* Take output that a client gives back, and note that all of it is back, as
 * on_back and on_back_over of struct ep_client_events describe. */
bool ep_run_redirect_back(struct run *r, const struct job_record *rec);
void ep_run_redirect_back_over(struct run *r);

#endif
