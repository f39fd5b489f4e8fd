/* The port on which PMIx tools connect to the launcher.
 *
 * A connection is passed on as that of a tool only when the kernel says that
 * its user may connect, and when the head of a tool's first message can be read
 * from the socket as a whole. Connections of other users are closed at once.
 * The head is left unread. So a port scan, which connects and sends nothing,
 * costs a descriptor for a second and nothing else.
 *
 * Everything runs in the loop's thread, and nothing blocks. At most
 * EP_TOOLS_HEADS_MAX connections wait for their head. When one more is made,
 * the oldest that has sent nothing is closed; when all have sent something,
 * further ones wait in the kernel. They also wait there, for EP_TOOLS_REST_MS,
 * when this process has no descriptor for them.
 *
 * Cost: O(EP_TOOLS_HEADS_MAX) for a connection when the table is full, else
 * O(1). A head that arrives in pieces wakes the loop at most once for each
 * piece.
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
    EP_TOOLS_HEAD_BYTES = 16, /* the head of each message of a tool's library */
    /* how long a head may take unless head_ms differs */
    EP_TOOLS_HEAD_MS = 1000,
    EP_TOOLS_REST_MS = 100,
};

struct ep_tools_cfg {
    struct event_base *base; /* borrowed; must outlive the port */
    /* The address to listen on, as text: IPv4, or IPv6 without brackets.
     * Borrowed within ep_tools_open(). */
    const char *address;
    /* A connection is closed when its head is not complete after this time. */
    unsigned head_ms;
    bool allows_user; /* processes of our own user may connect */
    bool allows_root; /* processes of root may connect */
    /* Takes a tool's connection, which the callee now owns: a socket that is
     * close-on-exec and blocking, with TCP_NODELAY, and from which nothing was
     * read. `uid` is its user. May call ep_tools_close(). */
    void (*on_tool)(void *arg, int fd, uid_t uid);
    /* Reports a connection that was refused or has to wait, for --verbose;
     * called once for each reason. Must not call any function of this
     * header. */
    void (*on_note)(void *arg, const char *text);
    void *arg;
};

/* Opens a free port and listens on it. Returns 0; OV_EINVAL when the text is
 * not an address; OV_ENOMEM; or OV_ESYS with errno, when the address is not one
 * of this machine or the kernel does not say which user a connection belongs
 * to. *out is NULL after an error. */
int ep_tools_open(const struct ep_tools_cfg *cfg, struct ep_tools **out);

uint16_t ep_tools_port(const struct ep_tools *tools);

/* Closes the port, and the connections that were not passed on. No callback is
 * called afterwards. NULL is fine. */
void ep_tools_close(struct ep_tools *tools);

#endif
