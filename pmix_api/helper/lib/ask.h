/* Calls from the threads of libpmix to the caller's: questions that wait for
 * their answer, and things to look at.
 *
 * A thread of libpmix waits here. The caller's thread never does, nor does it
 * hold a lock while it answers.
 */
#ifndef PMIX_API_HELPER_LIB_ASK_H
#define PMIX_API_HELPER_LIB_ASK_H

#include <stdbool.h>

/* Returns 0 or OV_ESYS. */
int px_ask_open(void);

/* Readable when there is something for the caller. */
int px_ask_fd(void);

/* Has call(arg) run in the caller's thread, and waits for px_ask_answer(). Only
 * for the one thread of libpmix that makes upcalls. */
void px_ask(void (*call)(void *arg), void *arg);

/* Likewise, but waits only until the call has returned. */
void px_tell(void (*call)(void *arg), void *arg);

/* Makes the descriptor readable. Any thread. */
void px_ask_wake(void);

/* Runs what is asked; the descriptor is not readable after that. For the
 * caller. */
void px_ask_turn(void);

/* Lets px_ask() return. For the caller, once for each call of px_ask(), from
 * within it or later. */
void px_ask_answer(void);

#endif
