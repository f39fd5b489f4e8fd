/* Finds out, when the connection to a session is lost, whether the launcher has
 * ended or has only cut this client off. Can be used once in a program. */
#ifndef COMMANDS_ATTACH_LOSS_H
#define COMMANDS_ATTACH_LOSS_H

#include <sys/types.h>

struct event_base;

struct loss_events {
    void (*on_gone)(void);  /* the launcher has ended, or its pid is not
                               known */
    void (*on_alone)(void); /* the launcher has cut us off: it goes on running
                               for longer than its end would take */
};

/* `launcher` is the pid of the launcher; 0: not known. `base` and `events` are
 * borrowed. Returns 0 or OV_ENOMEM. */
int loss_open(struct event_base *base, pid_t launcher,
              const struct loss_events *events);

/* To be called when the connection is lost. Calls one of the events once it is
 * known whether the launcher has ended, perhaps during this call. */
void loss_begin(void);

#endif
