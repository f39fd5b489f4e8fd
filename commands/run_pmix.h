/* Whose PMIx tools may connect to `xylem run`. */
#ifndef COMMANDS_RUN_PMIX_H
#define COMMANDS_RUN_PMIX_H

#include <stdint.h>

enum { RUN_PMIX_USER = 1, RUN_PMIX_ROOT = 2 };

/* --pmix-allow: the user's own and root's where it is not called. Ends the
 * program with words when the list names others. */
void run_pmix_allow(const char *users);
/* RUN_PMIX_ bits. */
uint8_t run_pmix_allowed(void);

#endif
