/* Signals to `xylem run --dvm`: they are its job's. */
#ifndef COMMANDS_SUBMIT_SIGNALS_H
#define COMMANDS_SUBMIT_SIGNALS_H

struct event_base;

struct signals_events {
    /* To be sent to the job; signals_told() follows. */
    void (*on_send)(int signo);
    /* A second SIGINT or SIGTERM: it ends with this code. */
    void (*on_give_up)(int code);
};

/* From now on; what was ignored at our start stays so. Returns 0 or OV_ENOMEM.
 * `events` is borrowed. */
int signals_open(struct event_base *base, const struct signals_events *events);

/* All that was to be sent has been: a stop of the job is followed by ours. */
void signals_told(void);

#endif
