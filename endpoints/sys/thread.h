/* Threads that wait in system calls on behalf of the event loop.
 *
 * Such a thread has a small stack and every signal blocked except SIGURG, which
 * takes it out of a system call that may last for ever. It is SIGURG because a
 * process ignores it by default: a stray one does no harm. Cancellation was
 * rejected: it unwinds the stack behind the back of the sanitizers and needs
 * libgcc_s at run time.
 */
#ifndef ENDPOINTS_SYS_THREAD_H
#define ENDPOINTS_SYS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts fn(arg). Returns 0 or an errno. */
int ep_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

/* Waits for the end of a thread that was told to end. With `interrupt` its
 * system calls give EINTR until it ends; for that time SIGURG has our handler.
 * Returns false when the system does not let it go for a second (a dead network
 * file system): the thread is left alone then, and all that it may touch must
 * stay. */
bool ep_thread_join(pthread_t thread, bool interrupt);

#endif
