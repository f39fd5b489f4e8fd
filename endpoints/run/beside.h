/* Runs a command beside processes of a job, on their hosts: it starts `xylem
 * stack', which does that, and whose output goes to stderr. It ends when this
 * is closed.
 *
 * One is run at a time. Ranks for which another one is asked meanwhile are
 * looked at after it. Memory: a byte for each process.
 */
#ifndef ENDPOINTS_RUN_BESIDE_H
#define ENDPOINTS_RUN_BESIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct run_beside;
struct run_voice;

struct run_beside_cfg {
    struct event_base *base; /* borrowed, like all pointers */
    struct run_voice *voice;
    pid_t pid;       /* of the launcher */
    const char *job; /* its name; NULL: that of `xylem run` itself */
    /* For a shell, with the number of the process instead of {} or behind it;
     * "stack": what `xylem stack' does by itself. */
    const char *command;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_beside_open(const struct run_beside_cfg *cfg,
                       struct run_beside **out);
/* Ends the command that runs. NULL is fine. */
void ep_run_beside_close(struct run_beside *beside);

/* Has it run for these of `size` ranks. O(size). */
void ep_run_beside(struct run_beside *beside, const bool *ranks, uint32_t size);

#endif
