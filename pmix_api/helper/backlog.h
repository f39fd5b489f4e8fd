/* Output that waits for a slow tool which gets copies: in memory first, then in
 * a file without a name, up to a bound.
 *
 * When the bound is reached, the backlog drops either new output or the output
 * that has waited longest. It counts the dropped bytes of each channel, and
 * reports the count with the channel's next output, or with the channel's end.
 * The end of a channel is never dropped: if there is no room for it, it comes
 * after all other output.
 *
 * Memory: that of a hoard (sys/hoard.h), and from the first drop on 24 bytes
 * for each channel of all processes.
 */
#ifndef PMIX_API_HELPER_BACKLOG_H
#define PMIX_API_HELPER_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "job/door.h"

struct ep_writer;
struct px_backlog;

struct px_backlog_cfg {
    struct ep_writer *writer; /* borrowed */
    const char *dir;          /* in which the file is made; copied */
    uint32_t base, procs;     /* the first process number of the job, and the
                                 number of its processes */
    uint64_t limit_bytes;     /* the most bytes of output that may wait */
    bool drops_oldest;
    /* Called from the loop when a call that returned OV_EAGAIN may succeed
     * now. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Returns 0, OV_ENOMEM or OV_ESYS. */
int px_backlog_open(const struct px_backlog_cfg *cfg, struct px_backlog **out);
/* NULL is fine. */
void px_backlog_close(struct px_backlog *backlog);

/* Copies an OUTPUT. Returns 0, also when the output is dropped; or OV_EAGAIN:
 * it cannot be stored now. O(bytes). */
int px_backlog_put(struct px_backlog *backlog, const struct job_door *output);

/* Gets the next output; its bytes are valid until px_backlog_drop(). Returns 0;
 * OV_ENOENT: no output waits; or OV_EAGAIN: it cannot be read now. Output that
 * cannot be read back from the file is skipped, ends of channels included; as
 * its channel is not known, its bytes are counted as dropped with the next
 * output of any channel. */
int px_backlog_get(struct px_backlog *backlog, struct job_door *out);
/* Removes the output that px_backlog_get() got. To be called only after it
 * returned 0. */
void px_backlog_drop(struct px_backlog *backlog);

/* How many bytes of output wait. */
uint64_t px_backlog_bytes(const struct px_backlog *backlog);
/* True when memory is full: the next output goes to the file, unless the tool
 * reads some before. */
bool px_backlog_is_saving(const struct px_backlog *backlog);
bool px_backlog_is_empty(const struct px_backlog *backlog);
/* True when new output may go to the tool directly: nothing waits, and all
 * dropped bytes were reported to the tool. */
bool px_backlog_is_idle(const struct px_backlog *backlog);

#endif
