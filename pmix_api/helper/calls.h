/* Calls of tools that wait for their turn, in the order in which they came.
 *
 * Some have to wait for longer, for reasons of their own: they stand aside, and
 * those behind them go on. What one tool has said for several jobs goes before
 * what it says later for any: while such a call stands aside, its tool's later
 * ones do, too.
 *
 * Not thread-safe. All O(1), but for px_calls_next(): O(those put aside).
 */
#ifndef PMIX_API_HELPER_CALLS_H
#define PMIX_API_HELPER_CALLS_H

#include <stdbool.h>

enum { PX_CALLS_TOOLS_MAX = 64 };

/* What a call begins with. */
struct px_call {
    struct px_call *next;
    unsigned tool; /* whose it is: below PX_CALLS_TOOLS_MAX */
    bool is_wide;  /* for several jobs */
};

struct px_calls {
    struct px_call *first, **last;       /* borrowed */
    struct px_call *aside, **aside_last; /* the same: before those */
    unsigned
        wide_aside[PX_CALLS_TOOLS_MAX]; /* of these, by tool: to several jobs */
};

void px_calls_init(struct px_calls *calls);

void px_calls_add(struct px_calls *calls, struct px_call *call);

/* Puts a call aside of which a part was sent: it goes on before all that wait.
 */
void px_calls_suspend(struct px_calls *calls, struct px_call *call);

/* Takes out the next one that need not wait; NULL: there is none. */
struct px_call *px_calls_next(struct px_calls *calls,
                              bool (*has_to_wait)(const struct px_call *call));

/* Puts those that stand aside back in front, in the order in which they came.
 */
void px_calls_put_back(struct px_calls *calls);

#endif
