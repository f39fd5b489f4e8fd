/* The desk to which PMIx tools come, as the launcher knows it.
 *
 * The desk gives each tool a helper, which is a client of the session's door,
 * so nothing of a job passes here. The desk never ends a run and never fails.
 * All calls and callbacks are made in the loop's thread; open() may call any
 * callback, and close() calls none.
 */
#ifndef ENDPOINTS_CLIENT_DESK_H
#define ENDPOINTS_CLIENT_DESK_H

#include <stdbool.h>

struct event_base;

struct ep_desk_events {
    /* Tools can connect to this address; it is called again when the address
     * has changed. NULL: for a time no tool can connect. */
    void (*on_up)(void *arg, const char *uri);
    /* Only with is_dvm: no tool could connect so far, and none ever will. */
    void (*on_given_up)(void *arg, const char *why);
    void (*on_say)(void *arg, const char *text);  /* to the user */
    void (*on_note)(void *arg, const char *text); /* with --verbose */
};

struct ep_desk_cfg {
    struct event_base *base; /* borrowed, like all that follows */
    const char *nspace;      /* of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_desk_events *events;
    void *arg;
};

struct ep_desk_ops {
    /* Returns the desk, or NULL when there is none; then no other call
     * follows. */
    void *(*open)(const struct ep_desk_cfg *cfg);
    /* The first processes of a job run. Repeating the call is harmless. */
    void (*started)(void *desk);
    /* Lets in no further tool; helpers end when the door closes. */
    void (*close)(void *desk);
};

#endif
