/* A job that a client of a session asks for (JOB_DOOR_SPAWN), as bytes:
 *
 *     u8 flags (1 it has stddiag, 2 its stderr joins stdout, 4 it has stdin),
 *         u32 rank that reads stdin (JOB_READERS_ALL: all do)
 *     u32 programs, each as job/wish.h has it
 */
#ifndef JOB_REQUEST_H
#define JOB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/program.h"
#include "overlay/base/wire.h"

enum { JOB_REQUEST_BYTES_MAX = 8 << 20 };

struct job_request {
    struct job_wish *apps; /* after decoding owned, with their arrays */
    uint32_t apps_count;   /* 1 to JOB_APPS_MAX */
    bool has_stddiag, merges_stderr, has_stdin;
    uint32_t reader;
};

/* How many bytes it takes. O(bytes). */
size_t job_request_bytes(const struct job_request *request);
void job_request_encode(struct ov_wr *wr, const struct job_request *request);

/* Returns 0; OV_EPROTO when it is none, or something is behind it; or
 * OV_ENOMEM. After 0 *out is to be given to job_request_fini(), and borrows the
 * strings; after an error it owns nothing. O(bytes). */
int job_request_decode(struct ov_rd rd, struct job_request *out);
void job_request_fini(struct job_request *request);

#endif
