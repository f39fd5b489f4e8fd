/* A job in a dvm that is ours: it is started, told signals, and heard of when
 * it ends. All that is PMIx of it; the connection is attach/link.h.
 *
 * Calls from the main thread. What can fail returns NULL, or a text that says
 * what went wrong, borrowed until the next call.
 */
#ifndef COMMANDS_SUBMIT_JOB_H
#define COMMANDS_SUBMIT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/run.h"

/* How a job has ended. */
struct job_end {
    bool is_lost;    /* of some processes nothing more was heard */
    bool has_failed; /* a process has ended badly: the first one */
    bool is_signal;
    uint32_t rank;
    int code;        /* its exit code, or signal */
    uint32_t failed; /* how many have */
};

/* Called in the library's thread: job_has_ended() or job_is_told() has news. */
typedef void (*job_wake_fn)(void);

/* Before the job is started: its end will be heard of. */
const char *job_watch(job_wake_fn wake);

/* Can it be started from here? Before it is: NULL, or why not. */
const char *job_judge(const struct ep_run_options *options);

/* Starts it, as the options say, and waits until all processes run. reader: the
 * rank whose stdin is fed, JOB_READERS_ALL, or JOB_READER_NONE. *nspace is its
 * name, for as long as the program runs. */
#define JOB_READER_NONE (UINT32_MAX - 1)
const char *job_start(const struct ep_run_options *options, uint32_t reader,
                      const char **nspace);

/* The end of the job is known: true once. */
bool job_has_ended(struct job_end *out);

/* Sends a signal to all processes of the job; does not wait. */
void job_signal(int signo);
/* The dvm has answered all signals. */
bool job_is_told(void);

#endif
