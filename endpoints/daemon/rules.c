/* Compiles the patterns of a job. */
#include "endpoints/daemon/rules.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "overlay/base/err.h"
#include "text/pattern.h"

static uint64_t cpu_ns(void)
{
    struct timespec ts = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int compile(const struct job_strings *from, struct text_patterns **set)
{
    struct text_pattern_fault fault;
    int rc = 0;

    if (from->count == 0)
        return 0;
    if (text_patterns_open(cpu_ns, set) != 0)
        return ENOMEM;
    for (uint32_t i = 0; i < from->count && rc == 0; i++)
        rc = text_patterns_add(*set, from->at[i], &fault);
    if (rc == 0)
        return 0;
    return rc == OV_ENOMEM ? ENOMEM : EINVAL;
}

int ep_rules_open(const struct job_filter *filter,
                  struct text_filter_rules *rules)
{
    int err;

    *rules = (struct text_filter_rules){.head = filter->head,
                                        .tail = filter->tail,
                                        .rate = filter->rate,
                                        .budget_bytes = filter->budget_bytes};
    err = compile(&filter->grep, &rules->grep);
    if (err == 0)
        err = compile(&filter->grep_v, &rules->grep_v);
    if (err != 0)
        ep_rules_close(rules);
    return err;
}

void ep_rules_close(struct text_filter_rules *rules)
{
    text_patterns_close(rules->grep);
    text_patterns_close(rules->grep_v);
    *rules = (struct text_filter_rules){.head = 0};
}
