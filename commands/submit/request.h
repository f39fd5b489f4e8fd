/* The request for a job in a dvm, made from the command line, the environment
 * and the working directory; and the reasons why a job does not start. */
#ifndef COMMANDS_SUBMIT_REQUEST_H
#define COMMANDS_SUBMIT_REQUEST_H

#include <stdint.h>

#include "endpoints/run/run.h"
#include "job/request.h"

struct job_door;

/* In place of the number of the rank that reads stdin: no rank does. */
#define REQUEST_READER_NONE (UINT32_MAX - 1)

/* Finds the current directory, in which the job's processes start. Returns
 * NULL, or a sentence that says why the job cannot be started from here. */
const char *request_judge(const struct ep_run_options *options);

/* Makes the request. `reader` is the rank that reads stdin, JOB_READERS_ALL, or
 * REQUEST_READER_NONE. Strings belong to the options or the environment, or
 * stay allocated. Returns NULL, and the caller must free *out by
 * job_request_fini(); or a sentence that says what is wrong, and *out owns
 * nothing. */
const char *request_make(const struct ep_run_options *options, uint32_t reader,
                         struct job_request *out);

/* Returns a sentence that says why the job does not start, by the message
 * UNSTARTED; valid until the next call. */
const char *request_explain(const struct ep_run_options *options,
                            uint32_t reader, const struct job_door *unstarted);

#endif
