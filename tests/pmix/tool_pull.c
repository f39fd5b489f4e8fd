/* A PMIx tool as anybody may write one: it knows nothing of xylem.
 *
 *     tool_pull [OPTION...] PID DIR
 *
 * Connects to the server of the launcher with that process number, pulls the
 * output of its job and writes each channel to DIR/RANK.stdout or .stderr. At
 * the end of a channel DIR/RANK.CHANNEL.end is made; bytes that were dropped
 * are added up in DIR/dropped, those from before that were not kept in
 * DIR/before; DIR/RANK.CHANNEL.broken is made when the failure of a channel is
 * notified. DIR/ready is made when it is registered. Ends with 0 when its
 * server has gone, or all channels it waits for have ended.
 *
 *     -j NAME   the job of this namespace (default: the only one there is)
 *     -r LIST   ranks, as 0,3, also node and peers; '' for no process at all
 *               (default: all, by wildcard)
 *     -c MASK   channels, as a number (default: 6, stdout and stderr)
 *     -n N      ends when so many channels have ended (default: never)
 *     -R        asks to redirect
 *     -N        says nothing of copy or redirect
 *     -C SIZE   PMIX_IOF_CACHE_SIZE
 *     -O        PMIX_IOF_DROP_OLDEST
 *     -B SIZE   PMIX_IOF_BUFFERING_SIZE
 *     -T TIME   PMIX_IOF_BUFFERING_TIME
 *     -D [!]KEY[=TEXT]  a further directive, bool or text, which ! requires
 *     -P PATH   takes a delivery of bytes when it can read a byte from this
 *               FIFO; when that has no writer left it takes all
 *     -L        the library shows the output: no callback is registered
 *     -d        deregisters when a line comes on stdin, then waits for another
 *     -A        a pull of its own for each rank of -r
 *     -q        asks for namespace, state and processes, prints them, ends
 *     -k KEY    asks for this key, prints the status, ends
 *     -s NAME   connects to the server of this namespace, whatever PID
 *     -i NAME[:RANK]  is this one itself
 *     -K POINT  kills itself (SIGKILL) at: begin, before it connects; connect,
 *               when the server has answered that; request, when it has asked
 *               for the output; register, when that is answered; first, at the
 *               first delivery of bytes
 */
#include <errno.h>
#include <fcntl.h>
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

enum { RANKS_MAX = 64, OTHERS_MAX = 8, EXIT_CONNECT = 3, EXIT_PULL = 4 };

static struct {
    const char *dir;
    unsigned ended, wanted; /* numbers of channels that have ended, and to wait
                             * for; wanted 0: all */
    unsigned long long dropped, before;
    bool is_answered;
    size_t handler, handlers[RANKS_MAX];
    unsigned pulls;
    pmix_status_t status;
    const char *killed_at; /* NULL: the tool does not kill itself */
} tool;

static void die(const char *what, pmix_status_t rc, int code)
{
    fprintf(stderr, "tool_pull: %s: %s\n", what, status_name(rc));
    _exit(code);
}

static void pass(const char *point)
{
    if (tool.killed_at != NULL && strcmp(tool.killed_at, point) == 0)
        raise(SIGKILL);
}

/* Appends to a file of DIR; with no bytes it makes an empty file. */
static void append(const char *name, const void *mem, size_t len)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", tool.dir, name);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0 || write(fd, mem, len) != (ssize_t)len) {
        perror(path);
        _exit(1);
    }
    close(fd);
}

static void count(const char *name, unsigned long long *sum,
                  unsigned long long bytes)
{
    char path[4096];
    FILE *file;

    *sum += bytes;
    snprintf(path, sizeof(path), "%s/%s", tool.dir, name);
    file = fopen(path, "w");
    if (file == NULL)
        _exit(1);
    fprintf(file, "%llu\n", *sum);
    fclose(file);
}

/* What the command line asks of a pull, apart from ranks and channels. */
static struct {
    const char *job;  /* NULL: the only job */
    const char *mode; /* NULL: the command line does not say */
    uint32_t cache_bytes, buffer_bytes, buffer_s;
    bool has_cache, drops_oldest;
    const char *others[OTHERS_MAX]; /* KEY, or KEY=TEXT */
    size_t others_count;
    bool is_shown; /* the library shows the output: there is no callback */
    bool is_apart; /* each rank gets a pull of its own */
    int pace;      /* descriptor of the FIFO; -1: none */
} ask_for = {.mode = PMIX_IOF_COPY, .pace = -1};

/* With -B: appends the size of each delivery to DIR/RANK.CHANNEL.sizes. */
static void append_size(const char *file, size_t size)
{
    char name[96], line[32];

    snprintf(name, sizeof(name), "%s.sizes", file);
    snprintf(line, sizeof(line), "%zu\n", size);
    append(name, line, strlen(line));
}

static const char *name_of(pmix_iof_channel_t channel)
{
    switch (channel) {
    case PMIX_FWD_STDOUT_CHANNEL:
        return "stdout";
    case PMIX_FWD_STDERR_CHANNEL:
        return "stderr";
    case PMIX_FWD_STDDIAG_CHANNEL:
        return "stddiag";
    default:
        return "none";
    }
}

/* With -P: waits until the tool may take one more delivery. Meanwhile the
 * library takes nothing. */
static void wait_pace(void)
{
    char byte;

    if (ask_for.pace >= 0 && read(ask_for.pace, &byte, 1) < 1)
        ask_for.pace = -1;
}

static void open_pace(const char *path)
{
    ask_for.pace = open(path, O_RDONLY);
    if (ask_for.pace < 0) {
        perror(path);
        _exit(1);
    }
}

static void on_output(size_t handler, pmix_iof_channel_t channel,
                      pmix_proc_t *source, pmix_byte_object_t *payload,
                      pmix_info_t info[], size_t ninfo)
{
    char file[64];

    (void)handler;
    if (payload != NULL && payload->size > 0) {
        pass("first");
        wait_pace();
    }
    snprintf(file, sizeof(file), "%u.%s", source->rank, name_of(channel));
    if (payload != NULL && payload->size > 0)
        append(file, payload->bytes, payload->size);
    if (payload != NULL && payload->size > 0 && ask_for.buffer_bytes > 0)
        append_size(file, payload->size);
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, "xylem.iof.dropped") == 0)
            count("dropped", &tool.dropped, info[i].value.data.uint64);
        if (strcmp(info[i].key, "xylem.iof.before") == 0)
            count("before", &tool.before, info[i].value.data.uint64);
        if (!PMIX_CHECK_KEY(&info[i], PMIX_IOF_COMPLETE))
            continue;
        strcat(file, ".end");
        append(file, "+", 1);
        pthread_mutex_lock(&turn.lock);
        tool.ended++;
        pthread_cond_broadcast(&turn.changed);
        pthread_mutex_unlock(&turn.lock);
    }
}

static void on_registered(pmix_status_t status, size_t handler, void *arg)
{
    (void)arg;
    tool.status = status;
    tool.handler = handler;
    change(&tool.is_answered);
}

static void on_done(pmix_status_t status, void *arg)
{
    (void)arg;
    tool.status = status;
    change(&tool.is_answered);
}

/* The source of the event is not reliable: for a tool that registers late the
 * library gives the tool itself as the source. */
static void on_broken(size_t handler, pmix_status_t status,
                      const pmix_proc_t *source, pmix_info_t info[],
                      size_t ninfo, pmix_info_t results[], size_t nresults,
                      pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    char file[64];

    (void)handler;
    (void)status;
    (void)source;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC))
            rank = info[i].value.data.proc->rank;
        if (strcmp(info[i].key, "xylem.iof.channel") != 0)
            continue;
        snprintf(file, sizeof(file), "%u.%s.broken", rank,
                 name_of(info[i].value.data.uint16));
        append(file, "+", 1);
    }
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void connect_to(uint32_t pid, const char *server, char *own)
{
    pmix_info_t info[3];
    char *colon = own != NULL ? strchr(own, ':') : NULL;
    pmix_rank_t rank =
        colon != NULL ? (pmix_rank_t)strtoul(colon + 1, NULL, 10) : 0;
    pmix_status_t rc;
    pmix_proc_t self;
    size_t count = 1;

    if (server != NULL)
        PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, server, PMIX_STRING);
    else
        PMIX_INFO_LOAD(&info[0], PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    if (colon != NULL)
        *colon = '\0';
    if (own != NULL) {
        PMIX_INFO_LOAD(&info[count++], PMIX_TOOL_NSPACE, own, PMIX_STRING);
        PMIX_INFO_LOAD(&info[count++], PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
    }
    pass("begin");
    rc = PMIx_tool_init(&self, info, count);
    if (rc != PMIX_SUCCESS)
        die("cannot connect", rc, EXIT_CONNECT);
    pass("connect");
    listen_for(PMIX_ERR_LOST_CONNECTION, on_lost);
    listen_for(PMIX_ERR_IOF_FAILURE, on_broken);
}

static pmix_info_t *ask(const char *key, size_t *count, pmix_status_t *rc)
{
    pmix_query_t query;
    pmix_info_t *results = NULL;

    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(*rc, query.keys, key);
    *rc = PMIx_Query_info(&query, 1, &results, count);
    PMIX_QUERY_DESTRUCT(&query);
    return results;
}

/* Returns the namespace of the job to pull. The caller frees it. */
static char *name_of_job(void)
{
    pmix_status_t rc;
    size_t count = 0;
    pmix_info_t *results;
    char *name;

    if (ask_for.job != NULL)
        return strdup(ask_for.job);
    results = ask(PMIX_QUERY_NAMESPACES, &count, &rc);
    if (rc != PMIX_SUCCESS || count != 1)
        die("no namespace", rc, EXIT_PULL);
    name = strdup(results[0].value.data.string);
    PMIX_INFO_FREE(results, count);
    return name;
}

static void print_table(const pmix_data_array_t *array)
{
    const pmix_proc_info_t *procs = array->array;

    for (size_t i = 0; i < array->size; i++)
        printf("%s %u %s %s %d\n", procs[i].proc.nspace, procs[i].proc.rank,
               procs[i].hostname, procs[i].executable_name, procs[i].exit_code);
}

static int query_all(void)
{
    static const char *const keys[] = {PMIX_QUERY_JOB_STATUS,
                                       PMIX_QUERY_PROC_TABLE};
    char *nspace = name_of_job();
    pmix_status_t rc;
    size_t count;

    printf("%s\n", nspace);
    free(nspace);
    for (int i = 0; i < 2; i++) {
        pmix_info_t *results = ask(keys[i], &count, &rc);

        if (rc != PMIX_SUCCESS || count != 1)
            die(keys[i], rc, EXIT_PULL);
        if (i == 0)
            printf("%s\n", status_name(results[0].value.data.status));
        else
            print_table(results[0].value.data.darray);
        PMIX_INFO_FREE(results, count);
    }
    return 0;
}

static int query_one(const char *key)
{
    pmix_status_t rc;
    size_t count;

    ask(key, &count, &rc);
    printf("%s\n", status_name(rc));
    return 0;
}

static pmix_rank_t rank_of(const char *word)
{
    if (strcmp(word, "node") == 0)
        return PMIX_RANK_LOCAL_NODE;
    if (strcmp(word, "peers") == 0)
        return PMIX_RANK_LOCAL_PEERS;
    return (pmix_rank_t)strtoul(word, NULL, 10);
}

static size_t list_procs(char *ranks, pmix_proc_t *procs)
{
    char *nspace = name_of_job();
    size_t count = 0;

    if (ranks == NULL) {
        PMIX_LOAD_PROCID(&procs[0], nspace, PMIX_RANK_WILDCARD);
        free(nspace);
        return 1;
    }
    for (char *word = strtok(ranks, ","); word != NULL && count < RANKS_MAX;
         word = strtok(NULL, ","), count++)
        PMIX_LOAD_PROCID(&procs[count], nspace, rank_of(word));
    free(nspace);
    return count;
}

static size_t fill_directives(pmix_info_t *info)
{
    size_t count = 0;

    if (ask_for.mode != NULL)
        PMIX_INFO_LOAD(&info[count++], ask_for.mode, NULL, PMIX_BOOL);
    if (ask_for.has_cache)
        PMIX_INFO_LOAD(&info[count++], PMIX_IOF_CACHE_SIZE,
                       &ask_for.cache_bytes, PMIX_UINT32);
    if (ask_for.drops_oldest)
        PMIX_INFO_LOAD(&info[count++], PMIX_IOF_DROP_OLDEST, NULL, PMIX_BOOL);
    if (ask_for.buffer_bytes > 0)
        PMIX_INFO_LOAD(&info[count++], PMIX_IOF_BUFFERING_SIZE,
                       &ask_for.buffer_bytes, PMIX_UINT32);
    if (ask_for.buffer_s > 0)
        PMIX_INFO_LOAD(&info[count++], PMIX_IOF_BUFFERING_TIME,
                       &ask_for.buffer_s, PMIX_UINT32);
    for (size_t i = 0; i < ask_for.others_count; i++) {
        char key[PMIX_MAX_KEYLEN + 1];
        bool is_required = ask_for.others[i][0] == '!';
        const char *word = ask_for.others[i] + is_required;
        const char *equals = strchr(word, '=');

        snprintf(key, sizeof(key), "%.*s", (int)strcspn(word, "="), word);
        PMIX_INFO_LOAD(&info[count], key, equals != NULL ? equals + 1 : NULL,
                       equals != NULL ? PMIX_STRING : PMIX_BOOL);
        if (is_required)
            PMIX_INFO_REQUIRED(&info[count]);
        count++;
    }
    return count;
}

static void pull_some(const pmix_proc_t *procs, size_t nprocs,
                      pmix_iof_channel_t mask)
{
    pmix_info_t info[5 + OTHERS_MAX];
    size_t infos = fill_directives(info);
    pmix_status_t rc;

    tool.is_answered = false;
    rc =
        PMIx_IOF_pull(procs, nprocs, info, infos, mask,
                      ask_for.is_shown ? NULL : on_output, on_registered, NULL);
    pass("request");
    if (rc == PMIX_SUCCESS)
        wait_for(&tool.is_answered);
    if (rc == PMIX_SUCCESS)
        rc = tool.status;
    if (rc != PMIX_SUCCESS)
        die("cannot pull", rc, EXIT_PULL);
    tool.handlers[tool.pulls++] = tool.handler;
}

static void pull(char *ranks, pmix_iof_channel_t mask)
{
    pmix_proc_t procs[RANKS_MAX];
    size_t nprocs = list_procs(ranks, procs);

    for (size_t i = 0; ask_for.is_apart && i < nprocs; i++)
        pull_some(&procs[i], 1, mask);
    if (!ask_for.is_apart)
        pull_some(procs, nprocs, mask);
    append("ready", "", 0);
    pass("register");
}

static void read_line(void)
{
    int c = getchar();

    while (c != '\n' && c != EOF)
        c = getchar();
}

static void deregister(void)
{
    read_line();
    append("leaving", "", 0);
    tool.is_answered = false;
    for (unsigned i = 0; i < tool.pulls; i++)
        PMIx_IOF_deregister(tool.handlers[i], NULL, 0, on_done, NULL);
    wait_for(&tool.is_answered);
    append("left", "", 0);
    read_line();
}

static void wait_for_end(void)
{
    pthread_mutex_lock(&turn.lock);
    while (!turn.is_cut && (tool.wanted == 0 || tool.ended < tool.wanted))
        pthread_cond_wait(&turn.changed, &turn.lock);
    pthread_mutex_unlock(&turn.lock);
}

/* Reads an option that concerns the pull. False: the option does not. */
static bool read_option(int c, const char *value)
{
    uint32_t number = value != NULL ? (uint32_t)strtoul(value, NULL, 10) : 0;

    switch (c) {
    case 'j':
        ask_for.job = value;
        return true;
    case 'R':
        ask_for.mode = PMIX_IOF_REDIRECT;
        return true;
    case 'N':
        ask_for.mode = NULL;
        return true;
    case 'C':
        ask_for.has_cache = true;
        ask_for.cache_bytes = number;
        return true;
    case 'O':
        ask_for.drops_oldest = true;
        return true;
    case 'P':
        open_pace(value);
        return true;
    case 'K':
        tool.killed_at = value;
        return true;
    case 'A':
        ask_for.is_apart = true;
        return true;
    case 'L':
        ask_for.is_shown = true;
        return true;
    case 'D':
        if (ask_for.others_count < OTHERS_MAX)
            ask_for.others[ask_for.others_count++] = value;
        return true;
    case 'B':
        ask_for.buffer_bytes = number;
        return true;
    case 'T':
        ask_for.buffer_s = number;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    const char *key = NULL, *server = NULL;
    pmix_iof_channel_t mask = 6;
    bool asks = false, leaves = false;
    char *ranks = NULL, *own = NULL;
    int c;

    while ((c = getopt(argc, argv, "r:c:n:j:RNAC:OB:T:P:LD:K:dqk:s:i:")) !=
           -1) {
        switch (c) {
        case 'r':
            ranks = optarg;
            break;
        case 'c':
            mask = (pmix_iof_channel_t)atoi(optarg);
            break;
        case 'n':
            tool.wanted = (unsigned)atoi(optarg);
            break;
        case 'd':
            leaves = true;
            break;
        case 'q':
            asks = true;
            break;
        case 'k':
            key = optarg;
            break;
        case 's':
            server = optarg;
            break;
        case 'i':
            own = optarg;
            break;
        default:
            if (!read_option(c, optarg))
                return 2;
        }
    }
    if (argc - optind != 2)
        return 2;
    tool.dir = argv[optind + 1];
    connect_to((uint32_t)atoi(argv[optind]), server, own);
    if (asks || key != NULL) {
        c = asks ? query_all() : query_one(key);
    } else {
        pull(ranks, mask);
        if (leaves)
            deregister();
        else
            wait_for_end();
        c = 0;
    }
    fflush(stdout);
    if (!turn.is_cut)
        PMIx_tool_finalize();
    return c;
}
