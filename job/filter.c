/* What daemons leave out of a job's output. */
#include "job/filter.h"

bool job_filter_has_rules(const struct job_filter *filter)
{
    return filter->grep.count > 0 || filter->grep_v.count > 0 ||
           filter->head > 0 || filter->tail > 0 || filter->rate > 0 ||
           filter->budget_bytes > 0;
}

static int copy_strings(struct job_strings *to, const struct job_strings *from)
{
    int rc = 0;

    for (uint32_t i = 0; i < from->count && rc == 0; i++)
        rc = job_strings_add(to, from->at[i]);
    return rc;
}

int job_filter_copy(struct job_filter *to, const struct job_filter *from)
{
    int rc;

    *to = *from;
    to->grep = to->grep_v = (struct job_strings){.count = 0};
    rc = copy_strings(&to->grep, &from->grep);
    return rc != 0 ? rc : copy_strings(&to->grep_v, &from->grep_v);
}

void job_filter_fini(struct job_filter *filter)
{
    job_strings_fini(&filter->grep);
    job_strings_fini(&filter->grep_v);
}
