/* Ends what has waited too long: sockets that connected and said nothing,
 * requests that nobody answers, links that do not come up, failing links
 * whose end is not told, dropped links that cannot get rid of their last
 * frames. The timer runs only while there is something to watch.
 */
#ifndef ENDPOINTS_OFI_SWEEP_H
#define ENDPOINTS_OFI_SWEEP_H

#include <sys/types.h>

#include "endpoints/ofi/ofi.h"

/* A socket that connected to the listener and has proved nothing. */
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
void ep_sweep_on_accept(struct ep_transport *t, int fd);

/* The event queue's descriptor was ready. With news, an event or somebody at
 * the listener, strangers are looked for, but not soon. Without, as tcp since
 * 1.18 has it for whatever comes over any link, nothing is woken for that look:
 * it is taken when the descriptor is ready once more after that time.
 */
void ep_sweep_later(struct ep_transport *t, bool is_news);

/* The socket of this peer becomes a link: its frames may be short. Cost: a look
 * at each descriptor.
 */
void ep_sweep_release(struct ep_transport *t, const union ep_sockaddr *peer);

void ep_sweep_run(struct ep_transport *t);

/* Sees to it that the sweep runs in `ms` at the latest. */
void ep_sweep_in(struct ep_transport *t, int64_t ms);

/* Shuts every socket that is not a link's; true when there was one. */
bool ep_sweep_shut_all(struct ep_transport *t);

#endif
