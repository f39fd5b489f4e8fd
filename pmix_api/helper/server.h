/* The PMIx server: libpmix, and what it asks of us. */
#ifndef PMIX_API_HELPER_SERVER_H
#define PMIX_API_HELPER_SERVER_H

#include <stdint.h>

/* Starts the library as a server that takes tools in, which find it by files
 * in `folder`: by the process number of the launcher, by the namespace of the
 * job, and by the library's own names. Blocks for some tens of milliseconds.
 * Returns NULL, or what went wrong. Call it once, after px_job_start(). */
const char *px_server_open(const char *folder, uint32_t launcher_pid,
                           uint8_t allow);

/* Looks for tools that have gone without a word: do so now and then while there
 * are any. Any thread; is done in the library's. */
void px_server_reap(void);

/* Valid from then on. */
const char *px_server_uri(void);
uint16_t px_server_port(void);

#endif
