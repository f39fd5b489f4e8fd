/* The port on which PMIx tools connect to the launcher.
 *
 * A connection is handed on as a tool's once two things are known of it. The
 * kernel has said that the user who holds its other end may come in; all others
 * are closed at once. And the head of the first message of a tool's library
 * lies in the socket, whole and unread. So a scan of ports, which connects and
 * says nothing, costs a descriptor for a second and nothing else.
 *
 * All runs in the loop's thread, and nothing waits. At most EP_TOOLS_HEADS_MAX
 * connections are there of which the head is to come; for one more the oldest
 * that has said nothing is closed, and where all have begun to speak others
 * wait in the kernel. So they do, for EP_TOOLS_REST_MS, when this process has
 * no descriptor for them.
 *
 * Cost: O(EP_TOOLS_HEADS_MAX) for a connection where the table is full, else
 * O(1). What comes of a head wakes the loop once for each piece at most.
 */
#ifndef ENDPOINTS_CLIENT_TOOLS_H
#define ENDPOINTS_CLIENT_TOOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct ep_tools;

enum {
    EP_TOOLS_HEADS_MAX = 64,
    EP_TOOLS_HEAD_BYTES = 16, /* of a message of the library */
    EP_TOOLS_HEAD_MS = 1000,  /* what a head may take, as a rule */
    EP_TOOLS_REST_MS = 100,
};

struct ep_tools_cfg {
    struct event_base *base; /* borrowed, outlives it */
    const char *address; /* to listen on: text, IPv4, or IPv6 without brackets;
                            borrowed within ep_tools_open() */
    unsigned head_ms;    /* whose head is not whole by then is closed */
    bool allows_user;    /* processes of our own user, */
    bool allows_root;    /* and of root */
    /* A tool's connection, which is now the callee's: close-on-exec, blocking,
     * with TCP_NODELAY, and nothing was read from it. Its user is `uid`. May
     * call ep_tools_close(). */
    void (*on_tool)(void *arg, int fd, uid_t uid);
    /* For a user who wants to know all: that somebody was refused, or has to
     * wait. Once for each reason. Calls none of these functions. */
    void (*on_note)(void *arg, const char *text);
    void *arg;
};

/* Listens on a port that is free. Returns 0; OV_EINVAL: the address is none;
 * OV_ENOMEM; or OV_ESYS with errno, when it is not one of this machine, or the
 * kernel does not say who others are. *out is NULL after an error. */
int ep_tools_open(const struct ep_tools_cfg *cfg, struct ep_tools **out);

uint16_t ep_tools_port(const struct ep_tools *tools);

/* Closes the port, and the connections that were not handed on; no callback
 * follows. NULL is fine. */
void ep_tools_close(struct ep_tools *tools);

#endif
