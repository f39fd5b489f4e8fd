/* The rules by which a job's lines are left out, made of its description. */
#ifndef ENDPOINTS_DAEMON_RULES_H
#define ENDPOINTS_DAEMON_RULES_H

#include "job/filter.h"
#include "text/filter.h"

/* Compiles the patterns. Returns 0 or an errno: EINVAL when the library of this
 * host refuses a pattern, or ENOMEM; *rules is then empty. */
int ep_rules_open(const struct job_filter *filter,
                  struct text_filter_rules *rules);
void ep_rules_close(struct text_filter_rules *rules);

#endif
