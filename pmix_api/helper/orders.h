/* Signals that the tool orders for processes (job control), in the order in
 * which it asks.
 *
 * All in the loop's thread. Memory: for an order that has not been sent yet,
 * 260 bytes for each process that it names, by rank or as one of this node.
 */
#ifndef PMIX_API_HELPER_ORDERS_H
#define PMIX_API_HELPER_ORDERS_H

#include "pmix_api/helper/lib/lib.h"

struct job_door;
struct px_describer;
struct px_jobs;
struct px_orders;

enum {
    PX_ORDERS_MAX = 128, /* orders without an answer */
    /* Ranges of one order, as many as the launcher takes. */
    PX_ORDERS_RANGES_MAX = 64 * 1024,
};

/* Both arguments are borrowed until it is closed; the describer is closed
 * first. Returns 0 or OV_ENOMEM. */
int px_orders_open(const struct px_jobs *jobs, struct px_describer *describer,
                   struct px_orders **out);
/* Leaves the orders that wait unanswered. NULL is fine. */
void px_orders_close(struct px_orders *orders);

/* The answer is PX_LIB_YES when the signal is on its way; else
 *     PX_LIB_NOT_FOUND      there is no such job, or process, or none here
 *     PX_LIB_NOT_SUPPORTED  the rank stands for others in a way that is not
 *                           known
 *     PX_LIB_NOT_NOW        none of the jobs has begun, or all are over
 *     PX_LIB_NO_RESOURCE    a bound from above is reached, or memory is out
 * O(targets * (jobs + log targets)). */
void px_orders_on_control(struct px_orders *orders,
                          const struct px_lib_control *control);

/* Takes any message of the session. */
void px_orders_on_word(struct px_orders *orders, const struct job_door *msg);

#endif
