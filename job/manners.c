/* Names of limits. */
#include "job/manners.h"

const char *job_manners_name(enum job_manners_limit limit)
{
    static const char *const names[JOB_MANNERS_LIMITS] = {
#define NAME(name, text) text,
        JOB_MANNERS_MAP(NAME)
#undef NAME
    };

    return names[limit];
}
