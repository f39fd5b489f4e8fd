/* PMIX_RANK_LOCAL_NODE and PMIX_RANK_LOCAL_PEERS as targets of a pull.
 *
 * The library matches output by rank and knows no such name, and it has made
 * its note of a request before we are asked. So these names become the wildcard
 * while it reads the request (helper/hooks.h), and what the tool has said is
 * kept for the upcall that follows. The wildcard lets nothing through that is
 * not for the request: each delivery is for one that is named.
 *
 * In the library's thread.
 */
#ifndef PMIX_API_HELPER_LOCAL_H
#define PMIX_API_HELPER_LOCAL_H

#include <stddef.h>

#include <pmix_server.h>

/* A request was read, for these processes, which may be changed. */
void px_local_read(pmix_proc_t *procs, size_t count);

/* What the tool said where the upcall has `procs`; NULL when that is a name for
 * many that the library has noted as it stands. Borrowed, until the next
 * request is read. */
const pmix_proc_t *px_local_said(const pmix_proc_t *procs, size_t count);

#endif
