/* The backlog of a stream: the bytes from one position to another, in an
 * unlinked file, for readers that are behind.
 *
 * Bytes are appended at the end, read anywhere between, and forgotten from
 * the front. The file has segments that are used again, so it is never larger
 * than the most that was held at once, whatever goes through it, and it is
 * emptied when nothing is held. It is made, written and read by a thread: the
 * event loop waits for nothing.
 *
 * Bounds: limit_bytes of file, in whole segments; memory for one read
 * (EP_BACKLOG_READ_MAX) and 8 bytes for each segment of the limit; one append
 * and one read at a time.
 */
#ifndef ENDPOINTS_DAEMON_BACKLOG_H
#define ENDPOINTS_DAEMON_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct ep_backlog;
struct ep_writer;

enum {
    EP_BACKLOG_SEGMENT_BYTES = 1 << 20,
    EP_BACKLOG_PIECES_MAX = 16, /* of one append */
    EP_BACKLOG_READ_MAX = 64 * 1024,
};

/* From the event loop; may call anything but ep_backlog_close. */
struct ep_backlog_events {
    /* The append is done: 0, or the errno with which it failed (ENOSPC,
     * EDQUOT, EFBIG, EIO ...; ENOTSUP: the places for it lie in memory). What
     * was there before it stays readable. */
    void (*on_saved)(void *arg, int err);
    /* The bytes that were asked for, valid within the call; or an errno. */
    void (*on_fetched)(void *arg, const uint8_t *mem, uint32_t len_bytes,
                       int err);
};

struct ep_backlog_cfg {
    struct ep_writer *writer;               /* borrowed, outlives it */
    const char *dir;                        /* as of ep_spool_file_init, */
    bool may_lie_in_memory;                 /* which it may then anyway */
    uint64_t limit_bytes;                   /* at least a segment is allowed */
    const struct ep_backlog_events *events; /* borrowed */
    void *arg;
};

/* Makes no file. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_backlog_open(const struct ep_backlog_cfg *cfg, struct ep_backlog **out);

/* Ends it without callbacks; the file goes. NULL is fine. False when the
 * system does not let the thread go: what it was to append must then stay. */
bool ep_backlog_close(struct ep_backlog *log);

/* Forgets everything: the next byte appended is that at `pos`. An append or
 * read under way is still answered. */
void ep_backlog_start(struct ep_backlog *log, uint64_t pos);

/* Bytes that can be appended now. O(1). */
uint64_t ep_backlog_room(const struct ep_backlog *log);

/* Appends n pieces, at most EP_BACKLOG_PIECES_MAX of at most a segment each
 * and ep_backlog_room() in all; they are borrowed until on_saved, which comes
 * later. Not while one is under way. Returns 0, or an errno when there is no
 * thread to do it: nothing happened then. */
int ep_backlog_append(struct ep_backlog *log, const struct iovec *pieces,
                      unsigned n);

/* Reads at most len_bytes from `pos` on, and at least one. They must have been
 * saved and not forgotten. on_fetched comes later. Not while a read is under
 * way. Returns as ep_backlog_append. */
int ep_backlog_fetch(struct ep_backlog *log, uint64_t pos, uint32_t len_bytes);

/* Nobody needs what is before `pos`. */
void ep_backlog_forget(struct ep_backlog *log, uint64_t pos);

#endif
