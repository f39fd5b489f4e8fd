/* Leaves lines out of the output of a job on its way to the console and files
 * of this client alone, by the rules of text/filter.h.
 *
 * A line is judged when it has come whole, or by its first 64 KiB. Memory: what
 * waits has EP_HELD_POOL_BYTES; beyond that a line is judged by what has come
 * of it, and lines that are held back are left out. And some 250 bytes for each
 * channel that has had output.
 */
#ifndef COMMANDS_ATTACH_SIFT_H
#define COMMANDS_ATTACH_SIFT_H

#include <stdbool.h>

#include "commands/attach/show.h"
#include "job/filter.h"

/* Where there are no rules, output is passed on as it is. `filter` and `job`
 * are borrowed. Returns 0 or an errno, as ep_rules_open(). */
int sift_open(const struct job_filter *filter, const struct show_job *job);
void sift_close(void);

/* Takes the place of show_put(). */
void sift_put(const struct show_output *output);
/* To be called before show_finish(): what was held back is shown, as nothing
 * more will come. */
void sift_finish(void);

/* True when something was left out. */
bool sift_has_left(void);
/* Says what was left out, if anything was. */
void sift_tell(void);

#endif
