/* What the run does when the launcher receives a signal. */
#ifndef ENDPOINTS_RUN_INTERRUPT_H
#define ENDPOINTS_RUN_INTERRUPT_H

struct run;

/* Opens r->signals and r->suspension. Returns 0 or OV_ENOMEM. */
int ep_run_interrupt_open(struct run *r);
/* Stops handling signals: from now on no signal changes anything. */
void ep_run_interrupt_close(struct run *r);
/* Carries out a SIGTSTP that came before the job began. To be called once the
 * job's description was sent to the nodes. */
void ep_run_interrupt_begun(struct run *r);

#endif
