/* The door of a session: a socket at which clients of the same user, and of
 * root, say what they want (job/door.h).
 *
 * Who a client is the kernel says. A table in door.c says what may be asked of
 * which session. All in the loop's thread.
 */
#ifndef ENDPOINTS_CLIENT_DOOR_H
#define ENDPOINTS_CLIENT_DOOR_H

#include <stdbool.h>

struct ep_door;
struct event_base;

enum { EP_DOOR_CLIENTS_MAX = 128 };

struct ep_door_events {
    /* The dvm is to end. */
    void (*on_stop)(void *arg);
};

/* All is borrowed. */
struct ep_door_cfg {
    struct event_base *base;
    const char *name; /* of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_door_events *events;
    void *arg;
};

/* Returns 0; or OV_ENOMEM or OV_ESYS, and `why` (EP_WHY_MAX bytes) says what
 * is in the way. */
int ep_door_open(const struct ep_door_cfg *cfg, struct ep_door **out,
                 char *why);
/* PMIx tools connect there from now on; NULL: not any more, for a time. */
void ep_door_tools(struct ep_door *door, const char *address);
/* They never can, for this reason. The door may be NULL, here and above. */
void ep_door_no_tools(struct ep_door *door, const char *why);
/* Nobody finds it any more; those that are there are cut off. NULL is fine. */
void ep_door_close(struct ep_door *door);

#endif
