/* Strangers: sockets that have connected to the listener and have proved
 * nothing. They are noted, and shut when they are too old. The descriptors are
 * scanned only while there can be strangers. */
#ifndef ENDPOINTS_OFI_STRAY_H
#define ENDPOINTS_OFI_STRAY_H

#include <sys/types.h>

#include "endpoints/ofi/ofi.h"

/* The note about a socket. Its index in t->strays.notes is the socket's
 * descriptor. */
struct ep_stray {
    union ep_sockaddr peer;
    ino_t inode; /* inode of the socket, as its address may be used again */
    int64_t since_ms; /* 0: there is no note at this descriptor */
    bool is_shut;
};

/* Says that the event queue was read while a connection waited at the listener.
 * The connection was most likely accepted as `fd`, which was the lowest free
 * descriptor before; -1: none was free. */
void ep_stray_on_accept(struct ep_transport *t, int fd);

/* Says that the event queue's descriptor was ready. When there was an event or
 * a connection at the listener (is_news), a scan for strangers is planned, but
 * not soon. Without news, as tcp since 1.18 reports whatever comes over any
 * link, no timer is set for the scan: it is made when the descriptor is ready
 * once more after that time. */
void ep_stray_later(struct ep_transport *t, bool is_news);

/* Says that the socket of this peer becomes a link, whose frames may be short.
 * Returns its descriptor; -1: it is not known. Cost: O(notes); when the socket
 * is not among them, a call for each descriptor. */
int ep_stray_release(struct ep_transport *t, const union ep_sockaddr *peer);

/* Shuts strangers that are too old, when a scan is due. */
void ep_stray_sweep(struct ep_transport *t, int64_t now_ms);

/* Shuts every socket that belongs to no link; true when there was one. */
bool ep_stray_shut_all(struct ep_transport *t);

#endif
