/* What the nodes say about their processes and about themselves. */
#ifndef ENDPOINTS_RUN_WORDS_H
#define ENDPOINTS_RUN_WORDS_H

#include <stdint.h>

struct ov_slice;
struct run;

/* Reads a record of such words from this node. Words that make no sense end the
 * record. */
void ep_run_words(struct run *r, uint32_t node, const struct ov_slice *slice);
/* Begins the job, or the dvm, once all nodes have joined and, where they were
 * asked, have told their machines. */
void ep_run_begin(struct run *r);

#endif
