/* What srun says about single tasks while daemons start.
 *
 * With --label each line of a task has its number before it. srun's own lines
 * about a task that ended, or could not be started, name its host:
 *
 *     2: slurmstepd: error: execve(): /x/xylemd: No such file or directory
 *     srun: error: h3: task 2: Exited with exit code 2
 *     srun: error: h[3-4]: tasks 2-3: Killed
 *     srun: error: Task launch for StepId=7.0 failed on node h3: Connection ...
 *
 * The last line of each task is kept, because it gives the reason; it may come
 * after the task's end. Tasks that start well say nothing. Memory: about a
 * hundred bytes for each task that says something.
 */
#ifndef ENDPOINTS_BOOT_SRUN_H
#define ENDPOINTS_BOOT_SRUN_H

#include <stdint.h>

enum { EP_SRUN_WORDS_MAX = 400, EP_SRUN_TASKS_MAX = 1 << 20 };

/* A task. Strings are owned; NULL: not known. */
struct ep_srun_task {
    char *words;
    char *host, *reason; /* known once it has ended */
};

/* All zero, except for `count`, before srun has said anything. */
struct ep_srun {
    struct ep_srun_task *tasks; /* owned */
    uint32_t cap;               /* their number: below 2 * `count`, or 64 */
    uint32_t count; /* of all tasks; a line about a higher one is ignored */
};

enum ep_srun_end {
    EP_SRUN_ENDED,  /* nothing else is known, or it was killed */
    EP_SRUN_FAILED, /* it has ended and has said something */
    EP_SRUN_REFUSED /* it was not started: srun kills all others */
};

/* Called when the daemon on this host will not come, with the reason for the
 * user; called again when more is known. */
typedef void (*ep_srun_fn)(void *arg, const char *host, enum ep_srun_end end,
                           const char *text);

/* Takes a line of srun's stderr. Calls fn for each host whose daemon will not
 * come. `xylemd` is the path of the program, for the words. Without memory a
 * reason is shorter. O(line, and hosts in it). */
void ep_srun_line(struct ep_srun *srun, const char *line, const char *xylemd,
                  ep_srun_fn fn, void *arg);

void ep_srun_fini(struct ep_srun *srun);

#endif
