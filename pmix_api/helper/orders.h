/* Sends signals to processes when the tool asks for it (job control), one
 * request after the other.
 *
 * All in the loop's thread. Memory: for each request that was not sent yet, 260
 * bytes for each process that the request is for.
 */
#ifndef PMIX_API_HELPER_ORDERS_H
#define PMIX_API_HELPER_ORDERS_H

#include "pmix_api/helper/lib/lib.h"

struct job_door;
struct px_describer;
struct px_jobs;
struct px_orders;

enum {
    PX_ORDERS_MAX = 128, /* the most requests that wait for their answer */
    /* The most ranges in one request, which is also the launcher's limit. */
    PX_ORDERS_RANGES_MAX = 64 * 1024,
};

/* Both arguments are borrowed until px_orders_close(); close the describer
 * before that. Returns 0 or OV_ENOMEM. */
int px_orders_open(const struct px_jobs *jobs, struct px_describer *describer,
                   struct px_orders **out);
/* Closes the module. Requests that still wait get no answer. NULL is fine. */
void px_orders_close(struct px_orders *orders);

/* Handles a request for a signal. It is answered with PX_LIB_YES when the
 * signal is on its way; else with
 *     PX_LIB_NOT_FOUND      there is no such job, or process, or none here
 *     PX_LIB_NOT_SUPPORTED  the rank stands for others in a way that is not
 *                           known
 *     PX_LIB_NOT_NOW        none of the jobs has begun, or all are over
 *     PX_LIB_NO_RESOURCE    a bound from above is reached, or memory is out
 * O(targets * (jobs + log targets)). */
void px_orders_on_control(struct px_orders *orders,
                          const struct px_lib_control *control);

/* Handles a message of the session; messages that are no answer to a request
 * are ignored. */
void px_orders_on_word(struct px_orders *orders, const struct job_door *msg);

#endif
