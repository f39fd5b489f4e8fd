/* Tells how the processes of a job ended. */
#ifndef ENDPOINTS_RUN_EXITS_H
#define ENDPOINTS_RUN_EXITS_H

#include <stdbool.h>
#include <stdint.h>

enum { RUN_EXITS_FIRST_MAX = 704 }; /* the size of the text, with its NUL */

struct ep_stats;
struct job_life;
struct run_plan;
struct run_recent;
struct run_voice;
struct text_buf;

/* Writes which process failed first, and how, into a text of
 * RUN_EXITS_FIRST_MAX bytes. When it is not known which of several was the
 * first, and they ended in different ways, the text says so. When a signal of
 * the user has ended the process the text is empty, and the result false. At
 * least one process must have failed. */
bool ep_run_exits_first_words(const struct run_plan *plan,
                              const struct job_life *life, char *text);

/* Writes the text of ep_run_exits_first_words() as a message for the user. */
void ep_run_exits_first(const struct run_plan *plan,
                        const struct job_life *life, struct run_voice *voice);

/* Names the process that failed first, after another process was named earlier
 * by mistake. */
void ep_run_exits_earlier(const struct run_plan *plan,
                          const struct job_life *life, struct run_voice *voice);

/* Appends which processes ended in which way, in nine lines at most. The
 * process with the rank `named` has been shown already (UINT32_MAX: none has):
 * when no other process ended in the same way there is no line for it.
 * O(processes) for each line. */
void ep_run_exits_groups(const struct run_plan *plan,
                         const struct job_life *life, uint32_t named,
                         struct text_buf *text);

/* Appends like ep_run_exits_groups(), for a job whose first failure has been
 * named. */
void ep_run_exits_others(const struct run_plan *plan,
                         const struct job_life *life, struct text_buf *text);

/* Writes the lines of ep_run_exits_others() as messages for the user. */
void ep_run_exits_tell(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice);

/* Shows the last lines of the process that failed first, when much other output
 * has come since (recent.h). Writes nothing when a signal of the user has ended
 * the process. */
void ep_run_exits_wrote(const struct run_plan *plan,
                        const struct job_life *life,
                        const struct run_recent *recent,
                        struct run_voice *voice);

/* Fills the report of --stats with how the processes ended: all groups, with
 * more of their ranks and hosts, and the last lines of the process that failed
 * first. ep_run_exits_drop() frees what was allocated for it. */
void ep_run_exits_fill(const struct run_plan *plan, const struct job_life *life,
                       const struct run_recent *recent, struct ep_stats *stats);
void ep_run_exits_drop(struct ep_stats *stats);

#endif
