/* One connection of a tool's helper to the session's door (job/door.h).
 *
 * The connection sends HELLO by itself, then the messages that the helper has
 * given to it meanwhile. When the session is too busy to accept the connection,
 * it tries again. Messages go out in order, and wait in memory while the socket
 * is full.
 *
 * All in the loop's thread; nothing blocks. Memory: a packet, and at most
 * PX_DOOR_WAITING_BYTES.
 */
#ifndef PMIX_API_HELPER_DOOR_H
#define PMIX_API_HELPER_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "job/door.h"

struct event_base;
struct px_door;
struct topo_ranges;

enum { PX_DOOR_WAITING_BYTES = 64 << 20 };

/* How to connect to the session; borrowed as long as there is a door. */
struct px_door_way {
    struct event_base *base;
    /* Connects without waiting. Returns a descriptor; or -1 with errno, where
     * EAGAIN means that a later call may succeed. */
    int (*dial)(void *arg);
    void *arg;
};

/* Callbacks from the event loop; each may use and close the door. */
struct px_door_events {
    /* A message of the session, except WELCOME and REFUSED; memory that it
     * borrows is valid until the callback returns. Return false when the
     * message cannot be handled now: the callback gets it again after
     * px_door_go_on(). */
    bool (*on_word)(void *arg, const struct job_door *msg);
    /* The connection has ended. `why` is the session's reason, "" when it gave
     * none. */
    void (*on_end)(void *arg, const char *why);
};

/* Opens a connection, without waiting for it. Returns 0 or OV_ENOMEM; when the
 * session cannot be reached, on_end follows. */
int px_door_open(const struct px_door_way *way,
                 const struct px_door_events *events, void *arg,
                 struct px_door **out);
/* NULL is fine. No callback follows. */
void px_door_close(struct px_door *door);

/* Sends a message, with its `rest` if it has one. When too many bytes wait
 * already, this ends the connection. O(bytes). */
void px_door_say(struct px_door *door, const struct job_door *msg);
/* Sends RANGES: these ranks of the job whose processes begin at `base`.
 * O(ranges). */
void px_door_say_ranges(struct px_door *door, const struct topo_ranges *ranks,
                        uint32_t base);
/* True when all messages have been written to the socket. O(1). */
bool px_door_is_quiet(const struct px_door *door);

/* To be called within on_word() only: makes the caller the owner of the memory
 * that the message borrows, JOB_DOOR_BYTES_MAX bytes from malloc(). on_word()
 * must then return true. */
void *px_door_let_go(struct px_door *door);

/* Reads nothing more until px_door_go_on(). Allowed in a callback, too. */
void px_door_pause(struct px_door *door);
/* Continues to read: from the event loop, on_word() gets the message again for
 * which it returned false, then the next messages. */
void px_door_go_on(struct px_door *door);

#endif
