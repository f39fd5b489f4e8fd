/* Asks the sessions of this machine for their jobs. */
#ifndef COMMANDS_PS_LISTING_H
#define COMMANDS_PS_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/ps/table.h"

struct ep_sessions;

struct ps_listing {
    struct ps_row *rows; /* owned */
    size_t count;
};

/* How long to wait for a session that does not answer. */
enum { PS_WAIT_MS = 1000 };

/* Asks each session for its jobs (with_groups: and what their processes do),
 * and waits PS_WAIT_MS at most for each. The
 * rows are in the order of the numbers of the launchers and of the jobs. A
 * session that ends meanwhile has no row. Returns 0 or OV_ENOMEM; the listing
 * must be closed in both cases. */
int ps_listing_open(const struct ep_sessions *sessions, bool with_groups,
                    struct ps_listing *out);
/* Leaves only the job of this name or, where that is the name of a dvm, the dvm
 * and its jobs. Returns false when there is none. */
bool ps_listing_keep(struct ps_listing *listing, const char *name);
void ps_listing_close(struct ps_listing *listing);

#endif
