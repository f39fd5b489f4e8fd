/* The door of a session: a socket at which clients of the same user, and of
 * root, make requests (job/door.h).
 *
 * The kernel tells to which user a client belongs, and a table in door.c says
 * which requests the session accepts. The door exists from the session's first
 * moment to its last. One event loop after another serves it; in between, new
 * clients and their messages wait. When the socket's name has disappeared, for
 * example because somebody cleaned the folder up, the door makes its name again
 * within a minute.
 *
 * Everything runs in the loop's thread. Memory: 100 bytes for each client, and
 * what endpoints/client/viewers.h and watchers.h say.
 */
#ifndef ENDPOINTS_CLIENT_DOOR_H
#define ENDPOINTS_CLIENT_DOOR_H

#include <stdbool.h>

struct ep_door;
struct ep_viewers;
struct event_base;

/* The most clients at a time. The helper of a PMIx tool has one client that
 * watches, and one for each of its pulls, pushes and jobs. Each client takes a
 * descriptor. */
enum { EP_DOOR_CLIENTS_MAX = 512 };

struct ep_door_events {
    /* A client has asked for the end of the dvm. */
    void (*on_stop)(void *arg);
};

/* What serves the door. All pointers are borrowed until ep_door_pause(). */
struct ep_door_cfg {
    struct event_base *base;
    const char *name; /* the name of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_door_events *events;
    void *arg;
};

/* Opens the door. Returns 0; or OV_ENOMEM or OV_ESYS, with the reason in `why`
 * (EP_WHY_MAX bytes). */
int ep_door_open(struct ep_door **out, char *why);
/* Removes the socket's name and closes the connections of all clients. NULL is
 * fine, here and below. */
void ep_door_close(struct ep_door *door);

/* Begins to read the messages of clients. Returns 0 or OV_ENOMEM. */
int ep_door_serve(struct ep_door *door, const struct ep_door_cfg *cfg);
/* Leaves messages of clients unread until the next ep_door_serve(). Further
 * calls change nothing. */
void ep_door_pause(struct ep_door *door);

/* Tells clients to which address PMIx tools connect from now on; NULL when
 * there is no address for a time. */
void ep_door_tools(struct ep_door *door, const char *address);
/* Tells clients that PMIx tools can never connect, and why. */
void ep_door_no_tools(struct ep_door *door, const char *why);

/* Returns the clients that look at jobs, which the launcher must tell what
 * happens (viewers.h); borrowed. */
struct ep_viewers *ep_door_viewers(struct ep_door *door);

/* Checks whether the socket still has its name, and makes the name again if
 * not. Costs a look at one file. The door does this itself once a minute; only
 * tests call it. */
void ep_door_look(struct ep_door *door);

#endif
