/* Sockets that connected to the listener and have proved nothing: they are
 * noted, and shut when they are too old. There are no looks while there can be
 * none.
 */
#ifndef ENDPOINTS_OFI_STRAY_H
#define ENDPOINTS_OFI_STRAY_H

#include <sys/types.h>

#include "endpoints/ofi/ofi.h"

/* The note about a socket, at its descriptor in t->strays.notes. */
struct ep_stray {
    union ep_sockaddr peer;
    ino_t inode;      /* the socket's, as its address may come again */
    int64_t since_ms; /* 0: nothing is noted */
    bool is_shut;
};

/* Says that the event queue was read while a connection waited at the listener.
 * It was accepted, most likely as `fd`, which was the lowest free descriptor
 * before; -1: none was free. */
void ep_stray_on_accept(struct ep_transport *t, int fd);

/* Says that the event queue's descriptor was ready. With news, that is an event
 * or a connection at the listener, strangers are looked for, but not soon.
 * Without, as tcp since 1.18 reports whatever comes over any link, no timer is
 * set for the look: it is taken when the descriptor is ready once more after
 * that time. */
void ep_stray_later(struct ep_transport *t, bool is_news);

/* Says that the socket of this peer becomes a link, whose frames may be short.
 * Returns its descriptor; -1: it is not known. Cost: a look at the notes; when
 * the socket is not among them, at each descriptor. */
int ep_stray_release(struct ep_transport *t, const union ep_sockaddr *peer);

/* Shuts strangers that are too old, when it is time to look. */
void ep_stray_sweep(struct ep_transport *t, int64_t now_ms);

/* Shuts every socket that belongs to no link; true when there was one. */
bool ep_stray_shut_all(struct ep_transport *t);

#endif
