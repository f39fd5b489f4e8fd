/* The attributes of PMIx that this host supports, call by call. */
#include "pmix_api/helper/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "pmix_api/helper/directive.h"
#include "pmix_api/helper/query.h"
#include "pmix_api/helper/wish.h"

enum { ATTRIBUTES_MAX = 128 };

/* The index-th attribute of a call; NULL: there are no more. */
typedef const char *(*key_fn)(size_t index);

static const char *push_key(size_t index)
{
    static const char *const keys[] = {PMIX_IOF_PUSH_STDIN, PMIX_IOF_COMPLETE};

    return index < sizeof(keys) / sizeof(keys[0]) ? keys[index] : NULL;
}

static const char *control_key(size_t index)
{
    static const char *const keys[] = {
        PMIX_JOB_CTRL_SIGNAL, PMIX_JOB_CTRL_KILL,   PMIX_JOB_CTRL_TERMINATE,
        PMIX_JOB_CTRL_PAUSE,  PMIX_JOB_CTRL_RESUME,
    };

    return index < sizeof(keys) / sizeof(keys[0]) ? keys[index] : NULL;
}

static const char *log_key(size_t index)
{
    static const char *const keys[] = {PMIX_LOG_STDOUT, PMIX_LOG_STDERR};

    return index < sizeof(keys) / sizeof(keys[0]) ? keys[index] : NULL;
}

static const struct {
    const char *call;
    key_fn key;
} calls[] = {
    {"PMIx_IOF_pull", px_wish_key},    {"PMIx_IOF_push", push_key},
    {"PMIx_Job_control", control_key}, {"PMIx_Log", log_key},
    {"PMIx_Query_info", px_query_key}, {"PMIx_Spawn", px_directive_key},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* By names as the standard has them. The library copies all. */
void px_attributes_register(void)
{
    for (size_t i = 0; i < CALLS; i++) {
        char *names[ATTRIBUTES_MAX + 1] = {NULL};
        const char *key;
        size_t count = 0;
        char call[64];

        snprintf(call, sizeof(call), "%s", calls[i].call);
        for (size_t k = 0; (key = calls[i].key(k)) != NULL; k++) {
            const char *name = PMIx_Get_attribute_name(key);

            /* One that it does not know would cut its answer short. */
            if (count < ATTRIBUTES_MAX && strncmp(name, "PMIX_", 5) == 0)
                names[count++] = strdup(name);
        }
        PMIx_Register_attributes(call, names);
        for (size_t k = 0; k < count; k++)
            free(names[k]);
    }
}

char *px_attributes_list(const char *call)
{
    char *text = NULL;
    const char *key;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < CALLS; i++) {
        if (strcmp(calls[i].call, call) != 0)
            continue;
        for (size_t k = 0; (key = calls[i].key(k)) != NULL; k++)
            fprintf(out, "%s%s", k > 0 ? "," : "", key);
    }
    return fclose(out) == 0 ? text : NULL;
}
