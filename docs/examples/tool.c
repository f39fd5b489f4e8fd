/* tool PID RANKS: shows what the RANKS processes of xylem run PID write. */
#include <pmix_tool.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t ends; /* one for each channel that has ended */

static void need(const char *call, pmix_status_t status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "tool: %s: %s\n", call, PMIx_Error_string(status));
    exit(1);
}

static void show(size_t pull, pmix_iof_channel_t channel, pmix_proc_t *from,
                 pmix_byte_object_t *got, pmix_info_t info[], size_t infos)
{
    (void)pull, (void)from;
    fwrite(got->size > 0 ? got->bytes : "", 1, got->size,
           channel & PMIX_FWD_STDERR_CHANNEL ? stderr : stdout);
    for (size_t i = 0; i < infos; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_IOF_COMPLETE))
            sem_post(&ends);
}

int main(int argc, char **argv)
{
    int pid = argc == 3 ? atoi(argv[1]) : 0, left = pid ? atoi(argv[2]) * 2 : 0;
    pmix_query_t query = {.keys = (char *[]){PMIX_QUERY_NAMESPACES, NULL}};
    pmix_proc_t self, all;
    pmix_info_t server, copy, *jobs;
    size_t count;

    if (left < 1 || sem_init(&ends, 0, 0))
        return fputs("usage: tool PID RANKS, of a xylem run\n", stderr), 2;
    PMIX_INFO_LOAD(&server, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    PMIX_INFO_LOAD(&copy, PMIX_IOF_COPY, NULL, PMIX_BOOL);
    need("PMIx_tool_init", PMIx_tool_init(&self, &server, 1));
    need("PMIx_Query_info", PMIx_Query_info(&query, 1, &jobs, &count));
    PMIX_LOAD_PROCID(&all, jobs->value.data.string, PMIX_RANK_WILDCARD);
    need("PMIx_IOF_pull", PMIx_IOF_pull(&all, 1, &copy, 1, 6, show, 0, 0));
    fprintf(stderr, "tool: shows %s\n", all.nspace);
    while (left-- > 0) /* stdout and stderr, which are the channels of 6 */
        sem_wait(&ends);
    need("PMIx_tool_finalize", PMIx_tool_finalize());
    return 0;
}
