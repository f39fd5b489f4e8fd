/* The door of a session: a socket at which clients of the same user, and of
 * root, say what they want (job/door.h).
 *
 * Who a client is the kernel says. A table in door.c says what may be asked of
 * which session. It is there from the session's first moment to its last, and
 * is served by one loop after another: in between, who comes and what is said
 * waits. Where its name has gone, as with a folder that is cleaned up, it gets
 * another one within a minute.
 *
 * All in the loop's thread. Memory: 100 bytes a client, and what
 * endpoints/client/viewers.h and watchers.h say.
 */
#ifndef ENDPOINTS_CLIENT_DOOR_H
#define ENDPOINTS_CLIENT_DOOR_H

#include <stdbool.h>

struct ep_door;
struct ep_viewers;
struct event_base;

/* A tool has one that watches, and one for each of its pulls, pushes and jobs.
 * Each takes a descriptor. */
enum { EP_DOOR_CLIENTS_MAX = 512 };

struct ep_door_events {
    /* The dvm is to end. */
    void (*on_stop)(void *arg);
};

/* All is borrowed until ep_door_pause(). */
struct ep_door_cfg {
    struct event_base *base;
    const char *name; /* of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_door_events *events;
    void *arg;
};

/* Returns 0; or OV_ENOMEM or OV_ESYS, and `why` (EP_WHY_MAX bytes) says what
 * is in the way. */
int ep_door_open(struct ep_door **out, char *why);
/* Nobody finds it any more; those that are there are cut off. NULL is fine,
 * here and below. */
void ep_door_close(struct ep_door *door);

/* Clients are heard. Returns 0 or OV_ENOMEM. */
int ep_door_serve(struct ep_door *door, const struct ep_door_cfg *cfg);
/* They wait; harmless when they do already. */
void ep_door_pause(struct ep_door *door);

/* PMIx tools connect there from now on; NULL: not any more, for a time. */
void ep_door_tools(struct ep_door *door, const char *address);
/* They never can, for this reason. */
void ep_door_no_tools(struct ep_door *door, const char *why);

/* Those that look at a job, for the tap that serves them; borrowed. */
struct ep_viewers *ep_door_viewers(struct ep_door *door);

/* Has it still its name? If not it gets it again. A look at one file; for
 * tests, as it is done once in a minute. */
void ep_door_look(struct ep_door *door);

#endif
