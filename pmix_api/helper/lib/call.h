/* A request of the tool that waits for its answer. */
#ifndef PMIX_API_HELPER_LIB_CALL_H
#define PMIX_API_HELPER_LIB_CALL_H

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

/* The first member of each; what a caller knows as `call`. */
struct px_lib_call {
    /* Gives the answer to libpmix, or sees to it, and frees the call when that
     * is done. In whatever thread. */
    void (*give)(struct px_lib_call *call);
    enum px_lib_answer answer;
};

/* What libpmix is told. */
pmix_status_t px_call_status(enum px_lib_answer answer);

/* Has done(status, arg) run in libpmix's thread, behind all that it has to do
 * already. Returns at once; any thread. */
void px_call_turn(void (*done)(pmix_status_t status, void *arg), void *arg);

/* Whom the tool's requests go to: the caller's callbacks. */
struct px_caller {
    const struct px_lib_events *events; /* borrowed for good */
    void *arg;
    pmix_proc_t tool; /* who has come in; in libpmix's thread */
};

/* px_call_open() comes once, before the library is started. */
const struct px_caller *px_caller(void);
void px_call_open(const struct px_lib_events *events, void *arg);
/* In libpmix's thread. */
void px_call_tool(const pmix_proc_t *name);

/* The user is told why something is refused. In libpmix's thread. */
void px_call_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
