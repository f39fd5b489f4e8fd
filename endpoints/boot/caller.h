/* Calls the gate of a daemon's parent (call.h) until it answers.
 *
 * Connections are made by a thread, so that none holds up the event loop; only
 * the name is looked up at the start. Addresses and ports are tried in turn,
 * each for a second and later for five: one that leads nowhere, or to a
 * stranger, costs that much. After a round that found nobody it rests, 5 ms at
 * first and at most 250 ms: the parent may start later.
 */
#ifndef ENDPOINTS_BOOT_CALLER_H
#define ENDPOINTS_BOOT_CALLER_H

#include <stdint.h>

#include "endpoints/boot/boot_config.h"

struct event_base;
struct ep_caller;

struct ep_caller_cfg {
    struct event_base *base;             /* borrowed, outlives the caller */
    const struct ep_boot_config *config; /* borrowed: does not change */
    uint32_t node;                       /* who calls */
    uint32_t parent;                     /* whom */
    const char *first_address; /* NULL, or where the launcher may be: tried
                                  before config->gates, without a port */
    /* Once. fd: the connection, proved, blocking, the callee's; -1: nobody
     * has answered within the launch timeout; `why` says what came of it. */
    void (*on_answer)(void *arg, int fd, const char *why);
    void *arg;
};

/* Begins. Looks up the parent's name, which may take as long as the name
 * service does. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_caller_open(const struct ep_caller_cfg *cfg, struct ep_caller **out);

/* Ends it, also in the middle of a call. NULL is allowed. */
void ep_caller_close(struct ep_caller *caller);

#endif
