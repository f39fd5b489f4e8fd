/* Output that waits for a slow tool which gets copies: in memory first, then in
 * a file without a name, then no more.
 *
 * At its bound it drops what comes, or what has waited longest. The bytes that
 * are dropped of a channel are counted and told with the next ones of it, or
 * with its end, which comes in any case; one that finds no room comes when all
 * else has gone.
 *
 * Memory: that of a hoard (sys/hoard.h), and 24 bytes for each
 * channel of all processes from the first drop on.
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
    const char *dir;          /* of the file; copied */
    uint32_t base, procs;     /* numbers of processes */
    uint64_t limit_bytes;     /* of output that waits */
    bool drops_oldest;
    /* An answer of OV_EAGAIN may have changed; from the loop. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Returns 0, OV_ENOMEM or OV_ESYS. */
int px_backlog_open(const struct px_backlog_cfg *cfg, struct px_backlog **out);
/* NULL is fine. */
void px_backlog_close(struct px_backlog *backlog);

/* Copies an OUTPUT. Returns 0, also where it is dropped; or OV_EAGAIN: not now.
 * O(bytes). */
int px_backlog_put(struct px_backlog *backlog, const struct job_door *output);

/* The next one, whose bytes are valid until px_backlog_drop(). Returns 0;
 * OV_ENOENT: there is none; or OV_EAGAIN: not now. What cannot be read again is
 * passed over, ends too; whose it was is not known, so its bytes count as
 * dropped with the next one of any channel. */
int px_backlog_get(struct px_backlog *backlog, struct job_door *out);
/* It has gone. Only after a get that returned 0. */
void px_backlog_drop(struct px_backlog *backlog);

/* Of output that waits. */
uint64_t px_backlog_bytes(const struct px_backlog *backlog);
/* What is put goes to the file, unless the tool takes some soon. */
bool px_backlog_is_saving(const struct px_backlog *backlog);
bool px_backlog_is_empty(const struct px_backlog *backlog);
/* What comes may pass it by: nothing waits, and all that was dropped is told.
 */
bool px_backlog_is_idle(const struct px_backlog *backlog);

#endif
