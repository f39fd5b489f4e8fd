/* What others than the launcher's stdin have for the stdin of processes. For
 * those of the run's own job it is in the stream of stdin, in the order of
 * these calls; from there on it is stdin like any other. For those of other
 * jobs it is in a stream of its own, which so does not wait for the run's own
 * job. */
#ifndef ENDPOINTS_RUN_PUSH_H
#define ENDPOINTS_RUN_PUSH_H

#include <stdbool.h>
#include <stdint.h>

struct run;
struct run_push;

/* Messages of others for stdin that wait for room in a stream: that of the
 * run's own job, or that of all others. */
struct run_pushes {
    struct run_push *first, **last; /* owned */
    bool has_set; /* it was told whom the messages are for that come now */
};

enum { RUN_PUSHES_OWN, RUN_PUSHES_OTHERS, RUN_PUSHES };

void ep_run_push_init(struct run *r);
/* Some processes of other jobs are to have a stdin. */
void ep_run_push_open(struct run *r);

/* A message as of overlay/wire/push.h: copied, and sent by the pump. */
void ep_run_push(struct run *r, const uint8_t *mem, uint32_t len_bytes);

/* Sends what waits as far as there is room, and tells the tap of each. What
 * nobody can get any more is dropped. */
void ep_run_push_pump(struct run *r);

/* Somebody is about to push to the run's own job, or nobody is left. */
void ep_run_push_keep(struct run *r, bool are_there);

/* The end of the launcher's stdin must not end that of the processes now. */
bool ep_run_push_keeps(const struct run *r);

void ep_run_push_close(struct run *r);

#endif
