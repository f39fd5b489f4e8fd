/* Reads what srun prints about single tasks while daemons start.
 *
 * With --label srun puts the task's number before each line of a task. srun's
 * own lines about a task that has ended, or could not be started, name the
 * task's host:
 *
 *     2: slurmstepd: error: execve(): /x/xylemd: No such file or directory
 *     srun: error: h3: task 2: Exited with exit code 2
 *     srun: error: h[3-4]: tasks 2-3: Killed
 *     srun: error: Task launch for StepId=7.0 failed on node h3: Connection ...
 *
 * The last line of each task is kept, because it gives the reason for the
 * task's end; it may come after srun's line about the end. Tasks that start
 * well print nothing. Memory: about a hundred bytes for each task that prints
 * something.
 */
#ifndef ENDPOINTS_BOOT_SRUN_H
#define ENDPOINTS_BOOT_SRUN_H

#include <stdint.h>

enum { EP_SRUN_WORDS_MAX = 400, EP_SRUN_TASKS_MAX = 1 << 20 };

/* One task of a step. Strings are owned; a string that is not known is NULL. */
struct ep_srun_task {
    char *words;         /* the last line of the task */
    char *host, *reason; /* the host and the reason, known once the task has
                          * ended */
};

/* All members except `count` are zero before the first line of srun. */
struct ep_srun {
    struct ep_srun_task *tasks; /* owned */
    uint32_t cap; /* length of `tasks`: below 2 * `count`, or 64 */
    /* number of all tasks; a line about a higher number is ignored */
    uint32_t count;
};

enum ep_srun_end {
    EP_SRUN_ENDED,  /* the task has ended without a line of its own, or was
                     * killed */
    EP_SRUN_FAILED, /* the task has ended and has printed a line */
    EP_SRUN_REFUSED /* the task was not started: srun then kills all other tasks
                     */
};

/* Called when the daemon on this host will not connect. `text` is the reason
 * for the user; called again with a better reason when more lines come. */
typedef void (*ep_srun_fn)(void *arg, const char *host, enum ep_srun_end end,
                           const char *text);

/* Reads a line of srun's stderr. Calls fn for each host whose daemon will not
 * connect. `xylemd` is the path of the program, for the reasons. When memory is
 * out, a reason is shorter. O(line, and hosts in it). */
void ep_srun_line(struct ep_srun *srun, const char *line, const char *xylemd,
                  ep_srun_fn fn, void *arg);

void ep_srun_fini(struct ep_srun *srun);

#endif
