/* Calls the gate of a daemon's parent (call.h) until it answers.
 *
 * A thread makes the connections, so that none of them delays the event loop;
 * only the name is looked up at the start. Addresses and ports are tried in
 * turn, each for one second at first and later for five: so much time is lost
 * on one that does not answer or is not the gate. After a round without success
 * the thread waits, 5 ms at first and at most 250 ms, because the parent may
 * start later.
 */
#ifndef ENDPOINTS_BOOT_CALLER_H
#define ENDPOINTS_BOOT_CALLER_H

#include <stdint.h>

#include "endpoints/boot/boot_config.h"

struct event_base;
struct ep_caller;

struct ep_caller_cfg {
    struct event_base *base;             /* borrowed, outlives the caller */
    const struct ep_boot_config *config; /* borrowed; does not change */
    uint32_t node;                       /* the node that calls */
    uint32_t parent;                     /* the node that is called */
    /* Where the launcher may be, tried before config->gates, without a port; or
     * NULL. */
    const char *first_address;
    /* Called once. fd is the proved connection, which blocks and is the
     * callee's from now on; or -1: there was no answer within the launch
     * timeout, and `why` says what happened. */
    void (*on_answer)(void *arg, int fd, const char *why);
    void *arg;
};

/* Begins to call. Looks up the parent's name, which may take as long as the
 * name service does. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_caller_open(const struct ep_caller_cfg *cfg, struct ep_caller **out);

/* Ends the calls, even in the middle of one. NULL is allowed. */
void ep_caller_close(struct ep_caller *caller);

#endif
