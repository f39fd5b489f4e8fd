/* A turn in the library's thread: what must be called there, and by whom. */
#ifndef PMIX_API_HELPER_TURN_H
#define PMIX_API_HELPER_TURN_H

#include <pmix_server.h>

/* Calls back from the library's thread, after all that it has to do already.
 * Any thread may ask; does not wait. */
void px_turn(void (*call)(pmix_status_t status, void *arg), void *arg);

#endif
