/* A request of the tool that waits for its answer. */
#ifndef PMIX_API_HELPER_LIB_CALL_H
#define PMIX_API_HELPER_LIB_CALL_H

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

/* The first member of the struct of each request. Callers know it as `call`. */
struct px_lib_call {
    /* Gives the answer to libpmix, or has it given, and frees the call after
     * that. Any thread. */
    void (*give)(struct px_lib_call *call);
    enum px_lib_answer answer;
};

/* The status by which libpmix is told an answer. */
pmix_status_t px_call_status(enum px_lib_answer answer);

/* Has done(status, arg) run in libpmix's thread, behind all that the thread has
 * to do already. Returns at once. Any thread. */
void px_call_turn(void (*done)(pmix_status_t status, void *arg), void *arg);

/* The callbacks that the tool's requests go to. */
struct px_caller {
    /* Borrowed as long as the process runs. */
    const struct px_lib_events *events;
    void *arg;
    pmix_proc_t tool; /* the tool that has come in; for libpmix's thread */
};

/* The caller. px_call_open() sets it once, before the library is started. */
const struct px_caller *px_caller(void);
void px_call_open(const struct px_lib_events *events, void *arg);
/* Notes the name of the tool. In libpmix's thread. */
void px_call_tool(const pmix_proc_t *name);

/* Tells the user why something is refused. In libpmix's thread. */
void px_call_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
