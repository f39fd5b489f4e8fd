/* Threads that wait in system calls on behalf of the event loop.
 *
 * Such a thread has a small stack and every signal blocked but SIGURG, which
 * takes it out of a system call that may last for ever. SIGURG because its
 * default is to be ignored: a stray one harms nobody. Cancellation was
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
 * system calls give EINTR until it ends; for that time SIGURG has our
 * handler. Returns false when the system does not let it go for a second (a
 * dead network file system): it is left alone then, and all that it may touch
 * must stay. */
bool ep_thread_join(pthread_t thread, bool interrupt);

#endif
