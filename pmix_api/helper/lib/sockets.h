/* A connection of this process, seen from outside of the library that uses it:
 * who holds its other end, and how full it is.
 *
 * A descriptor alone is no name, for it is used again; with the other end's
 * port it is. Thread-safe.
 */
#ifndef PMIX_API_HELPER_LIB_SOCKETS_H
#define PMIX_API_HELPER_LIB_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct px_socket {
    int fd;
    uint16_t port; /* of the other end */
};

/* Opens what px_socket_peer() looks with, once. Without it that finds nobody.
 */
void px_sockets_open(void);

/* This descriptor, and its other end now. */
struct px_socket px_socket_of(int fd);

/* Its other end. */
struct px_peer {
    uid_t uid; /* the user whose process holds it, as the kernel says */
    uint32_t unread_bytes; /* it has come there, and was not read */
};

/* True when a process of this machine holds it now. */
bool px_socket_peer(const struct px_socket *sock, struct px_peer *out);

/* What the other end has not got yet. */
uint64_t px_socket_unsent(const struct px_socket *sock);

#endif
