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

/* Asks each session for its jobs (with_groups: also what their processes are
 * doing), and waits at most PS_WAIT_MS for each. The rows are in the order of
 * the numbers of the launchers and of the jobs. A session that ends meanwhile
 * has no row. Returns 0 or OV_ENOMEM; the listing must be closed in both
 * cases. */
int ps_listing_open(const struct ep_sessions *sessions, bool with_groups,
                    struct ps_listing *out);
/* Removes all rows except that of the job with this name or, when it is the
 * name of a dvm, those of the dvm and its jobs. Returns false when there is no
 * such row. */
bool ps_listing_keep(struct ps_listing *listing, const char *name);
void ps_listing_close(struct ps_listing *listing);

#endif
