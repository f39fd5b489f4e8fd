/* What `xylem run --dvm --on-stall` says of processes that make no progress,
 * and the command that it runs beside them. */
#ifndef COMMANDS_SUBMIT_STALLED_H
#define COMMANDS_SUBMIT_STALLED_H

#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct job_door;
struct show_job;

/* The job must stay where it is. `command`: as in endpoints/run/beside.h; NULL:
 * none is run. Returns 0 or OV_ENOMEM; stalled_close() frees everything in both
 * cases. */
int stalled_open(struct event_base *base, pid_t dvm, const struct show_job *job,
                 const char *command);
/* Ends the command that runs. */
void stalled_close(void);

/* Takes in the message STALLED, or RANGES before it; the job's processes are
 * numbered from `base` on. */
void stalled_hear(const struct job_door *msg, uint32_t base);

#endif
