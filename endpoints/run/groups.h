/* Lists the processes of a job that runs, in groups: which run, which do not
 * yet, and which have ended in which way. */
#ifndef ENDPOINTS_RUN_GROUPS_H
#define ENDPOINTS_RUN_GROUPS_H

struct job_life;
struct run_plan;
struct text_buf;

/* Appends a line for each group, as "running: ranks 0-3 on node[1-2]", with a
 * newline at its end. Ends are told as at the end of a job (exits.h), in nine
 * lines at most. When memory is out, lines are missing, or text->bad is set.
 * O(processes) for each line. */
void ep_run_groups(const struct run_plan *plan, const struct job_life *life,
                   struct text_buf *text);

#endif
