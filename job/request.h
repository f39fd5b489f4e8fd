/* A job that a client of a session asks for (JOB_DOOR_SPAWN), as bytes:
 *
 * - u16 flags: the bool members of struct job_request, in their order;
 * - u32 rank that reads stdin (JOB_READERS_ALL: all do);
 * - u8 channels whose output comes to the client (bits, 1 << channel);
 * - u8 channels that others may pull;
 * - u32 bytes of each that are kept for who comes late, or JOB_CACHE_UNSAID;
 * - u32 bytes of each that are put together for a tool;
 * - u32 seconds for which these are held;
 * - u8 what its files are (enum job_request_files);
 * - u8 label and u8 format of lines (text/style.h);
 * - string name of the files (empty: none);
 * - u32 programs, each as job/wish.h has it.
 */
#ifndef JOB_REQUEST_H
#define JOB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/program.h"
#include "overlay/base/wire.h"

enum { JOB_REQUEST_BYTES_MAX = 8 << 20 };

/* What the launcher makes of the name (see endpoints/output/names.h). */
enum job_request_files {
    JOB_REQUEST_NO_FILES,
    JOB_REQUEST_DIR,     /* files below a directory of that name */
    JOB_REQUEST_FILE,    /* files whose names begin with it */
    JOB_REQUEST_PATTERN, /* files whose names are made from it as a pattern */
    JOB_REQUEST_FILES
};

struct job_request {
    struct job_wish *apps; /* after decoding owned, with their arrays */
    uint32_t apps_count;   /* 1 to JOB_APPS_MAX */
    bool has_stddiag, merges_stderr, has_stdin;
    bool is_kept;     /* goes on without its client */
    bool waits;       /* while its client is full its processes are not read;
                         else the client loses what it has no room for */
    bool is_raw;      /* output is not gathered to whole lines */
    bool is_shown;    /* output is shown on the launcher's console, too; */
    bool needs_shown; /* the job is refused if it cannot be */
    bool says_stages; /* the launcher tells its user each stage, */
    bool says_end;    /* or only its end */
    bool has_time;    /* lines that are shown or in files begin with the time */
    /* Defaults for tools that pull its output: */
    bool drops_oldest; /* a tool that is too slow loses the oldest bytes
                          first */
    uint32_t reader;
    uint8_t comes, forwards;
    uint32_t cache_bytes, buffer_bytes, buffer_s;
    uint8_t files;         /* enum job_request_files */
    uint8_t label, format; /* enum text_label_mode, enum text_format_kind */
    const char *name;      /* borrowed; "" or NULL: no files */
    struct ov_rd programs; /* for the reader itself */
};

/* The length of the request in bytes. O(bytes). */
size_t job_request_bytes(const struct job_request *request);
void job_request_encode(struct ov_wr *wr, const struct job_request *request);

/* Returns 0; OV_EPROTO when the bytes are no valid request, or more follow; or
 * OV_ENOMEM. After 0 the caller must give *out to job_request_fini(), and *out
 * borrows the strings; after an error it owns nothing. O(bytes). */
int job_request_decode(struct ov_rd rd, struct job_request *out);
void job_request_fini(struct job_request *request);

#endif
