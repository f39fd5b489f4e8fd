/* One connection of a tool's helper to the session's door (job/door.h).
 *
 * It says HELLO by itself, and what is said meanwhile behind that. A session
 * that is too busy to take it is tried again. Words go out in order and wait in
 * memory where the socket takes no more.
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

/* How the session is reached; borrowed for good. */
struct px_door_way {
    struct event_base *base;
    /* Connects without waiting. A descriptor; -1 with errno, of which EAGAIN
     * means later. */
    int (*dial)(void *arg);
    void *arg;
};

/* From the loop; each may use and close the door. */
struct px_door_events {
    /* A message but WELCOME and REFUSED; what it borrows is valid until it
     * returns. False: it cannot be taken now, and is said again after
     * px_door_go_on(). */
    bool (*on_word)(void *arg, const struct job_door *msg);
    /* Nothing more comes. `why`: what the session said of that, "" where it
     * said nothing. */
    void (*on_end)(void *arg, const char *why);
};

/* Returns 0 or OV_ENOMEM. Whether there is a session shows later. */
int px_door_open(const struct px_door_way *way,
                 const struct px_door_events *events, void *arg,
                 struct px_door **out);
/* NULL is fine. No callback follows. */
void px_door_close(struct px_door *door);

/* Says a message, with its rest if it has one. O(bytes). One that finds no room
 * ends the connection. */
void px_door_say(struct px_door *door, const struct job_door *msg);
/* Says RANGES: these ranks of a job, behind its base. O(ranges). */
void px_door_say_ranges(struct px_door *door, const struct topo_ranges *ranks,
                        uint32_t base);
/* All that was said is on its way. O(1). */
bool px_door_is_quiet(const struct px_door *door);

/* Within on_word(), which then takes the message: the memory that the message
 * borrows, of malloc() and of JOB_DOOR_BYTES_MAX bytes, is the caller's. */
void *px_door_let_go(struct px_door *door);

/* Hears nothing more until it goes on; from a callback, too. */
void px_door_pause(struct px_door *door);
/* What could not be taken is said again, from the loop, and what follows. */
void px_door_go_on(struct px_door *door);

#endif
