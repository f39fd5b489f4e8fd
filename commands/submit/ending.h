/* What `xylem run --dvm' says of processes that fail, in the same words as
 * `xylem run', and of a job that has ended. */
#ifndef COMMANDS_SUBMIT_ENDING_H
#define COMMANDS_SUBMIT_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/attach/show.h"

struct event_base;
struct job_door;

/* The job must stay where it is. Returns 0 or OV_ENOMEM; ending_close() frees
 * everything in both cases. */
int ending_open(struct event_base *base, const struct show_job *job);
void ending_close(void);

/* Takes in output of a process in the order in which it comes. */
void ending_output(const struct show_output *output);
/* Takes in the message FIRST: this rank has failed first. That is said some
 * time later, as another one may turn out to be the first. */
void ending_first(const struct job_door *first, uint32_t rank);
/* Takes in the message ENDED. */
void ending_over(const struct job_door *ended);
/* Takes in the message NOTE, and says it at the end. */
void ending_note(const struct job_door *note);
void ending_tell_note(void);
/* Tells whether ENDED has come. */
bool ending_is_over(void);
/* Says how the job ended, and returns the exit code. has_left: not all output
 * was shown, so the last lines of the process that failed first are. To be
 * called behind ending_over(), when all output is written. */
int ending_tell(bool has_left);

#endif
