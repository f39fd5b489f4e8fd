/* How far the library is behind with what it was given for each tool.
 *
 * It answers when it has queued a message, not when it has written it, and its
 * queue has no bound; that a socket has room says nothing of it. So each
 * delivery is counted in when the library has queued it, and out when it has
 * written the last byte of it, which for a slow tool takes many writes.
 *
 * Tools are the library's names, and the count of one that is gone may be left
 * for the next of that name: one that stands still for a second while the
 * socket has room is forgotten.
 *
 * Thread-safe. O(LAG_TOOLS_MAX).
 */
#ifndef PMIX_API_HELPER_LAG_H
#define PMIX_API_HELPER_LAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAG_BYTES = 768 * 1024,   /* the library may have so much for a tool */
    LAG_MESSAGE_BYTES = 4096, /* what a delivery takes beside its payload */
    LAG_FORGET_MS = 1000,
    LAG_TOOLS_MAX = 128,
};

/* One write of the library to a tool. */
struct px_write {
    size_t bytes;     /* written, at least one */
    bool is_whole;    /* the last that was missing of a message */
    bool is_delivery; /* of output; counts where it begins a message */
};

/* The library has queued a delivery of so many bytes. `fd` is the tool's
 * socket, or -1: not known yet. */
void px_lag_given(const void *tool, int fd, uint64_t bytes);

/* The library has written. True when somebody who waits should
 * look again. */
bool px_lag_wrote(const void *tool, const struct px_write *write);

/* How much more the tool may be given; 0: none, and px_lag_wrote() will say
 * when. `fd` is its socket, or -1. */
uint32_t px_lag_room(const void *tool, int fd, uint64_t now_ms);

/* When to look again at the latest; 0: nobody waits. */
uint64_t px_lag_due_ms(const void *tool);

/* What the library has of all tools. */
uint64_t px_lag_bytes(void);
/* The payload that it has for one. */
uint64_t px_lag_payload(const void *tool);
/* And in how many deliveries. */
unsigned px_lag_messages(const void *tool);

/* The tool has gone: forgets it, and returns the payload that the library had
 * for it. */
uint64_t px_lag_forsake(const void *tool);

/* Forgets the tools that are not here any more; `fd` is what px_lag_given() was
 * told last. One that is, has all its bytes, also when its pulls have ended. */
void px_lag_keep(bool (*is_here)(const void *tool, int fd));

#endif
