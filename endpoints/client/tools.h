/* The port on which PMIx tools connect to the launcher.
 *
 * A connection is handed on as a tool's once two things are known. The kernel
 * has said that the user at its other end may come in; connections of other
 * users are closed at once. And the head of the first message of a tool's
 * library lies in the socket, whole and unread. So a port scan, which connects
 * and says nothing, costs a descriptor for a second and nothing else.
 *
 * Everything runs in the loop's thread, and nothing waits. At most
 * EP_TOOLS_HEADS_MAX connections wait for their head. When one more comes, the
 * oldest that has said nothing is closed; when all have begun to speak, further
 * ones wait in the kernel. They also wait there, for EP_TOOLS_REST_MS, when
 * this process has no descriptor for them.
 *
 * Cost: O(EP_TOOLS_HEADS_MAX) for a connection when the table is full, else
 * O(1). A head that comes in pieces wakes the loop at most once for each piece.
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
    EP_TOOLS_HEAD_BYTES = 16, /* of a message of the tool's library */
    EP_TOOLS_HEAD_MS = 1000,  /* how long a head may take, as a rule */
    EP_TOOLS_REST_MS = 100,
};

struct ep_tools_cfg {
    struct event_base *base; /* borrowed, outlives it */
    /* To listen on: text, IPv4, or IPv6 without brackets; borrowed within
     * ep_tools_open(). */
    const char *address;
    /* A connection whose head is not whole by then is closed. */
    unsigned head_ms;
    bool allows_user; /* processes of our own user may connect */
    bool allows_root; /* processes of root may connect */
    /* A tool's connection, which the callee now owns: close-on-exec, blocking,
     * with TCP_NODELAY, and nothing was read from it. `uid` is its user. May
     * call ep_tools_close(). */
    void (*on_tool)(void *arg, int fd, uid_t uid);
    /* Says, for --verbose, that a connection was refused or has to wait; once
     * for each reason. Must not call any of these functions. */
    void (*on_note)(void *arg, const char *text);
    void *arg;
};

/* Listens on a free port. Returns 0; OV_EINVAL: the text is not an address;
 * OV_ENOMEM; or OV_ESYS with errno, when the address is not one of this machine
 * or the kernel does not say who its peers are. *out is NULL after an error. */
int ep_tools_open(const struct ep_tools_cfg *cfg, struct ep_tools **out);

uint16_t ep_tools_port(const struct ep_tools *tools);

/* Closes the port, and the connections that were not handed on; no callback
 * follows. NULL is fine. */
void ep_tools_close(struct ep_tools *tools);

#endif
