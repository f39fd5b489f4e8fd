/* Reads and sets umask and soft limits of this process (job/manners.h). */
#ifndef ENDPOINTS_SYS_MANNERS_H
#define ENDPOINTS_SYS_MANNERS_H

#include "job/manners.h"

/* Reads umask and soft limits of this process; the limit on descriptors is the
 * one that it had at its start. The process must have one thread: the umask is
 * changed for a moment. */
void ep_manners_read(struct job_manners *manners);

/* Sets umask and soft limits of this process; a soft limit that is above the
 * hard limit is set to the hard one. Returns 0, or -1 with errno set. */
int ep_manners_apply(const struct job_manners *manners);

#endif
