/* Output of a job for the tool that has spawned it, without a pull of its own.
 *
 * The library makes a request for it when the spawn is answered, which is too
 * late: so a pull is there from the job's first byte on, its output waits, and
 * helper/bind.h finds out which request is its own. What the tool pulls itself
 * it does not get twice.
 *
 * Thread-safe, but where it says that the lock of the pulls is held.
 */
#ifndef PMIX_API_HELPER_FORWARD_H
#define PMIX_API_HELPER_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/helper/job.h"

struct pull;

/* A tool spawns something, in the library's thread: the number of the pull, to
 * be told to the launcher, or 0 when there are too many. output: of enum
 * px_output_flag, by lines or not, and how these look. */
uint32_t px_forward_begin(const pmix_proc_t *tool, const pmix_info_t info[],
                          size_t infos, uint32_t output);
/* The job is known: those channels of it are wanted. 0: nothing is. */
void px_forward_job(uint32_t id, const struct px_job *job);
/* The tool has gone: what has not begun need not. */
void px_forward_leave(const pmix_proc_t *tool);
/* The library's request for it; NULL where it is the only one. */
void px_forward_bind(uint32_t id, const void *request);
/* The library has none. */
void px_forward_drop(uint32_t id);
/* These are all the requests that there are: pulls with another one are over,
 * and its name may come again. */
void px_forward_sweep(const void *const *requests, size_t count);
/* Which of some requests is nobody's? One may be; NULL: none is. False: it
 * cannot be told yet. */
bool px_forward_stranger(const void *const *requests, size_t count,
                         const void **out);

/* The job with this base is over, and all of it has come: what waits is the
 * last. */
void px_forward_end(uint32_t base);
/* Bytes of that job that wait for the tool which has spawned it. */
uint64_t px_forward_left_bytes(uint32_t base);

/* --- with the lock held, for pulls.c */

/* A pull gets what it wants of these processes from here on: its tool gets that
 * once. */
void px_forward_yield(struct pull *pulls, const struct pull *pull,
                      uint32_t first, uint32_t count);
/* Of pulls that are over, but not their tools: what waits for them, and what
 * comes, goes where it went without them. Once for each. */
void px_forward_resume(struct pull *pulls);
/* Is it over, now that nothing waits? */
void px_forward_check(struct pull *pull);

/* Under the lock. Output for a pull that has gone, to whoever gets it instead;
 * false: there is nobody. */
bool px_forward_give(struct pull *pulls, const struct pull *gone,
                     const struct px_output *o);

#endif
