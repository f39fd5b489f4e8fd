/* A PMIx tool that pulls output and counts it.
 *
 *     pull_tool -g GATE -p PID NSPACE BYTES [redirect]
 *
 * Connects to the server of the process PID, pulls stdout of all processes of
 * NSPACE (-: the one that the server tells), comes to the gate, and reports
 * there when the last of BYTES bytes has come. Fails when more come, or less.
 * It asks for a copy, or with that word for the output itself.
 */
#include "bench/gate.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "tests/pmix/turn.h"

static struct {
    uint64_t got_bytes, wanted_bytes;
    bool is_answered, is_done;
    pmix_status_t status;
} tool;

static _Noreturn void fail(const char *what, pmix_status_t rc)
{
    fprintf(stderr, "pull_tool: %s: %s\n", what, PMIx_Error_string(rc));
    _exit(1);
}

static void on_output(size_t handler, pmix_iof_channel_t channel,
                      pmix_proc_t *source, pmix_byte_object_t *payload,
                      pmix_info_t info[], size_t ninfo)
{
    (void)handler;
    (void)channel;
    (void)source;
    (void)info;
    (void)ninfo;
    if (payload != NULL)
        tool.got_bytes += payload->size;
    if (tool.got_bytes >= tool.wanted_bytes)
        change(&tool.is_done);
}

static void on_registered(pmix_status_t status, size_t handler, void *arg)
{
    (void)handler;
    (void)arg;
    tool.status = status;
    change(&tool.is_answered);
}

static void connect_to(uint32_t pid)
{
    pmix_info_t info;
    pmix_proc_t self;
    pmix_status_t rc;

    setenv("PMIX_MCA_gds", "hash", 1);
    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    rc = PMIx_tool_init(&self, &info, 1);
    if (rc != PMIX_SUCCESS)
        fail("cannot connect", rc);
    listen_for(PMIX_ERR_LOST_CONNECTION, on_lost);
}

static void find_job(const char *given, char *nspace)
{
    pmix_query_t query;
    pmix_info_t *found;
    pmix_status_t rc;
    size_t count;

    if (strcmp(given, "-") != 0) {
        PMIX_LOAD_NSPACE(nspace, given);
        return;
    }
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(rc, query.keys, PMIX_QUERY_NAMESPACES);
    rc = PMIx_Query_info(&query, 1, &found, &count);
    if (rc != PMIX_SUCCESS || count != 1)
        fail("no namespace", rc);
    PMIX_LOAD_NSPACE(nspace, found->value.data.string);
}

static void pull(const char *given, bool redirects)
{
    pmix_proc_t all = {.rank = PMIX_RANK_WILDCARD};
    pmix_info_t info;
    pmix_status_t rc;

    find_job(given, all.nspace);
    PMIX_INFO_LOAD(&info, redirects ? PMIX_IOF_REDIRECT : PMIX_IOF_COPY, NULL,
                   PMIX_BOOL);
    rc = PMIx_IOF_pull(&all, 1, &info, 1, PMIX_FWD_STDOUT_CHANNEL, on_output,
                       on_registered, NULL);
    wait_for(&tool.is_answered);
    if (rc != PMIX_SUCCESS || tool.status != PMIX_SUCCESS)
        fail("cannot pull", rc != PMIX_SUCCESS ? rc : tool.status);
}

int main(int argc, char **argv)
{
    if (argc < 7 || argc > 8 || strcmp(argv[1], "-g") != 0 ||
        strcmp(argv[3], "-p") != 0) {
        fputs("usage: pull_tool -g GATE -p PID NSPACE BYTES [redirect]\n",
              stderr);
        return 2;
    }
    tool.wanted_bytes = strtoull(argv[6], NULL, 10);
    connect_to((uint32_t)atoi(argv[4]));
    pull(argv[5], argc > 7);
    gate_wait(argv[2]);
    wait_for(&tool.is_done);
    gate_report(argv[2]);
    if (!turn.is_cut)
        PMIx_tool_finalize();
    if (tool.got_bytes == tool.wanted_bytes)
        return 0;
    fprintf(stderr, "pull_tool: %llu bytes of %llu\n",
            (unsigned long long)tool.got_bytes,
            (unsigned long long)tool.wanted_bytes);
    return 1;
}
