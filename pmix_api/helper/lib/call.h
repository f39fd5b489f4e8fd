/* A request of the tool that waits for its answer. */
#ifndef PMIX_API_HELPER_LIB_CALL_H
#define PMIX_API_HELPER_LIB_CALL_H

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

/* The first member of the struct of each request. In request.h a pointer to it
 * is the member `call`. */
struct px_lib_call {
    /* Passes the answer to libpmix, now or in another thread, and then frees
     * the call. May be called from any thread. */
    void (*give)(struct px_lib_call *call);
    enum px_lib_answer answer;
};

/* The status of libpmix that stands for an answer. */
pmix_status_t px_call_status(enum px_lib_answer answer);

/* Has done(status, arg) run in libpmix's thread, after everything that waits
 * for this thread already. Returns at once. May be called from any thread. */
void px_call_turn(void (*done)(pmix_status_t status, void *arg), void *arg);

/* The callbacks that requests of the tool are passed to, and the tool. */
struct px_caller {
    /* Borrowed as long as the process runs. */
    const struct px_lib_events *events;
    void *arg;
    pmix_proc_t tool; /* the tool that has connected; to be used in libpmix's
                         thread only */
};

/* px_caller() returns what px_call_open() has set, once, before libpmix is
 * started. */
const struct px_caller *px_caller(void);
void px_call_open(const struct px_lib_events *events, void *arg);
/* Notes the name of the tool. To be called in libpmix's thread. */
void px_call_tool(const pmix_proc_t *name);

/* Reports to the user why something is refused. To be called in libpmix's
 * thread. */
void px_call_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
