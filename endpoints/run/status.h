/* What stands beneath the output of a run on a terminal: the line of status,
 * which says how far long work is, and progress bars, which the console draws.
 *
 * Both are there only where ep_run_screen() says so. The line is shown only
 * where stderr is that terminal and the launcher is in its foreground, nobody
 * types into the job, and no other program asks for a password.
 */
#ifndef ENDPOINTS_RUN_STATUS_H
#define ENDPOINTS_RUN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_output;
struct event_base;
struct run_status;
struct run_status_view;

struct run_status_cfg {
    struct event_base *base;  /* borrowed, like all pointers here */
    struct ep_output *output; /* open as long as the line is */
    uint64_t start_ns;        /* when the run began */
    bool is_wanted;           /* the line is to be shown, not only bars */
    /* Fills in all members of a zeroed *view but the rate and the time, for a
     * terminal of this width; view->awaited is then the caller's to free.
     * Returns false when nothing is to be shown from now on; it is called
     * again only if the line was held. Called once a second at most. */
    bool (*look)(void *arg, unsigned columns, struct run_status_view *view);
    void *arg;
};

/* Begins to show the line, from two seconds after the start on. Leaves *out
 * NULL where nothing can be shown, which then costs nothing. Returns 0 or
 * OV_ENOMEM; *out may be closed in both cases. */
int ep_run_status_open(const struct run_status_cfg *cfg,
                       struct run_status **out);
/* Erases line and bars for good; the loop must no longer run. NULL is fine,
 * here and below. */
void ep_run_status_close(struct run_status *status);
/* Erases line and bars, and shows none as long as they are held. Returns true
 * when they are erased. */
bool ep_run_status_hold(struct run_status *status, bool is_held);
/* True where the line can be shown now, so that what it says need not be said
 * by messages. */
bool ep_run_status_tells(const struct run_status *status);

#endif
