/* Writes the output of processes to files.
 *
 * Records are borrowed until they are written. A thread writes them batch after
 * batch, all records of a file in a batch at once. Few files are open at a
 * time, however many there are (endpoints/output/file_set.h). The file of a
 * channel gets all bytes of the channel; a channel without output has an empty
 * file, made when the channel ends.
 *
 * With a plain style the file of one process is byte-exact. When several
 * processes share a file (a pattern without %r), lines come whole, but a line
 * that comes in pieces may be broken by a newline where another process's
 * output follows.
 *
 * After the first error all output that is not written, and all that comes, is
 * dropped.
 *
 * Memory: 120 bytes for each record in hand and 200 for each file; 120 KiB
 * besides.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 * Callbacks come from the loop, never from within a call, except on_taken from
 * ep_files_give_up; they may call everything except ep_files_close.
 */
#ifndef ENDPOINTS_OUTPUT_FILES_H
#define ENDPOINTS_OUTPUT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/names.h"

struct job_record;
struct ep_files;
struct ep_writer;
struct event_base;

struct ep_files_events {
    /* The file has taken these bytes: one record, unchanged. */
    void (*on_written)(void *arg, uint32_t proc, uint8_t channel,
                       const void *mem, uint32_t len_bytes);
    /* The record is written, or was dropped. Called in order for each
     * channel. */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* A file cannot be written; `why` names the file. Called at most once. */
    void (*on_error)(void *arg, int err, const char *why);
    /* Every record is written or dropped. */
    void (*on_drained)(void *arg);
};

struct ep_files_cfg {
    struct event_base *base; /* borrowed, like all pointers here */
    struct ep_writer *writer;
    struct ep_names names;
    struct text_style style; /* style of all lines, with the job's name */
    bool is_raw;             /* no newline is added; the style is plain */
    uint32_t open_max; /* most files open at a time; 0: ep_files_open_limit() */
    const struct ep_files_events *events;
    void *arg;
};

/* Returns 256, or a quarter of this process's limit on descriptors if that is
 * less. */
uint32_t ep_files_open_limit(void);

/* Opens the output. Makes at once the directory of EP_NAMES_DIR, or for other
 * names but exact ones the directory that they begin with, so it may block.
 * Returns 0, OV_ENOMEM, or OV_ESYS with errno when the directory cannot be
 * made. */
int ep_files_open(const struct ep_files_cfg *cfg, struct ep_files **out);

/* Drops what is not written and frees everything, without callbacks. NULL is
 * fine. */
void ep_files_close(struct ep_files *files);

/* Takes one record; its style is not used. Returns 0 or OV_ENOMEM; the record
 * then still belongs to the caller. O(1), never blocks. */
int ep_files_record(struct ep_files *files, const struct job_record *rec);

/* Says that no record follows: unfinished lines that are not plain are ended,
 * and files are closed. */
void ep_files_finish(struct ep_files *files);

/* Returns the number of records that are not written yet, plus the work that
 * ep_files_finish has still to do and an error not yet reported. */
uint64_t ep_files_pending(const struct ep_files *files);

/* Answers as ep_console_is_stuck() does, on the monotonic clock. */
bool ep_files_is_stuck(struct ep_files *files, uint64_t *since_ns);

/* Drops all output that is not written, and all that comes from now on. */
void ep_files_give_up(struct ep_files *files);

/* Returns the number of bytes dropped. */
uint64_t ep_files_dropped(const struct ep_files *files);

#endif
