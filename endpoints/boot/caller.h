/* Connects to the gate of a daemon's parent (call.h), again and again until the
 * gate answers.
 *
 * A thread makes the connections, so that none of them delays the event loop;
 * only the parent's name is looked up before, in ep_caller_open. The thread
 * tries addresses and ports in turn. Each attempt may take one second, later
 * five, when the other end does not answer or is not the gate. After a round
 * without success the thread waits, 5 ms at first and at most 250 ms, because
 * the parent may start later.
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
    uint32_t node;                       /* the node that connects */
    uint32_t parent; /* the node to whose gate it connects */
    /* An address of the launcher without a port, tried before config->gates; or
     * NULL. */
    const char *first_address;
    /* Called once. fd is the proved connection, a blocking one that the callee
     * owns; or -1: there was no answer within the launch timeout, and `why`
     * says what happened. */
    void (*on_answer)(void *arg, int fd, const char *why);
    void *arg;
};

/* Begins to connect. Looks up the parent's name first, which may take as long
 * as the name service does. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_caller_open(const struct ep_caller_cfg *cfg, struct ep_caller **out);

/* Stops connecting, even in the middle of an attempt. NULL is allowed. */
void ep_caller_close(struct ep_caller *caller);

#endif
