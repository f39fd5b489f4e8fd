/* Output as lines that say whose they are, for the library of a spawner, which
 * shows them as they are.
 *
 * Not thread-safe.
 */
#ifndef PMIX_API_HELPER_SHOW_H
#define PMIX_API_HELPER_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/job.h"
#include "pmix_api/helper/queue.h"

struct px_show;

/* Does the spawn ask for more than the bytes? output: of enum px_output_flag.
 */
bool px_show_is_wanted(uint32_t output);

/* For the processes of a job. NULL when memory is out. Memory: 6 KiB, and a
 * byte for each process. */
struct px_show *px_show_open(uint32_t output, const struct px_job *job);
void px_show_close(struct px_show *show); /* NULL is allowed */

/* Puts an output of one of them into the queue, as lines. O(bytes). */
void px_show_put(struct px_show *show, const struct px_output *output,
                 struct px_queue *queue);

#endif
