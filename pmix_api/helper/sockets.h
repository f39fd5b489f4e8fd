/* The connections that the library has accepted, seen from outside of it: it
 * does not tell which socket is whose, nor how full one is.
 *
 * They are found among this process's own descriptors, by the port they were
 * accepted on. A descriptor alone is no name, for it is used again; with the
 * other end's port it is.
 *
 * Thread-safe.
 */
#ifndef PMIX_API_HELPER_SOCKETS_H
#define PMIX_API_HELPER_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SOCKETS_MAX = 512 }; /* looked at; as many as there may be descriptors */

struct px_socket {
    int fd;
    uint16_t port; /* of the other end */
};

/* Opens what the calls below look with, once, before the library is started:
 * they need no further descriptors. Returns 0 or OV_ESYS. */
int px_sockets_open(void);

/* This descriptor, and its other end now. */
struct px_socket px_socket_of(int fd);

/* The number of connections to `port`, written to `out` (SOCKETS_MAX). */
unsigned px_sockets_list(uint16_t port, struct px_socket *out);

/* Is the descriptor still this connection? */
bool px_socket_is_same(const struct px_socket *sock);

/* Something was read from it; it is open at both ends. */
bool px_socket_is_read(const struct px_socket *sock);

/* Something has come from it, read or not. */
bool px_socket_has_spoken(const struct px_socket *sock);

/* Nothing that it has said waits to be read. */
bool px_socket_is_silent(const struct px_socket *sock);

/* Its other end. */
struct px_peer {
    uid_t uid; /* who holds it, by the kernel's word; not anybody's claim */
    uint32_t unread_bytes; /* it has come there, and was not read */
};

/* True when a process of this machine holds it now. */
bool px_socket_peer(const struct px_socket *sock, struct px_peer *out);

/* What the other end has not got yet. */
uint64_t px_socket_unsent(const struct px_socket *sock);

/* Ends it for both ends, whoever holds it; the library closes it then. */
void px_socket_end(const struct px_socket *sock);

#endif
