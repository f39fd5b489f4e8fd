/* The job that a dvm is asked for, of the command line and what is around it:
 * environment and directory. And the words where it does not start.
 */
#ifndef COMMANDS_SUBMIT_REQUEST_H
#define COMMANDS_SUBMIT_REQUEST_H

#include <stdint.h>

#include "endpoints/run/run.h"
#include "job/request.h"

struct job_door;

/* No rank reads stdin. */
#define REQUEST_READER_NONE (UINT32_MAX - 1)

/* Can it be started from here? NULL, or why not. */
const char *request_judge(const struct ep_run_options *options);

/* Makes it. reader: the rank whose stdin is fed, JOB_READERS_ALL, or
 * REQUEST_READER_NONE. Strings are those of options and environment, or stay as
 * long as the program. NULL, and *out is to be given to job_request_fini(); or
 * what is wrong, and it owns nothing. */
const char *request_make(const struct ep_run_options *options, uint32_t reader,
                         struct job_request *out);

/* What UNSTARTED means, in words that are good until the next call. */
const char *request_explain(const struct ep_run_options *options,
                            uint32_t reader, const struct job_door *unstarted);

#endif
