/* A connection, for the files that ask more of a launcher than link.h has. */
#ifndef COMMANDS_ATTACH_LINK_IMPL_H
#define COMMANDS_ATTACH_LINK_IMPL_H

#include <pmix.h>

/* What went wrong, with the status in words; borrowed until the next one. */
const char *link_say(const char *what, pmix_status_t rc);

/* The library's thread has the answer to what was just asked; one at a time. */
void link_answer(pmix_status_t status);
/* Waits for that in the main thread, or PMIX_ERR_LOST_CONNECTION. */
pmix_status_t link_wait(void);

#endif
