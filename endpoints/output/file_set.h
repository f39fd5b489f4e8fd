/* Files that are written by a thread, few of them open at a time.
 *
 * A file is truncated, or made with the directories above it, when it is first
 * written to (made only, when the names are to be new). When it had to be
 * closed for another file, it is opened again and continued at its end. Only
 * regular files are written: a symbolic link, a directory, a pipe or a device
 * in the way is an error.
 *
 * Everything here may block, and is for one thread at a time. Not for use
 * outside this folder.
 */
#ifndef ENDPOINTS_OUTPUT_FILE_SET_H
#define ENDPOINTS_OUTPUT_FILE_SET_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "text/format.h"
#include "endpoints/output/names.h"

enum {
    EP_FILE_BLOCK_BYTES = 64 * 1024,
    EP_FILE_WHY_MAX = PATH_MAX + 128,
};

/* A record on its way to its file. */
struct ep_file_item {
    struct ep_file_item *next;
    struct text_origin origin;
    const uint8_t *mem; /* borrowed */
    uint64_t cookie;
    uint32_t proc;
    uint32_t len_bytes;
    bool is_eof;
    bool is_written;
};

struct ep_file_list {
    struct ep_file_item *first;
    struct ep_file_item *last;
};

struct ep_file {
    struct ep_file *next;      /* of its bucket */
    struct ep_file *next_due;  /* of those with records to come */
    struct ep_file *next_work; /* of the batch that the thread has */
    struct ep_file *newer;     /* of those that are open */
    struct ep_file *older;
    struct ep_file_list due;   /* of the loop */
    struct ep_file_list work;  /* of the thread */
    struct text_origin origin; /* of its first record, which gives its name */
    char *path;                /* owned: of a shared file; else NULL */
    uint32_t proc;
    uint32_t line_proc;   /* the process of the last line */
    uint8_t line_channel; /* of the last line; 0: none */
    int fd;               /* -1: not open */
    bool is_made;
    bool mid_line; /* the last byte was not a newline */
};

struct ep_file_set {
    struct ep_names names;
    bool is_raw;
    uint32_t open_max;
    uint32_t open_count;
    struct ep_file *newest; /* of those that are open */
    struct ep_file *oldest;
    struct text_format format;
    uint8_t *block; /* owned */
    uint32_t block_bytes;
    atomic_bool is_given_up;
    _Atomic uint64_t progress; /* grows with everything that is done */
    int err;                   /* final; `why` says it in words */
    char why[EP_FILE_WHY_MAX];
};

/* Returns 0 or OV_ENOMEM. */
int ep_file_set_init(struct ep_file_set *set, const struct ep_names *names,
                     bool is_raw, uint32_t open_max);

/* Closes the files that are open, and ignores errors. */
void ep_file_set_fini(struct ep_file_set *set);

/* Writes file->work, and marks each record that is written. False: set->err
 * says why. */
bool ep_file_write(struct ep_file_set *set, struct ep_file *file);

/* No record follows: ends an unfinished line that is not plain, and closes. */
bool ep_file_finish(struct ep_file_set *set, struct ep_file *file);

/* Makes the directory of a path, and those above it. Returns 0 or an errno. */
int ep_file_make_dirs(const char *path);

#endif
