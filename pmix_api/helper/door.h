/* One connection of a tool's helper to the session's door (job/door.h).
 *
 * It sends HELLO by itself, and then what the helper has said meanwhile. A
 * session that is too busy to accept the connection is dialled again. Messages
 * go out in order, and wait in memory while the socket takes nothing.
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

/* How the session is reached; borrowed as long as there is a door. */
struct px_door_way {
    struct event_base *base;
    /* Connects without waiting. Returns a descriptor; or -1 with errno, where
     * EAGAIN means that a later call may succeed. */
    int (*dial)(void *arg);
    void *arg;
};

/* Called from the loop; each may use and close the door. */
struct px_door_events {
    /* Any message but WELCOME and REFUSED; what it borrows is valid until the
     * callback returns. Return false when it cannot be taken now: it is given
     * again after px_door_go_on(). */
    bool (*on_word)(void *arg, const struct job_door *msg);
    /* Nothing more comes from the session. `why` is the reason that the session
     * gave, "" when it gave none. */
    void (*on_end)(void *arg, const char *why);
};

/* Returns 0 or OV_ENOMEM. Whether the session can be reached shows only
 * later. */
int px_door_open(const struct px_door_way *way,
                 const struct px_door_events *events, void *arg,
                 struct px_door **out);
/* NULL is fine. No callback follows. */
void px_door_close(struct px_door *door);

/* Sends a message, with its rest if it has one. A message that finds no room
 * ends the connection. O(bytes). */
void px_door_say(struct px_door *door, const struct job_door *msg);
/* Sends RANGES: these ranks of the job whose processes begin at `base`.
 * O(ranges). */
void px_door_say_ranges(struct px_door *door, const struct topo_ranges *ranks,
                        uint32_t base);
/* True when all that was said has left for the session. O(1). */
bool px_door_is_quiet(const struct px_door *door);

/* Lets the caller keep the memory that the message in on_word() borrows;
 * on_word() must then take the message. The memory comes from malloc(), and has
 * JOB_DOOR_BYTES_MAX bytes. Only within on_word(). */
void *px_door_let_go(struct px_door *door);

/* Reads nothing more until px_door_go_on(). Allowed in a callback, too. */
void px_door_pause(struct px_door *door);
/* Gives again, from the loop, the message that could not be taken, and then
 * what follows it. */
void px_door_go_on(struct px_door *door);

#endif
