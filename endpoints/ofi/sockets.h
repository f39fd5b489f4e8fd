/* The provider's sockets as the system shows them.
 *
 * A provider on sockets gives no handle to a socket that has connected to the
 * listener and has sent no request, and no way to ask whether sent bytes have
 * arrived. Both can be found out from the descriptors of this process: a socket
 * is recognised by its two addresses.
 */
#ifndef ENDPOINTS_OFI_SOCKETS_H
#define ENDPOINTS_OFI_SOCKETS_H

#include "endpoints/ofi/ofi.h"

/* Sets t->listen_fd to the listening socket; -1 when the provider has none.
 * Cost: some calls for each descriptor of the process. */
void ep_sock_open(struct ep_transport *t);
void ep_sock_close(struct ep_transport *t);

/* Calls fn for each connected socket that the listener has accepted. */
typedef void (*ep_sock_fn)(void *arg, int fd, const union ep_sockaddr *peer);
void ep_sock_each(struct ep_transport *t, ep_sock_fn fn, void *arg);

/* Finds the descriptor with these two addresses; returns -1 when there is none.
 * `guess` is tried first; -1: there is no guess. */
int ep_sock_find(struct ep_transport *t, int guess,
                 const union ep_sockaddr *local, const union ep_sockaddr *peer);

/* True when the listener has accepted fd; `peer` is then filled in. */
bool ep_sock_is_accepted(const struct ep_transport *t, int fd,
                         union ep_sockaddr *peer);

/* Returns a number that no earlier socket had; 0 when fd is no socket. */
ino_t ep_sock_inode(int fd);

/* Makes an accepted socket readable from its first byte on, and not only when a
 * whole request may have arrived. */
void ep_sock_wake_early(int fd);

/* True when a connection waits at the listener. */
bool ep_sock_is_asked(const struct ep_transport *t);

/* Returns the lowest free descriptor; -1: none is free, or there is no
 * listener. */
int ep_sock_next_free(const struct ep_transport *t);

#endif
