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
    pid_t pid = argc == 3 ? atoi(argv[1]) : 0;
    pmix_query_t query = {.keys = (char *[]){PMIX_QUERY_NAMESPACES, NULL}};
    pmix_proc_t self, all;
    pmix_info_t server, copy, *jobs;
    size_t count;

    sem_init(&ends, 0, 0);
    PMIX_INFO_LOAD(&server, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    if (PMIx_tool_init(&self, &server, 1) ||
        PMIx_Query_info(&query, 1, &jobs, &count))
        return fputs("tool: there is no such launcher\n", stderr), 1;
    PMIX_LOAD_PROCID(&all, jobs->value.data.string, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&copy, PMIX_IOF_COPY, NULL, PMIX_BOOL);
    PMIx_IOF_pull(&all, 1, &copy, 1, 6, show, NULL, NULL); /* stdout, stderr */
    fprintf(stderr, "tool: shows %s\n", all.nspace);
    for (int left = 2 * atoi(argv[2]); left > 0; left--)
        sem_wait(&ends);
    return PMIx_tool_finalize();
}
