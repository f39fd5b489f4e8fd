/* Lists the processes of a running job in groups: processes that run, by what
 * they are doing; processes that do not run yet; and processes that have ended,
 * by how. */
#ifndef ENDPOINTS_RUN_GROUPS_H
#define ENDPOINTS_RUN_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct job_life;
struct run_plan;
struct run_voice;
struct text_buf;

/* Returns the words for an enum job_doing, as "waiting". */
const char *ep_run_doing_words(uint8_t doing);

/* Appends a line for each group, as "waiting: ranks 0-3 on node[1-2]", with a
 * newline at its end. `doing` has an enum job_doing for each rank; NULL: it is
 * not known what any process is doing. Processes that have ended are listed as
 * at the end of a job (exits.h), in nine lines at most. When memory is out,
 * lines are missing, or text->bad is set. O(processes) for each line. */
void ep_run_groups(const struct run_plan *plan, const struct job_life *life,
                   const uint8_t *doing, struct text_buf *text);

/* Tells the user which processes still run, after words such as "still running
 * after SIGINT", and what they are doing. Returns false, without a message,
 * when all are over. O(processes) for each line. */
bool ep_run_groups_rest(const struct run_plan *plan,
                        const struct job_life *life, const uint8_t *doing,
                        struct run_voice *voice, const char *words);

#endif
