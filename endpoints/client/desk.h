/* The desk to which PMIx tools connect, as the launcher calls it.
 *
 * The desk starts a helper process for each tool. The helper is a client of the
 * session's door, so everything about jobs goes through the door and not
 * through this interface. The desk never ends a run and never fails. All calls
 * and callbacks are made in the loop's thread; open() may call any callback,
 * and close() calls none.
 */
#ifndef ENDPOINTS_CLIENT_DESK_H
#define ENDPOINTS_CLIENT_DESK_H

#include <stdbool.h>

struct event_base;

struct ep_desk_events {
    /* Tools can connect to the address `uri`. Called again when the address has
     * changed, and with NULL when no tool can connect for a time. */
    void (*on_up)(void *arg, const char *uri);
    /* No tool could connect so far, and none ever will, for the reason in
     * `why`. Called only with is_dvm. */
    void (*on_given_up)(void *arg, const char *why);
    void (*on_say)(void *arg, const char *text); /* Tells the user this text. */
    /* Tells the user, but only with --verbose. */
    void (*on_note)(void *arg, const char *text);
};

struct ep_desk_cfg {
    struct event_base *base; /* borrowed, like all pointers below */
    const char *nspace; /* the name of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_desk_events *events;
    void *arg;
};

struct ep_desk_ops {
    /* Opens the desk. Returns NULL when there is none; then the functions below
     * must not be called. */
    void *(*open)(const struct ep_desk_cfg *cfg);
    /* Notes that the first processes of a job run. Further calls change
     * nothing. */
    void (*started)(void *desk);
    /* Closes the desk for further tools, and frees it. Helpers end when the
     * door closes. */
    void (*close)(void *desk);
};

#endif
