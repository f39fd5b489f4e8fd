/* The kernel says which user holds the other end of a TCP connection, and how
 * much waits there.
 *
 * What a peer says of itself proves nothing. Where it is a process of this
 * machine the kernel knows which user's its socket is, and tells anybody who
 * asks (sock_diag): this needs no privilege and no word of the peer.
 *
 * For one thread at a time. Each call costs O(1) and waits for nothing.
 */
#ifndef ENDPOINTS_SYS_PEER_H
#define ENDPOINTS_SYS_PEER_H

#include <stdint.h>
#include <sys/types.h>

/* A way to ask the kernel. */
struct ep_peers {
    int kernel;     /* owned: a netlink socket */
    uint32_t asked; /* questions so far */
};

/* Returns 0, or OV_ESYS with errno: this kernel is not to be asked. All later
 * questions need no further descriptor. */
int ep_peers_open(struct ep_peers *peers);

/* One that was not opened is all zero but for `kernel`, which is -1. */
void ep_peers_close(struct ep_peers *peers);

/* The other end of a connection. */
struct ep_peer {
    uid_t uid;             /* the user whose process holds it */
    uint32_t unread_bytes; /* they have come there, and were not read */
};

/* Asks for the other end of the connected TCP socket `fd`. Returns 0 and *out;
 * OV_ENOENT: no process of this machine holds it, as it is on another one or
 * has been closed there; or OV_ESYS: the kernel does not say. *out is only
 * written with 0. */
int ep_peers_ask(struct ep_peers *peers, int fd, struct ep_peer *out);

#endif
