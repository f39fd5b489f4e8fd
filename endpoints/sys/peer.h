/* Asks the kernel which user has the other end of a TCP connection, and how
 * many bytes wait there.
 *
 * What a peer says about itself proves nothing. When the peer is a process of
 * this machine, the kernel knows which user has its socket, and tells any
 * process that asks (sock_diag): this needs no privilege and no cooperation of
 * the peer.
 *
 * For one thread at a time. Each call costs O(1) and waits for nothing.
 */
#ifndef ENDPOINTS_SYS_PEER_H
#define ENDPOINTS_SYS_PEER_H

#include <stdint.h>
#include <sys/types.h>

/* A connection to the kernel for such questions. */
struct ep_peers {
    int kernel;     /* owned: a netlink socket */
    uint32_t asked; /* number of questions so far */
};

/* Opens the connection. Returns 0, or OV_ESYS with errno: this kernel does not
 * answer such questions. Questions need no further descriptor. */
int ep_peers_open(struct ep_peers *peers);

/* Closes the connection. Also fine for a struct that was not opened, with
 * `kernel` -1 and the rest zero. */
void ep_peers_close(struct ep_peers *peers);

/* The other end of a connection. */
struct ep_peer {
    uid_t uid;             /* the user whose process has the other end */
    uint32_t unread_bytes; /* bytes that have arrived at the other end and are
                            * not read */
};

/* Asks about the other end of the connected TCP socket `fd`. Returns 0 with
 * *out; OV_ENOENT: no process of this machine has the other end, which is on
 * another machine or closed; or OV_ESYS: the kernel does not answer. *out is
 * only written with 0. */
int ep_peers_ask(struct ep_peers *peers, int fd, struct ep_peer *out);

#endif
