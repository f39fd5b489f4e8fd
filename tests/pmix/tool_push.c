/* A PMIx tool that pushes to the stdin of processes, as anybody may write one.
 *
 *     tool_push [-j NAME] [-w N] PID < SCRIPT
 *     tool_push [-j NAME] -S RANKS PID < FILE
 *
 * The first one does what the lines of its stdin say, with at most N pushes
 * (default: 8) that have no answer, and ends when all have one; then it prints
 * how often each status came, and the status of those that follow a `?`.
 * NAME is the namespace of the job (default: the only one that there is).
 * RANKS is a list, as 0,3, `*` for the wildcard, or `node` or `peers` for what
 * is local.
 *
 *     p RANKS TEXT    pushes the text and a newline
 *     f RANKS SIZE FILE   pushes a file in calls of so many bytes
 *     z RANKS         pushes no bytes
 *     c RANKS TEXT    pushes the text with PMIX_IOF_COMPLETE
 *     a RANKS TEXT    pushes with the process in PMIX_IOF_PUSH_STDIN alone
 *     r RANKS KEY     pushes with that directive, required
 *     n TEXT          pushes to a namespace that there is not
 *     w               waits for all answers
 *     ?               waits, then prints the status of the last answer
 *     h               waits until the server is lost
 *
 * The second one lets the library collect its stdin, and ends when it is
 * killed, or its server is lost.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "tests/pmix/status.h"
#include "tests/pmix/suppress.h"
#include "tests/pmix/turn.h"

enum { RANKS_MAX = 64, EXIT_CONNECT = 3, EXIT_PUSH = 4 };

static struct {
    pmix_nspace_t job;
    unsigned open,
        window; /* how many pushes have no answer, and how many may */
    unsigned good, bad;
    pmix_status_t status;
} tool = {.window = 8};

static void die(const char *what, pmix_status_t rc, int code)
{
    fprintf(stderr, "tool_push: %s: %s\n", what, status_name(rc));
    _exit(code);
}

static void connect_to(uint32_t pid)
{
    pmix_info_t info[1], *results = NULL;
    pmix_status_t rc;
    pmix_proc_t self;
    pmix_query_t query;
    size_t count = 0;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    rc = PMIx_tool_init(&self, info, 1);
    if (rc != PMIX_SUCCESS)
        die("cannot connect", rc, EXIT_CONNECT);
    listen_for(PMIX_ERR_LOST_CONNECTION, on_lost);
    if (tool.job[0] != '\0')
        return;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(rc, query.keys, PMIX_QUERY_NAMESPACES);
    rc = PMIx_Query_info(&query, 1, &results, &count);
    if (rc != PMIX_SUCCESS || count != 1)
        die("no namespace", rc, EXIT_CONNECT);
    PMIX_LOAD_NSPACE(tool.job, results[0].value.data.string);
    PMIX_INFO_FREE(results, count);
    PMIX_QUERY_DESTRUCT(&query);
}

static size_t list_procs(char *ranks, pmix_proc_t *procs)
{
    size_t count = 0;
    char *rest = NULL;

    static const struct {
        const char *word;
        pmix_rank_t rank;
    } groups[] = {{"*", PMIX_RANK_WILDCARD},
                  {"node", PMIX_RANK_LOCAL_NODE},
                  {"peers", PMIX_RANK_LOCAL_PEERS}};

    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (strcmp(ranks, groups[i].word) != 0)
            continue;
        PMIX_LOAD_PROCID(&procs[0], tool.job, groups[i].rank);
        return 1;
    }
    for (char *word = strtok_r(ranks, ",", &rest);
         word != NULL && count < RANKS_MAX;
         word = strtok_r(NULL, ",", &rest), count++)
        PMIX_LOAD_PROCID(&procs[count], tool.job,
                         (pmix_rank_t)strtoul(word, NULL, 10));
    return count;
}

/* --- pushing */

static void on_answer(pmix_status_t status, void *arg)
{
    (void)arg;
    pthread_mutex_lock(&turn.lock);
    tool.status = status;
    if (status == PMIX_SUCCESS)
        tool.good++;
    else
        tool.bad++;
    tool.open--;
    pthread_cond_broadcast(&turn.changed);
    pthread_mutex_unlock(&turn.lock);
}

static void wait_below(unsigned most)
{
    pthread_mutex_lock(&turn.lock);
    while (tool.open >= most && !turn.is_cut)
        pthread_cond_wait(&turn.changed, &turn.lock);
    pthread_mutex_unlock(&turn.lock);
}

static void push(const pmix_proc_t *procs, size_t count, const void *mem,
                 size_t len, const pmix_info_t *info, size_t infos)
{
    pmix_byte_object_t bytes = {.bytes = (char *)mem, .size = len};
    pmix_status_t rc;

    wait_below(tool.window);
    pthread_mutex_lock(&turn.lock);
    tool.open++;
    pthread_mutex_unlock(&turn.lock);
    rc = PMIx_IOF_push(procs, count, &bytes, info, infos, on_answer, NULL);
    if (rc != PMIX_SUCCESS)
        die("cannot push", rc, EXIT_PUSH);
}

static void push_file(const pmix_proc_t *procs, size_t count, char *words)
{
    size_t size = strtoul(strtok(words, " "), NULL, 10), got;
    FILE *file = fopen(strtok(NULL, " "), "r");
    char *mem = malloc(size);

    if (file == NULL || mem == NULL)
        die("cannot read", PMIX_ERROR, 1);
    while ((got = fread(mem, 1, size, file)) > 0)
        push(procs, count, mem, got, NULL, 0);
    fclose(file);
    free(mem);
}

static void push_line(char verb, char *ranks, char *text)
{
    pmix_proc_t procs[RANKS_MAX];
    size_t count = list_procs(ranks, procs);
    pmix_info_t info;

    switch (verb) {
    case 'p':
        push(procs, count, text, strlen(text), NULL, 0);
        return;
    case 'f':
        push_file(procs, count, text);
        return;
    case 'z':
        push(procs, count, "", 0, NULL, 0);
        return;
    case 'c':
        PMIX_INFO_LOAD(&info, PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
        push(procs, count, text, strlen(text), &info, 1);
        return;
    case 'a':
        PMIX_INFO_LOAD(&info, PMIX_IOF_PUSH_STDIN, &procs[0], PMIX_PROC);
        push(NULL, 0, text, strlen(text), &info, 1);
        PMIX_INFO_DESTRUCT(&info);
        return;
    case 'r':
        PMIX_INFO_LOAD(&info, text, NULL, PMIX_BOOL);
        PMIX_INFO_REQUIRED(&info);
        push(procs, count, text, strlen(text), &info, 1);
        return;
    default:
        die("no such word", PMIX_ERROR, 2);
    }
}

static void push_nowhere(const char *text)
{
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, "no-such-job", 0);
    push(&proc, 1, text, strlen(text), NULL, 0);
}

static void obey(char *line)
{
    char *ranks, *text;

    if (line[0] == 'w' || line[0] == '?')
        wait_below(1);
    if (line[0] == '?')
        printf("%s\n", status_name(tool.status));
    if (line[0] == 'h')
        wait_for(&turn.is_cut);
    if (line[0] == 'n')
        push_nowhere(line + 2);
    fflush(stdout);
    if (strchr("w?hn", line[0]) != NULL)
        return;
    ranks = strtok(line + 2, " \n");
    text = ranks + strlen(ranks) + 1;
    if (line[0] == 'f')
        text[strcspn(text, "\n")] = '\0';
    push_line(line[0], ranks, text);
}

static void collect(char *ranks)
{
    pmix_proc_t procs[RANKS_MAX];
    size_t count = list_procs(ranks, procs);
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_IOF_PUSH_STDIN, NULL, PMIX_BOOL);
    rc = PMIx_IOF_push(procs, count, NULL, &info, 1, NULL, NULL);
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        die("cannot collect", rc, EXIT_PUSH);
    wait_for(&turn.is_cut);
}

int main(int argc, char **argv)
{
    char *ranks = NULL, *line = NULL;
    size_t room = 0;
    int c;

    while ((c = getopt(argc, argv, "j:w:S:")) != -1) {
        if (c == 'w')
            tool.window = (unsigned)atoi(optarg);
        else if (c == 'S')
            ranks = optarg;
        else if (c == 'j')
            PMIX_LOAD_NSPACE(tool.job, optarg);
        else
            return 2;
    }
    if (argc - optind != 1)
        return 2;
    signal(SIGPIPE, SIG_IGN); /* The library may still write when its server has
                               * already gone. */
    connect_to((uint32_t)atoi(argv[optind]));
    if (ranks != NULL) {
        collect(ranks);
        return 0;
    }
    while (!turn.is_cut && getline(&line, &room, stdin) > 0)
        obey(line);
    wait_below(1);
    free(line);
    printf("%u %u\n", tool.good, tool.bad);
    fflush(stdout);
    if (!turn.is_cut)
        PMIx_tool_finalize();
    return 0;
}
