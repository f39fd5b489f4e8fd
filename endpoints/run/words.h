/* What the nodes say: of their processes, and of themselves. */
#ifndef ENDPOINTS_RUN_WORDS_H
#define ENDPOINTS_RUN_WORDS_H

#include <stdint.h>

struct ov_slice;
struct run;

/* A record of such words, of this node. What makes no sense ends it. */
void ep_run_words(struct run *r, uint32_t node, const struct ov_slice *slice);
/* Begins the job, or the dvm, once all have joined and have told of their
 * machines where that was asked. */
void ep_run_begin(struct run *r);

#endif
