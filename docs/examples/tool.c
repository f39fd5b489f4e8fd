/* tool PID RANKS: shows what the RANKS processes of xylem run PID write. */
#include <pmix.h>
#include <pmix_tool.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t ends; /* one for each channel that has ended */

static void show(size_t id, pmix_iof_channel_t channel, pmix_proc_t *from,
                 pmix_byte_object_t *got, pmix_info_t info[], size_t infos)
{
    (void)id, (void)from;
    fwrite(got->size > 0 ? got->bytes : "", 1, got->size,
           channel & PMIX_FWD_STDERR_CHANNEL ? stderr : stdout);
    for (size_t i = 0; i < infos; i++)
        PMIX_CHECK_KEY(&info[i], PMIX_IOF_COMPLETE) ? sem_post(&ends) : 0;
}

int main(int argc, char **argv)
{
    int pid = argc == 3 ? atoi(argv[1]) : 0, left = pid ? atoi(argv[2]) * 2 : 0;
    pmix_query_t query = {.keys = (char *[]){PMIX_QUERY_NAMESPACES, NULL}};
    pmix_proc_t self, all;
    pmix_info_t server, copy, *jobs;
    size_t count;

    PMIX_INFO_LOAD(&server, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    PMIX_INFO_LOAD(&copy, PMIX_IOF_COPY, NULL, PMIX_BOOL);
    if (left < 1 || PMIx_tool_init(&self, &server, 1) ||
        PMIx_Query_info(&query, 1, &jobs, &count) || sem_init(&ends, 0, 0))
        return fputs("usage: tool PID RANKS, of a xylem run\n", stderr), 2;
    PMIX_LOAD_PROCID(&all, jobs->value.data.string, PMIX_RANK_WILDCARD);
    if (PMIx_IOF_pull(&all, 1, &copy, 1, 6, show, NULL, NULL) < 0)
        return fputs("tool: its output is not to be had\n", stderr), 1;
    fprintf(stderr, "tool: shows %s\n", all.nspace);
    while (left-- > 0) /* stdout and stderr, which are the channels of 6 */
        sem_wait(&ends);
    return PMIx_tool_finalize();
}
