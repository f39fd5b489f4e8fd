/* Output that comes from the launcher, for the pulls that want it. */
#ifndef PMIX_API_HELPER_INTAKE_H
#define PMIX_API_HELPER_INTAKE_H

#include <stdint.h>

/* Under the lock. Bytes that were redirected, and for which nobody was there,
 * since the last call. */
uint64_t px_intake_stray(void);

/* Under the lock. Bytes that came redirected so far. */
uint64_t px_intake_bytes(void);

#endif
