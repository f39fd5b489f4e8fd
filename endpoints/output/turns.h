/* Output of a job in the order of its ranks: that of rank 0 goes on at once,
 * that of the others waits until all ranks before them have ended
 * (endpoints/output/shelf.h).
 *
 * The ranks whose turn has not come never wait for room: one of them may be
 * what the rank whose turn it is waits for. So the order cannot be kept for any
 * amount of output in a bounded store. When the store is full the user is told,
 * what waits goes on in the order of ranks, and from then on output goes on as
 * it comes. Nothing is lost, and the records of a rank keep their order.
 *
 * While output that has waited is being written, new records wait in hand:
 * their windows then hold up the job, as a console that is slow does in any
 * case.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 */
#ifndef ENDPOINTS_OUTPUT_TURNS_H
#define ENDPOINTS_OUTPUT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/shelf.h"

struct ep_turns;
struct event_base;
struct job_record;

struct ep_turns_events {
    /* Hands a record on, whose bytes are borrowed until ep_turns_taken() with
     * its cookie. Returns 0, or a negative code when it was not taken. May come
     * from within a call. */
    int (*on_record)(void *arg, const struct job_record *rec);
    /* The caller's record is not needed any longer. Comes from the loop, or
     * from within ep_turns_taken(). */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* Output cannot go on, for the reason in `why`: what waits, and what comes
     * of ranks, is dropped. Called once at most, from the loop. */
    void (*on_error)(void *arg, int err, const char *why);
    void (*on_note)(void *arg, const char *text); /* for the user; once */
    /* After ep_turns_finish(): every record was handed on. Called once. */
    void (*on_over)(void *arg);
};

struct ep_turns_cfg {
    struct event_base *base;   /* borrowed, like all pointers here */
    struct ep_shelf_cfg shelf; /* its on_change and arg are not used */
    uint8_t channels; /* what ends when a rank ends: bits, 1 << TEXT_CHANNEL_ */
    /* False: no output of this rank comes. NULL: that of all ranks does. */
    bool (*has_turn)(const void *arg, uint32_t rank);
    const void *turn_arg;
    const struct ep_turns_events *events;
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_turns_open(const struct ep_turns_cfg *cfg, struct ep_turns **out);

/* Drops everything, without callbacks. Nothing that was handed on may be in use
 * any longer. NULL is fine. */
void ep_turns_close(struct ep_turns *turns);

/* Takes a record of a rank, whose process has the number of the rank. Its bytes
 * are borrowed until on_taken. Returns 0 or OV_ENOMEM; the record then still
 * belongs to the caller. */
int ep_turns_record(struct ep_turns *turns, const struct job_record *rec);

/* Hands on a record that has no turn. Returns as ep_turns_record(). */
int ep_turns_pass(struct ep_turns *turns, const struct job_record *rec);

/* A record that was handed on is not in use any longer. Comes from the loop. */
void ep_turns_taken(struct ep_turns *turns, uint64_t cookie);

/* Says that no record follows: what waits goes on. May be called again. */
void ep_turns_finish(struct ep_turns *turns);

/* Drops what waits. Records that come are handed on. */
void ep_turns_give_up(struct ep_turns *turns);

/* Returns how many records are in hand, plus the callbacks that are due. Output
 * that waits for its turn counts only once its turn has come, or is given up.
 */
uint64_t ep_turns_pending(const struct ep_turns *turns);

/* Returns the bytes that were dropped. */
uint64_t ep_turns_dropped(const struct ep_turns *turns);

#endif
