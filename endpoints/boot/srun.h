/* What srun says of single tasks while daemons start.
 *
 * With --label each line of a task has its number before it. srun's own lines
 * about a task that ended, or could not be started, name its host:
 *
 *     2: slurmstepd: error: execve(): /x/xylemd: No such file or directory
 *     srun: error: h3: task 2: Exited with exit code 2
 *     srun: error: h[3-4]: tasks 2-3: Killed
 *     srun: error: Task launch for StepId=7.0 failed on node h3: Connection ...
 *
 * The last line of each task is kept, for the reason, and may come after its
 * end; tasks that come up say nothing. Memory: some hundred bytes for each task
 * that speaks.
 */
#ifndef ENDPOINTS_BOOT_SRUN_H
#define ENDPOINTS_BOOT_SRUN_H

#include <stdint.h>

enum { EP_SRUN_WORDS_MAX = 400, EP_SRUN_TASKS_MAX = 1 << 20 };

/* One task. Strings are owned; NULL: not known. */
struct ep_srun_task {
    char *words;
    char *host, *reason; /* once it has ended */
};

/* Zeroed but for `count`: nothing was said. */
struct ep_srun {
    struct ep_srun_task *tasks; /* owned */
    uint32_t cap;               /* of them: not twice `count`, or 64 */
    uint32_t count; /* of tasks; a line that names a higher one is ignored */
};

enum ep_srun_end {
    EP_SRUN_ENDED,  /* that is all that is known, or it was killed */
    EP_SRUN_FAILED, /* and has said something */
    EP_SRUN_REFUSED /* it was not started: srun kills all others */
};

/* The daemon on this host will not come: the reason, for the user. Again, when
 * more is known. */
typedef void (*ep_srun_fn)(void *arg, const char *host, enum ep_srun_end end,
                           const char *text);

/* Takes a line of srun's stderr. Calls fn for each host that it gives up.
 * `xylemd` is the path of the program, for words. Without memory a reason is
 * short. O(line, and hosts in it). */
void ep_srun_line(struct ep_srun *srun, const char *line, const char *xylemd,
                  ep_srun_fn fn, void *arg);

void ep_srun_fini(struct ep_srun *srun);

#endif
