/* The door of a session: a socket at which clients of the same user, and of
 * root, say what they want (job/door.h).
 *
 * The kernel says which user a client belongs to, and a table in door.c says
 * what may be asked of which session. The door exists from the session's first
 * moment to its last, and is served by one event loop after another; in
 * between, new clients and their messages wait. When its name has disappeared,
 * for example because somebody cleaned the folder up, it gets another name
 * within a minute.
 *
 * Everything runs in the loop's thread. Memory: 100 bytes a client, and what
 * endpoints/client/viewers.h and watchers.h say.
 */
#ifndef ENDPOINTS_CLIENT_DOOR_H
#define ENDPOINTS_CLIENT_DOOR_H

#include <stdbool.h>

struct ep_door;
struct ep_viewers;
struct event_base;

/* A tool's helper has one client that watches, and one for each of its pulls,
 * pushes and jobs. Each client takes a descriptor. */
enum { EP_DOOR_CLIENTS_MAX = 512 };

struct ep_door_events {
    /* A client has asked the dvm to end. */
    void (*on_stop)(void *arg);
};

/* Everything here is borrowed until ep_door_pause(). */
struct ep_door_cfg {
    struct event_base *base;
    const char *name; /* of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_door_events *events;
    void *arg;
};

/* Returns 0; or OV_ENOMEM or OV_ESYS, with the reason in `why` (EP_WHY_MAX
 * bytes). */
int ep_door_open(struct ep_door **out, char *why);
/* Removes the door's name and cuts off the clients that are connected. NULL is
 * fine, here and below. */
void ep_door_close(struct ep_door *door);

/* Begins to read what clients say. Returns 0 or OV_ENOMEM. */
int ep_door_serve(struct ep_door *door, const struct ep_door_cfg *cfg);
/* Lets clients wait until the next ep_door_serve(). Repeating the call is
 * harmless. */
void ep_door_pause(struct ep_door *door);

/* Tells clients the address to which PMIx tools connect from now on. NULL: for
 * a time there is none. */
void ep_door_tools(struct ep_door *door, const char *address);
/* Tells clients that PMIx tools can never connect, and why. */
void ep_door_no_tools(struct ep_door *door, const char *why);

/* The clients that look at a job, for the tap that serves them; borrowed. */
struct ep_viewers *ep_door_viewers(struct ep_door *door);

/* Checks whether the door still has its name, and restores it if not. Costs a
 * look at one file. It happens once a minute by itself; the function is there
 * for tests. */
void ep_door_look(struct ep_door *door);

#endif
