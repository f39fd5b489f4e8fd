/* start PID N COMMAND...: N processes in xylem run or dvm PID, on our stdio. */
#include <pmix_tool.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t ends; /* one for each process whose stdout has ended */

static void need(const char *call, pmix_status_t status)
{
    if (status >= 0 || status == PMIX_OPERATION_SUCCEEDED)
        return;
    fprintf(stderr, "start: %s: %s\n", call, PMIx_Error_string(status));
    exit(1);
}

static void show(size_t pull, pmix_iof_channel_t channel, pmix_proc_t *from,
                 pmix_byte_object_t *got, pmix_info_t info[], size_t infos)
{
    (void)pull, (void)channel, (void)from;
    fwrite(got->size > 0 ? got->bytes : "", 1, got->size, stdout);
    for (size_t i = 0; i < infos; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_IOF_COMPLETE))
            sem_post(&ends);
}

int main(int argc, char **argv)
{
    int pid = argc > 3 ? atoi(argv[1]) : 0, left = argc > 3 ? atoi(argv[2]) : 0;
    pmix_app_t app = {.maxprocs = left, .argv = argv + 3 * (argc > 3)};
    pmix_proc_t self, all = {.rank = PMIX_RANK_WILDCARD};
    pmix_info_t server, in_out[2], collect;

    if (pid < 1 || left < 1 || sem_init(&ends, 0, 0))
        return fputs("usage: start PID N COMMAND...\n", stderr), 2;
    app.cmd = app.argv[0];
    PMIX_INFO_LOAD(&server, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    PMIX_INFO_LOAD(&in_out[0], PMIX_FWD_STDIN, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&in_out[1], PMIX_FWD_STDOUT, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&collect, PMIX_IOF_PUSH_STDIN, NULL, PMIX_BOOL);
    need("PMIx_tool_init", PMIx_tool_init(&self, &server, 1));
    need("PMIx_Spawn", PMIx_Spawn(in_out, 2, &app, 1, all.nspace));
    need("PMIx_IOF_pull",
         PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, show, 0, 0));
    need("PMIx_IOF_push", PMIx_IOF_push(&all, 1, NULL, &collect, 1, 0, 0));
    while (left-- > 0)
        sem_wait(&ends);
    need("PMIx_tool_finalize", PMIx_tool_finalize());
    return 0;
}
