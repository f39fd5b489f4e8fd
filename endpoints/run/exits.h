/* Tells how the processes of the run's own job ended. */
#ifndef ENDPOINTS_RUN_EXITS_H
#define ENDPOINTS_RUN_EXITS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_stats;
struct job_life;
struct run_plan;
struct run_recent;
struct run_voice;

/* Names the process that failed first, and how. Where it is not known which of
 * several was the first, and they ended in different ways, says so. Says
 * nothing when a signal of the user has ended that process. */
void ep_run_exits_first(const struct run_plan *plan,
                        const struct job_life *life, struct run_voice *voice);

/* Names the process that failed first, after another one was named. */
void ep_run_exits_earlier(const struct run_plan *plan,
                          const struct job_life *life, struct run_voice *voice);

enum { RUN_EXITS_MAX = 2048 + 128 }; /* the bytes of a line */

/* Writes how the processes of a group of life->census ended, and which they
 * are, into `line` of RUN_EXITS_MAX bytes. O(processes). */
void ep_run_exits_words(const struct run_plan *plan,
                        const struct job_life *life, uint8_t number,
                        char *line);

/* Shows the last lines of the process that failed first, where much other
 * output has come since (recent.h). Says nothing when a signal of the user has
 * ended it. */
void ep_run_exits_wrote(const struct run_plan *plan,
                        const struct job_life *life,
                        const struct run_recent *recent,
                        struct run_voice *voice);

/* Tells which processes ended in which way, in nine lines at most. The process
 * that failed first has been named already: where no other one ended as it did
 * there is no line for it. O(processes) for each line. */
void ep_run_exits_tell(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice);

/* Fills the report of --stats with the same: all groups, and with more of their
 * ranks and hosts. ep_run_exits_drop() frees what was made for it. */
void ep_run_exits_fill(const struct run_plan *plan, const struct job_life *life,
                       struct ep_stats *stats);
void ep_run_exits_drop(struct ep_stats *stats);

#endif
