/* Looks at processes of a job on their hosts: starts further jobs in the
 * session, which have one program for each host, and this runs stack_script. */
#ifndef COMMANDS_STACK_NODES_H
#define COMMANDS_STACK_NODES_H

#include <stdint.h>

#include "commands/stack/marks.h"
#include "endpoints/client/sessions.h"

struct stack_target {
    uint32_t rank, pid;
    const char *host; /* borrowed */
    bool is_seen;     /* set when the target was looked at */
    bool is_failed;   /* set when on_failed() was called */
};

struct stack_plan {
    const struct ep_session
        *session;                 /* the session with the job; may be closed */
    struct stack_target *targets; /* borrowed; sorted by host afterwards */
    uint32_t count;
    const char *const *words; /* the user's command, NULL-terminated; NULL: the
                               * user gave none */
    double limit_s;           /* the time limit for each process */
    stack_look_fn on_look;    /* gets the result for a target, and for each
                               * process beneath it */
    /* Gets the reason why a target cannot be looked at. */
    void (*on_failed)(void *arg, const struct stack_target *target,
                      const char *why);
    void *arg;
};

/* Looks at all targets, at 64 hosts at a time, and blocks until that is done. A
 * target that was not looked at, and for which on_failed() was not called, has
 * ended together with its session. Returns NULL, or an error message. */
const char *stack_nodes_look(struct stack_plan *plan);

#endif
