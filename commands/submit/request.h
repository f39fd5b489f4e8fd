/* The request for a job in a dvm, made from the command line, the environment
 * and the working directory; and the reasons why a job does not start. */
#ifndef COMMANDS_SUBMIT_REQUEST_H
#define COMMANDS_SUBMIT_REQUEST_H

#include <stdint.h>

#include "endpoints/run/run.h"
#include "job/request.h"

struct job_door;

/* No rank reads stdin. */
#define REQUEST_READER_NONE (UINT32_MAX - 1)

/* NULL when the job can be started from here, else the reason why not. */
const char *request_judge(const struct ep_run_options *options);

/* Makes the request. reader: the rank whose stdin is fed, JOB_READERS_ALL, or
 * REQUEST_READER_NONE. Strings belong to the options or the environment, or
 * stay allocated. Returns NULL, and the caller must give *out to
 * job_request_fini(); or what is wrong, and *out owns nothing. */
const char *request_make(const struct ep_run_options *options, uint32_t reader,
                         struct job_request *out);

/* Says what UNSTARTED means, in words that are valid until the next call. */
const char *request_explain(const struct ep_run_options *options,
                            uint32_t reader, const struct job_door *unstarted);

#endif
