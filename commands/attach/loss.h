/* When the connection to a session is lost: finds out whether the launcher has
 * ended, or has only cut this client off. One in a program. */
#ifndef COMMANDS_ATTACH_LOSS_H
#define COMMANDS_ATTACH_LOSS_H

#include <sys/types.h>

struct event_base;

struct loss_events {
    void (*on_gone)(void);  /* the launcher has ended, or is not known */
    void (*on_alone)(void); /* the launcher goes on for longer than an end
                               takes */
};

/* `launcher`: its process number; 0: not known. `base` and `events` are
 * borrowed. Returns 0 or OV_ENOMEM. */
int loss_open(struct event_base *base, pid_t launcher,
              const struct loss_events *events);

/* The connection is lost. One of the events follows when it is known what has
 * become of the launcher, perhaps during this call. */
void loss_begin(void);

#endif
