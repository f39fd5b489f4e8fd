/* Makes threads impossible, as at the limit of processes. The test is linked
 * with --wrap=pthread_create.
 */
#ifndef TESTS_UNIT_NO_THREADS_H
#define TESTS_UNIT_NO_THREADS_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg);

static bool has_no_threads;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg)
{
    return has_no_threads ? EAGAIN
                          : __real_pthread_create(thread, attr, fn, arg);
}

#endif
