/* The connection to a session is lost: has its launcher ended, or has that only
 * cut this client off? Once for a program. */
#ifndef COMMANDS_ATTACH_LOSS_H
#define COMMANDS_ATTACH_LOSS_H

#include <sys/types.h>

struct event_base;

struct loss_events {
    void (*on_gone)(void);  /* the launcher has ended, or is not known */
    void (*on_alone)(void); /* it goes on, for longer than an end takes */
};

/* `launcher`: its process; 0: not known. `base` and `events` are borrowed.
 * Returns 0 or OV_ENOMEM. */
int loss_open(struct event_base *base, pid_t launcher,
              const struct loss_events *events);

/* The connection is lost. What has become of the launcher is told when it is
 * known, and may be told in here. */
void loss_begin(void);

#endif
