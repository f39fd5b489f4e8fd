/* Looks at processes of a job, where they are: starts further jobs in the
 * session, of one program for each host, which run stack_script. */
#ifndef COMMANDS_STACK_NODES_H
#define COMMANDS_STACK_NODES_H

#include <stdint.h>

#include "commands/stack/marks.h"
#include "endpoints/client/sessions.h"

struct stack_target {
    uint32_t rank, pid;
    const char *host; /* borrowed */
    bool is_seen;     /* set when it has been looked at */
    bool is_failed;   /* set when on_failed() was called */
};

struct stack_plan {
    const struct ep_session *session; /* how it was found; may be closed */
    struct stack_target *targets;     /* borrowed; in the end sorted by host */
    uint32_t count;
    const char *const *words; /* the command, NULL-terminated; NULL: none is
                                 given */
    double limit_s;           /* for each process */
    stack_look_fn on_look;    /* gets what is seen of a target, and of processes
                                 below it */
    /* Gets the reason why a target cannot be looked at. */
    void (*on_failed)(void *arg, const struct stack_target *target,
                      const char *why);
    void *arg;
};

/* Looks at all targets, and blocks until that is done: 64 hosts at a time. A
 * target that was not looked at, and for which on_failed() was not called, has
 * ended with its session. Returns NULL, or what is wrong. */
const char *stack_nodes_look(struct stack_plan *plan);

#endif
