/* Shows whole outputs (job/wholes.h): each once, under a head that names its
 * ranks; or that of most ranks, and what the others say otherwise.
 *
 *     ---- [0-2,4-7] ----        ---- [3] otherwise ----
 *     line                       @@ -1,1 +1,2 @@
 *     other line                 -line
 *                                +a line
 *                                +one more
 *
 * Objects and elements have no heads: each of them has all ranks of its line.
 * Only fold_lane.c uses this.
 */
#ifndef ENDPOINTS_OUTPUT_FOLD_WHOLE_H
#define ENDPOINTS_OUTPUT_FOLD_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/fold_out.h"
#include "job/wholes.h"

struct fold_script;

struct fold_whole {
    struct job_wholes *wholes;  /* owned; NULL: nothing is being shown */
    struct job_whole *most;     /* owned: what others are compared with; NULL:
                                   nothing is */
    struct fold_script *script; /* owned: what is left of the one that is being
                                   shown; NULL: none is */
    bool is_first;              /* none was */
};

/* Begins to show. Takes over the wholes, in any case. Returns 0 or OV_ENOMEM.
 */
int ep_fold_whole_begin(struct fold_whole *it, struct job_wholes *wholes,
                        bool is_diff);
void ep_fold_whole_close(struct fold_whole *it);

/* True while something is left to show. */
static inline bool ep_fold_whole_is_busy(const struct fold_whole *it)
{
    return it->wholes != NULL;
}

/* Shows as much as the console has room for. Returns as ep_fold_out_group(). */
int ep_fold_whole_show(struct fold_whole *it, struct fold_out *out);

#endif
