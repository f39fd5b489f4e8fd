/* Messages of the nodes about their processes and about themselves. */
#ifndef ENDPOINTS_RUN_WORDS_H
#define ENDPOINTS_RUN_WORDS_H

#include <stdint.h>

struct ov_slice;
struct run;

/* Handles the messages in a record from this node. When one makes no sense, the
 * rest of the record is ignored. */
void ep_run_words(struct run *r, uint32_t node, const struct ov_slice *slice);
/* Begins the job, or the dvm, once all nodes have joined and, if they were
 * asked, have said what their machines are. */
void ep_run_begin(struct run *r);

#endif
