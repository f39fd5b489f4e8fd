/* Runs functions in the thread of the module that uses this library (the
 * caller), when a thread of libpmix asks for it and waits for the answer.
 *
 * Only threads of libpmix wait here. The caller's thread never waits, nor does
 * it hold a lock while it answers.
 */
#ifndef PMIX_API_HELPER_LIB_ASK_H
#define PMIX_API_HELPER_LIB_ASK_H

#include <stdbool.h>

/* Returns 0 or OV_ESYS. */
int px_ask_open(void);

/* A descriptor that is readable when px_ask_turn() has something to do. */
int px_ask_fd(void);

/* Has call(arg) run in the caller's thread, and waits for px_ask_answer(). Only
 * for the one thread of libpmix that makes upcalls. */
void px_ask(void (*call)(void *arg), void *arg);

/* As px_ask(), but waits only until call(arg) has returned. */
void px_tell(void (*call)(void *arg), void *arg);

/* Makes the descriptor readable. May be called from any thread. */
void px_ask_wake(void);

/* Runs the function that px_ask() or px_tell() waits for; after that the
 * descriptor is not readable. To be called by the caller's thread. */
void px_ask_turn(void);

/* Lets px_ask() return. To be called by the caller's thread, once for each
 * px_ask(), from within its function or later. */
void px_ask_answer(void);

#endif
