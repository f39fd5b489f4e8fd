/* Files that a thread writes, few of them open at a time.
 *
 * A file is truncated, or made with the directories above it, when it is first
 * written to (when the names must be new, an existing file is an error). A file
 * that was closed to make room for another is opened again and continued at its
 * end. Only regular files are written: a symbolic link, a directory, a pipe or
 * a device of that name is an error. An exact name is followed and written to
 * whatever it is, but a directory or a socket; a pipe must have a reader.
 *
 * All functions may block, and are for one thread at a time. Only files of this
 * folder use them.
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

/* A record that is to be written to its file. */
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
    struct ep_file *next; /* next file of the same bucket */
    /* next file that has records for the next batch */
    struct ep_file *next_due;
    /* next file of the batch that the thread writes */
    struct ep_file *next_work;
    struct ep_file *newer; /* next newer file among the open ones */
    struct ep_file *older;
    struct ep_file_list due;  /* records for the next batch; used by the loop */
    struct ep_file_list work; /* records of this batch; used by the thread */
    /* origin of its first record, which gives the file its name */
    struct text_origin origin;
    char *path; /* owned: path of a shared file; else NULL */
    uint32_t proc;
    uint32_t line_proc; /* the process that wrote the last line */
    /* the channel of the last line; 0: there was no line */
    uint8_t line_channel;
    int fd; /* -1: the file is not open */
    bool is_made;
    bool mid_line; /* the last byte written was not a newline */
};

struct ep_file_set {
    struct ep_names names;
    bool is_raw;
    uint32_t open_max;
    uint32_t open_count;
    struct ep_file *newest; /* ends of the list of open files */
    struct ep_file *oldest;
    struct text_format format;
    uint8_t *block; /* owned */
    uint32_t block_bytes;
    atomic_bool is_given_up;
    _Atomic uint64_t progress; /* grows with every record written */
    /* an errno; nothing is written after it. `why` is the text for it */
    int err;
    char why[EP_FILE_WHY_MAX];
};

/* Prepares a set without files. Returns 0 or OV_ENOMEM. */
int ep_file_set_init(struct ep_file_set *set, const struct ep_names *names,
                     bool is_raw, uint32_t open_max);

/* Closes the files that are open, and ignores errors. */
void ep_file_set_fini(struct ep_file_set *set);

/* Writes the records in file->work, and marks each one that is written. Returns
 * false with set->err after an error. */
bool ep_file_write(struct ep_file_set *set, struct ep_file *file);

/* Says that no record follows: ends an unfinished line that is not plain, and
 * closes the file. Returns false with set->err after an error. */
bool ep_file_finish(struct ep_file_set *set, struct ep_file *file);

/* Makes the directory in which a path lies, and those above it. Returns 0 or an
 * errno. */
int ep_file_make_dirs(const char *path);

#endif
