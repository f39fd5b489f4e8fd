/* The attributes of PMIx that this host supports, call by call. */
#include "pmix_api/helper/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

enum { ATTRIBUTES_MAX = 64 };

/* As the standard names them; docs/pmix.md says what they do. */
static const struct {
    const char *call;
    const char *names[ATTRIBUTES_MAX]; /* up to NULL */
} calls[] = {
    {"PMIx_IOF_pull", {"PMIX_IOF_COPY", NULL}},
    {"PMIx_Job_control",
     {"PMIX_JOB_CTRL_SIGNAL", "PMIX_JOB_CTRL_KILL", "PMIX_JOB_CTRL_TERMINATE",
      "PMIX_JOB_CTRL_PAUSE", "PMIX_JOB_CTRL_RESUME", NULL}},
    {"PMIx_Log", {"PMIX_LOG_STDOUT", "PMIX_LOG_STDERR", NULL}},
    {"PMIx_Query_info",
     {"PMIX_QUERY_NAMESPACES", "PMIX_QUERY_NAMESPACE_INFO",
      "PMIX_QUERY_JOB_STATUS", "PMIX_QUERY_PROC_TABLE",
      "PMIX_QUERY_LOCAL_PROC_TABLE", "PMIX_QUERY_SPAWN_SUPPORT",
      "PMIX_QUERY_DEBUG_SUPPORT", "PMIX_QUERY_ATTRIBUTE_SUPPORT",
      "PMIX_LOCAL_PEERS", "PMIX_LOCAL_PROCS", "PMIX_LOCAL_SIZE",
      "PMIX_JOB_SIZE", "PMIX_NSPACE", "PMIX_PROCID", "PMIX_RANK",
      "PMIX_HOSTNAME", "PMIX_NODEID", NULL}},
    {"PMIx_Spawn",
     {"PMIX_SET_ENVAR",
      "PMIX_ADD_ENVAR",
      "PMIX_UNSET_ENVAR",
      "PMIX_PREPEND_ENVAR",
      "PMIX_APPEND_ENVAR",
      "PMIX_WDIR",
      "PMIX_WDIR_USER_SPECIFIED",
      "PMIX_PPR",
      "PMIX_MAPBY",
      "PMIX_RANKBY",
      "PMIX_HOST",
      "PMIX_HOSTFILE",
      "PMIX_ADD_HOST",
      "PMIX_ADD_HOSTFILE",
      "PMIX_NOHUP",
      "PMIX_FWD_STDOUT",
      "PMIX_FWD_STDERR",
      "PMIX_NOTIFY_JOB_EVENTS",
      "PMIX_NOTIFY_COMPLETION",
      NULL}},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* The library copies all. */
void px_attributes_register(void)
{
    for (size_t i = 0; i < CALLS; i++) {
        char *names[ATTRIBUTES_MAX + 1] = {NULL};
        char call[64];

        snprintf(call, sizeof(call), "%s", calls[i].call);
        for (size_t k = 0; calls[i].names[k] != NULL; k++)
            names[k] = strdup(calls[i].names[k]);
        PMIx_Register_attributes(call, names);
        for (size_t k = 0; names[k] != NULL; k++)
            free(names[k]);
    }
}

char *px_attributes_list(const char *call)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < CALLS; i++) {
        if (strcmp(calls[i].call, call) != 0)
            continue;
        for (size_t k = 0; calls[i].names[k] != NULL; k++)
            fprintf(out, "%s%s", k > 0 ? "," : "",
                    PMIx_Get_attribute_string(calls[i].names[k]));
    }
    return fclose(out) == 0 ? text : NULL;
}
