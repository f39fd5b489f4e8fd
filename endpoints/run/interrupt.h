/* What signals to the launcher mean for the run. */
#ifndef ENDPOINTS_RUN_INTERRUPT_H
#define ENDPOINTS_RUN_INTERRUPT_H

struct run;

/* Opens r->signals and r->suspension. Returns 0 or OV_ENOMEM. */
int ep_run_interrupt_open(struct run *r);
/* From now on no signal changes anything. */
void ep_run_interrupt_close(struct run *r);
/* The job was told to the nodes: a stop that came too early is carried out
 * now. */
void ep_run_interrupt_begun(struct run *r);

#endif
