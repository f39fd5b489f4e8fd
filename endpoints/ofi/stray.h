/* Sockets that connected to the listener and have proved nothing: noted, and
 * shut when they are too old. Nobody looks while there can be none.
 */
#ifndef ENDPOINTS_OFI_STRAY_H
#define ENDPOINTS_OFI_STRAY_H

#include <sys/types.h>

#include "endpoints/ofi/ofi.h"

/* The note of one, at its descriptor in t->strays.notes. */
struct ep_stray {
    union ep_sockaddr peer;
    ino_t inode;      /* the socket's: its address may come again */
    int64_t since_ms; /* 0: none here */
    bool is_shut;
};

/* The event queue was read while a connection waited at the listener. It was
 * accepted, most likely as `fd`, the lowest free descriptor before; -1: there
 * was none.
 */
void ep_stray_on_accept(struct ep_transport *t, int fd);

/* The event queue's descriptor was ready. With news, an event or somebody at
 * the listener, strangers are looked for, but not soon. Without, as tcp since
 * 1.18 has it for whatever comes over any link, nothing is woken for that look:
 * it is taken when the descriptor is ready once more after that time.
 */
void ep_stray_later(struct ep_transport *t, bool is_news);

/* The socket of this peer becomes a link: its frames may be short. Returns its
 * descriptor, -1: it has none that is known. Cost: a look at the notes; where
 * it is not among them, at each descriptor.
 */
int ep_stray_release(struct ep_transport *t, const union ep_sockaddr *peer);

/* Shuts those that are too old, when it is time to look. */
void ep_stray_sweep(struct ep_transport *t, int64_t now_ms);

/* Shuts every socket that is not a link's; true when there was one. */
bool ep_stray_shut_all(struct ep_transport *t);

#endif
