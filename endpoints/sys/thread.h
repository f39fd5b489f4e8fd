/* Threads that wait in system calls on behalf of the event loop.
 *
 * Such a thread has a small stack and every signal blocked except SIGURG, which
 * interrupts a system call that may last for ever. SIGURG was chosen because a
 * process ignores it by default: a stray one does no harm. Cancellation was
 * rejected: it unwinds the stack in a way that the sanitizers do not see, and
 * needs libgcc_s at run time.
 */
#ifndef ENDPOINTS_SYS_THREAD_H
#define ENDPOINTS_SYS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts fn(arg). Returns 0 or an errno. */
int ep_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

/* Waits for the end of a thread that has been asked to end. With `interrupt`
 * its system calls return EINTR until it ends; for that time SIGURG has our
 * handler. Returns false when the thread is still in a system call after a
 * second (a dead network file system): the thread is then abandoned, and all
 * memory that it may use must stay. */
bool ep_thread_join(pthread_t thread, bool interrupt);

#endif
