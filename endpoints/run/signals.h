/* Signals to the launcher. */
#ifndef ENDPOINTS_RUN_SIGNALS_H
#define ENDPOINTS_RUN_SIGNALS_H

#include "endpoints/run/impl.h"

/* 0 or OV_ENOMEM. */
int ep_run_signals_open(struct run *r);
/* No signal changes anything any more. */
void ep_run_signals_close(struct run *r);
/* Stops processes and launcher; while daemons are started, when they are
 * there. */
void ep_run_stop(struct run *r);

#endif
