/* The daemons of a run: started, told where their parents listen, joined. */
#ifndef ENDPOINTS_RUN_DAEMONS_H
#define ENDPOINTS_RUN_DAEMONS_H

#include "endpoints/run/impl.h"

/* 0, or the exit code after words on stderr. */
int ep_run_daemons_start(struct run *r);
/* The hub is open: daemons that waited for addresses get them. */
void ep_run_daemons_connect(struct run *r);
/* Every node has joined. */
void ep_run_daemons_joined(struct run *r);

#endif
