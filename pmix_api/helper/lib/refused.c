/* The lists of directives that are refused by name. */
#include "pmix_api/helper/lib/refused.h"

#include <string.h>

#include "pmix_api/helper/lib/flag.h"

static const char *const of_spawn[] = {
    /* Directives about processes that stop for a debugger, and about daemons of
     * a debugger. */
    PMIX_DEBUG_STOP_ON_EXEC,
    PMIX_DEBUG_STOP_IN_INIT,
    PMIX_DEBUG_STOP_IN_APP,
    PMIX_DEBUGGER_DAEMONS,
    PMIX_DEBUG_TARGET,
    PMIX_DEBUG_DAEMONS_PER_PROC,
    PMIX_DEBUG_DAEMONS_PER_NODE,
    PMIX_COSPAWN_APP,
    /* Directives about programs that start other programs. */
    PMIX_FORKEXEC_AGENT,
    PMIX_EXEC_AGENT,
    PMIX_LAUNCHER_DAEMON,
    PMIX_LAUNCH_DIRECTIVES,
    PMIX_SPAWN_TOOL,
    PMIX_PREFIX,
    PMIX_PRELOAD_BIN,
    PMIX_PRELOAD_FILES,
    PMIX_INDEX_ARGV,
    /* Directives about placement that job/wish.h cannot express. */
    PMIX_CPUS_PER_PROC,
    PMIX_CPU_LIST,
    PMIX_NO_OVERSUBSCRIBE,
    PMIX_NO_PROCS_ON_HEAD,
    PMIX_DISPLAY_MAP,
    PMIX_REPORT_BINDINGS,
    /* Directives that only make sense for a pull. */
    PMIX_IOF_COPY,
    PMIX_IOF_REDIRECT,
    PMIX_STDIN_TGT,
};

/* Directives that are refused for a pull, whose bytes are neither formatted nor
 * written to files. */
static const char *const of_pull[] = {
    PMIX_IOF_TAG_OUTPUT,
    PMIX_IOF_RANK_OUTPUT,
    PMIX_IOF_TIMESTAMP_OUTPUT,
    PMIX_IOF_XML_OUTPUT,
    PMIX_TAG_OUTPUT,
    PMIX_TIMESTAMP_OUTPUT,
    PMIX_IOF_OUTPUT_TO_FILE,
    PMIX_IOF_OUTPUT_TO_DIRECTORY,
    PMIX_IOF_FILE_PATTERN,
    PMIX_IOF_FILE_ONLY,
    PMIX_IOF_MERGE_STDERR_STDOUT,
};

static bool is_set(const pmix_info_t *info)
{
    return info->value.type != PMIX_BOOL || info->value.data.flag;
}

/* True for the directives that ask for an allocation; a tool that asks for one
 * does not want the job without it. */
static bool is_allocation(const pmix_info_t *info)
{
    static const char prefix[] = "pmix.alloc.";

    return strncmp(info->key, prefix, sizeof(prefix) - 1) == 0;
}

bool px_refused_of_spawn(const pmix_info_t *info)
{
    return is_set(info) &&
           (is_allocation(info) ||
            px_value_has_key(info, of_spawn,
                             sizeof(of_spawn) / sizeof(of_spawn[0])));
}

bool px_refused_of_pull(const pmix_info_t *info)
{
    return is_set(info) &&
           px_value_has_key(info, of_pull,
                            sizeof(of_pull) / sizeof(of_pull[0]));
}
