/* A PMIx server that does the work and nothing else: hands output to libpmix as
 * fast as that takes it.
 *
 *     pull_server -g GATE FOLDER RANKS BYTES PIECE [COMMAND ARGUMENT...]
 *
 * Tools find its address by files in FOLDER. Waits for a tool that pulls, then
 * at the gate, and delivers BYTES bytes of each of RANKS processes, in turn,
 * PIECE bytes at a time. The next turn begins when the library has answered for
 * the one before: it has queued it then, not sent. Ends when the tool has gone.
 *
 * With a command it starts that RANKS times instead, does not go to the gate
 * itself, and delivers what comes through their pipes, each read of PIECE bytes
 * at most by itself and at once, to their end.
 */
#include "bench/gate.h"

#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "tests/pmix/turn.h"

static struct {
    bool is_asked;
    unsigned unanswered;
} server;

static _Noreturn void fail(const char *what, pmix_status_t rc)
{
    fprintf(stderr, "pull_server: %s: %s\n", what, PMIx_Error_string(rc));
    _exit(1);
}

/* --- what the library asks */

static void on_tool(pmix_info_t *info, size_t ninfo,
                    pmix_tool_connection_cbfunc_t answer, void *arg)
{
    pmix_proc_t name;

    (void)info;
    (void)ninfo;
    PMIX_LOAD_PROCID(&name, "bench-tool", 0);
    answer(PMIX_SUCCESS, &name, arg);
}

static pmix_status_t on_pull(const pmix_proc_t procs[], size_t nprocs,
                             const pmix_info_t directives[], size_t ndirs,
                             pmix_iof_channel_t channels,
                             pmix_op_cbfunc_t answer, void *arg)
{
    (void)procs;
    (void)directives;
    (void)ndirs;
    (void)channels;
    (void)answer;
    (void)arg;
    if (nprocs > 0)
        change(&server.is_asked);
    return PMIX_OPERATION_SUCCEEDED;
}

/* --- output */

static void on_delivered(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
    pthread_mutex_lock(&turn.lock);
    server.unanswered--;
    pthread_cond_broadcast(&turn.changed);
    pthread_mutex_unlock(&turn.lock);
}

static void deliver_turn(pmix_proc_t *sources, unsigned ranks,
                         const pmix_byte_object_t *bytes)
{
    server.unanswered = ranks;
    for (unsigned rank = 0; rank < ranks; rank++) {
        pmix_status_t rc =
            PMIx_server_IOF_deliver(&sources[rank], PMIX_FWD_STDOUT_CHANNEL,
                                    bytes, NULL, 0, on_delivered, NULL);

        if (rc != PMIX_SUCCESS)
            fail("deliver", rc);
    }
    pthread_mutex_lock(&turn.lock);
    while (server.unanswered > 0)
        pthread_cond_wait(&turn.changed, &turn.lock);
    pthread_mutex_unlock(&turn.lock);
}

static void deliver_all(unsigned ranks, size_t bytes, size_t piece)
{
    pmix_proc_t *sources = calloc(ranks, sizeof(*sources));
    pmix_byte_object_t object = {.bytes = malloc(piece)};

    if (sources == NULL || object.bytes == NULL)
        fail("memory", PMIX_ERR_NOMEM);
    memset(object.bytes, '.', piece);
    for (unsigned rank = 0; rank < ranks; rank++)
        PMIX_LOAD_PROCID(&sources[rank], "bench", rank);
    for (size_t at = 0; at < bytes; at += object.size) {
        object.size = bytes - at < piece ? bytes - at : piece;
        deliver_turn(sources, ranks, &object);
    }
    free(object.bytes);
    free(sources);
}

/* --- output of processes */

extern char **environ;

/* Returns the end of its output. */
static int start_one(unsigned rank, char **argv)
{
    posix_spawn_file_actions_t actions;
    char text[16];
    int fds[2];
    pid_t pid;

    snprintf(text, sizeof(text), "%u", rank);
    setenv("XYLEM_RANK", text, 1);
    if (pipe(fds) != 0 || posix_spawn_file_actions_init(&actions) != 0)
        fail("pipe", PMIX_ERR_NOMEM);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    if (fds[1] != STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, fds[1]);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
        fail(argv[0], PMIX_ERR_NOT_FOUND);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    return fds[0];
}

/* In the library's thread. */
static void on_copied(pmix_status_t status, void *arg)
{
    (void)status;
    free(arg);
}

/* False at the end. */
static bool pass_on(int fd, const pmix_proc_t *source, size_t piece)
{
    pmix_byte_object_t *object = malloc(sizeof(*object) + piece);
    pmix_status_t rc;
    ssize_t got;

    if (object == NULL)
        fail("memory", PMIX_ERR_NOMEM);
    object->bytes = (char *)(object + 1);
    got = read(fd, object->bytes, piece);
    if (got <= 0) {
        free(object);
        return false;
    }
    object->size = (size_t)got;
    rc = PMIx_server_IOF_deliver(source, PMIX_FWD_STDOUT_CHANNEL, object, NULL,
                                 0, on_copied, object);
    if (rc != PMIX_SUCCESS)
        fail("deliver", rc);
    return true;
}

static void pass_all(unsigned ranks, size_t piece, char **argv)
{
    struct pollfd *fds = calloc(ranks, sizeof(*fds));
    pmix_proc_t *sources = calloc(ranks, sizeof(*sources));
    unsigned left = ranks;

    if (fds == NULL || sources == NULL)
        fail("memory", PMIX_ERR_NOMEM);
    for (unsigned rank = 0; rank < ranks; rank++) {
        PMIX_LOAD_PROCID(&sources[rank], "bench", rank);
        fds[rank].fd = start_one(rank, argv);
        fds[rank].events = POLLIN;
    }
    while (left > 0 && poll(fds, ranks, -1) > 0) {
        for (unsigned rank = 0; rank < ranks; rank++) {
            if (fds[rank].revents == 0 ||
                pass_on(fds[rank].fd, &sources[rank], piece))
                continue;
            close(fds[rank].fd);
            fds[rank].fd = -1;
            left--;
        }
    }
    while (wait(NULL) > 0)
        continue;
    free(fds); /* the sources are the library's until its end */
}

/* --- start */

static void init(const char *folder)
{
    static pmix_server_module_t module = {.tool_connected = on_tool,
                                          .iof_pull = on_pull};
    enum { INFOS = 6 };
    pmix_info_t info[INFOS];
    bool yes = true, no = false;
    pmix_status_t rc;

    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_pmix_max_iof_cache", "1", 1);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, "bench-server", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[4], PMIX_SERVER_GATEWAY, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[5], PMIX_IOF_LOCAL_OUTPUT, &no, PMIX_BOOL);
    rc = PMIx_server_init(&module, info, INFOS);
    if (rc != PMIX_SUCCESS)
        fail("init", rc);
}

int main(int argc, char **argv)
{
    if (argc < 7 || strcmp(argv[1], "-g") != 0) {
        fputs("usage: pull_server -g GATE FOLDER RANKS BYTES PIECE [COMMAND "
              "ARGUMENT...]\n",
              stderr);
        return 2;
    }
    init(argv[3]);
    listen_for(PMIX_ERR_LOST_CONNECTION, on_lost);
    wait_for(&server.is_asked);
    if (argc > 7) {
        pass_all((unsigned)atoi(argv[4]), strtoull(argv[6], NULL, 10),
                 argv + 7);
    } else {
        gate_wait(argv[2]);
        deliver_all((unsigned)atoi(argv[4]), strtoull(argv[5], NULL, 10),
                    strtoull(argv[6], NULL, 10));
    }
    wait_for(&turn.is_cut);
    PMIx_server_finalize();
    return 0;
}
