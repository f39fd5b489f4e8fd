/* Output that waits for a slow tool which gets copies: in memory first, then in
 * a file without a name, up to a bound.
 *
 * At its bound the backlog drops either what comes or what has waited longest.
 * The dropped bytes of a channel are counted, and the tool is told the count
 * with the channel's next output, or with its end. An end is never dropped: one
 * that finds no room is given after all else.
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
    uint32_t base, procs;     /* the processes of the job, by number */
    uint64_t limit_bytes;     /* bound of the output that waits */
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

/* Copies an OUTPUT. Returns 0, also when it is dropped; or OV_EAGAIN: it cannot
 * be taken now. O(bytes). */
int px_backlog_put(struct px_backlog *backlog, const struct job_door *output);

/* Gives the next output; its bytes are valid until px_backlog_drop(). Returns
 * 0; OV_ENOENT: there is none; or OV_EAGAIN: it cannot be read now. What the
 * file does not give back is skipped, ends included; its channel is not known,
 * so its bytes are counted as dropped with the next output of any channel. */
int px_backlog_get(struct px_backlog *backlog, struct job_door *out);
/* Removes the output that px_backlog_get() gave last. Only after a get that
 * returned 0. */
void px_backlog_drop(struct px_backlog *backlog);

/* The bytes of output that wait. */
uint64_t px_backlog_bytes(const struct px_backlog *backlog);
/* True when the next output goes to the file unless the tool takes some
 * soon. */
bool px_backlog_is_saving(const struct px_backlog *backlog);
bool px_backlog_is_empty(const struct px_backlog *backlog);
/* True when new output may go to the tool directly: nothing waits, and the tool
 * knows of all that was dropped. */
bool px_backlog_is_idle(const struct px_backlog *backlog);

#endif
