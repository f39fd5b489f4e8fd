/* umask and soft limits of this process: read, and taken over (job/manners.h).
 */
#ifndef ENDPOINTS_SYS_MANNERS_H
#define ENDPOINTS_SYS_MANNERS_H

#include "job/manners.h"

/* Those of this process; of descriptors, those of its start. For one thread:
 * the umask is changed for a moment. */
void ep_manners_read(struct job_manners *manners);

/* Takes them over; a soft limit goes as far as the hard one lets it. Returns
 * 0, or -1 with errno set. */
int ep_manners_apply(const struct job_manners *manners);

#endif
