/* Connections that have yet to say who they are, at most GATE_MAX at a time.
 *
 * The library accepts all that come, and one for which no descriptor is left
 * ends its listener for good. So before each it asks here, and where there are
 * too many the oldest that has said nothing makes way; meanwhile others wait in
 * the kernel. So do all until we are ready for them: the library listens before
 * that.
 *
 * Thread-safe. O(GATE_MAX).
 */
#ifndef PMIX_API_HELPER_GATE_H
#define PMIX_API_HELPER_GATE_H

#include <stdbool.h>

enum {
    GATE_MAX = 64,
    GATE_WAIT_MS = 20, /* for room, or for a descriptor */
    GATE_SPARE = 16,   /* with fewer descriptors than these it is over */
};

/* From now on there is somebody to let them in; before, nobody is accepted. */
void px_gate_open(void);

/* A connection may be accepted. False: not now, it is not open, or nobody has
 * made way for GATE_WAIT_MS. Blocks so long. */
bool px_gate_wait(void);

/* It was accepted; or (-1) could not be. */
void px_gate_add(int fd);
/* One has been, or could not be, since this was asked last. */
bool px_gate_is_new(void);

/* It is a tool's. */
void px_gate_admit(int fd);

/* Nearly all descriptors that this process may have are in use, which happens
 * only when some are lost: all that it serves leave more free. */
bool px_gate_is_starved(void);

#endif
