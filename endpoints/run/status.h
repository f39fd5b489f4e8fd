/* The line of status of a run: how far long work on a terminal is.
 *
 * It is shown only on a terminal where nothing but this run is seen: stderr is
 * a terminal and the launcher is in its foreground; stdout is the same terminal
 * or a file; nobody types into the job; no other program asks for a password.
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
    /* Fills in all members of a zeroed *view but the rate and the time, for a
     * terminal of this width; view->awaited is then the caller's to free.
     * Returns false when nothing is to be shown from now on; it is called
     * again only if the line was held. Called once a second at most. */
    bool (*look)(void *arg, unsigned columns, struct run_status_view *view);
    void *arg;
};

/* Begins to show the line, from two seconds after the start on. Leaves *out
 * NULL where it cannot be shown, which then costs nothing. Returns 0 or
 * OV_ENOMEM; *out may be closed in both cases. */
int ep_run_status_open(const struct run_status_cfg *cfg,
                       struct run_status **out);
/* Erases the line for good; the loop must no longer run. NULL is fine, here and
 * below. */
void ep_run_status_close(struct run_status *status);
/* Erases the line, and shows none as long as it is held. Returns true when the
 * line is erased. */
bool ep_run_status_hold(struct run_status *status, bool is_held);
/* True where the line can be shown now, so that what it says need not be said
 * by messages. */
bool ep_run_status_tells(const struct run_status *status);

#endif
