/* The request of a client to start a job (JOB_DOOR_SPAWN), as bytes:
 *
 * - u16 flags: the bool members of struct job_request, in their order;
 * - u32 rank that reads stdin (JOB_READERS_ALL: all do);
 * - u8 channels whose output the client gets (bits, 1 << channel);
 * - u8 channels whose output other clients may pull;
 * - u32 bytes of each channel that are kept for late clients, or
 *   JOB_CACHE_UNSAID;
 * - u32 bytes of a channel that are gathered before a tool gets them;
 * - u32 seconds after which a tool gets fewer bytes than these;
 * - u32 milliseconds after which processes without progress are told; 0: none
 *   are;
 * - u8 which files the output is written to (enum job_request_files);
 * - u8 label and u8 format of lines (text/style.h);
 * - string name of the files (empty: there are none);
 * - u32 number of programs, then each program in the form of job/wish.h.
 */
#ifndef JOB_REQUEST_H
#define JOB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/program.h"
#include "overlay/base/wire.h"

enum { JOB_REQUEST_BYTES_MAX = 8 << 20 };

/* What `name` of a request means (see endpoints/output/names.h). */
enum job_request_files {
    JOB_REQUEST_NO_FILES,
    JOB_REQUEST_DIR,     /* files below a directory of that name */
    JOB_REQUEST_FILE,    /* files whose names begin with `name` */
    JOB_REQUEST_PATTERN, /* files whose names are made from the pattern
                            `name` */
    JOB_REQUEST_FILES
};

struct job_request {
    struct job_wish *apps; /* owned after decoding, as are the arrays in them */
    uint32_t apps_count;   /* 1 to JOB_APPS_MAX */
    bool has_stddiag, merges_stderr, has_stdin;
    bool is_kept;     /* the job goes on when its client disconnects */
    bool waits;       /* while the client has no room for output, the processes'
                         pipes are not read; without this flag the client then
                         loses output */
    bool is_raw;      /* output is passed on before its line is complete */
    bool is_shown;    /* the launcher's console shows the output, too */
    bool needs_shown; /* the job is refused if the console cannot show its
                         output */
    bool says_stages; /* the launcher reports each stage of the job to its
                         user */
    bool says_end;    /* the launcher reports only the job's end */
    bool notes_end;   /* tools get an event only of the job's end */
    bool has_time;    /* lines that are shown or in files begin with the time */
    /* Defaults for tools that pull its output: */
    bool drops_oldest; /* a tool that is too slow loses the oldest bytes
                          first */
    bool keeps_last;   /* of progress bars the last state alone comes */
    bool stall_all;    /* of processes that only compute STALLED tells, too */
    uint32_t reader;
    uint8_t comes, forwards;
    uint32_t cache_bytes, buffer_bytes, buffer_s;
    uint32_t stall_ms;     /* without progress, before STALLED; 0: never */
    uint8_t files;         /* enum job_request_files */
    uint8_t label, format; /* enum text_label_mode, enum text_format_kind */
    const char *name;      /* borrowed; "" or NULL: no files */
    struct ov_rd programs; /* used by the decoder itself */
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
