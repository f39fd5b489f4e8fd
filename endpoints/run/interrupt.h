/* What signals to the launcher mean to a run. */
#ifndef ENDPOINTS_RUN_INTERRUPT_H
#define ENDPOINTS_RUN_INTERRUPT_H

struct run;

/* Opens r->signals and r->suspension. Returns 0 or OV_ENOMEM. */
int ep_run_interrupt_open(struct run *r);
/* No signal changes anything any more. */
void ep_run_interrupt_close(struct run *r);
/* The job was told to the nodes: a stop that came too early is due now. */
void ep_run_interrupt_begun(struct run *r);

#endif
