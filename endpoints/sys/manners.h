/* umask and soft limits of this process: reading and setting them
 * (job/manners.h).
 */
#ifndef ENDPOINTS_SYS_MANNERS_H
#define ENDPOINTS_SYS_MANNERS_H

#include "job/manners.h"

/* Reads those of this process; the limit on descriptors is that of its start.
 * For a process with one thread: the umask is changed for a moment. */
void ep_manners_read(struct job_manners *manners);

/* Sets them for this process, a soft limit as far as the hard one allows.
 * Returns 0, or -1 with errno set. */
int ep_manners_apply(const struct job_manners *manners);

#endif
