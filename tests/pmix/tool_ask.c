/* A PMIx tool as anybody may write one, which does what its stdin says.
 *
 *     tool_ask [-p PID] [-s NAMESPACE] [-u URI] [-f FILE] [-i NAME]
 *              [-a KEY[=TEXT]] [-n KEY=NUMBER]
 *
 * It connects to the server that is named by process number, namespace,
 * address or rendezvous file (none: to any that it finds), as NAME, with
 * further attributes, and says "connected NAMESPACE RANK". Each line of stdin
 * is an order, each order ends with a line "= STATUS":
 *
 *     query KEY[,KEY] [QUALIFIER=VALUE...] [| KEY...]
 *                              prints what comes, a value a line; =#3 is a
 *                              number of a type that no qualifier has
 *     events [NAMESPACE [NAMESPACE]]       of the job, or of these: "event CODE
 *                              KEY=VALUE..." when they come
 *     default                  all events for which there is no other handler:
 *                              "event default CODE"
 *     notify CODE RANGE        an event, by their numbers
 *     log out|err|KEY[+KEY] TEXT   with \n for a newline; the second KEY is a
 *                              directive that is required
 *     control KEY[=VALUE] WHO...           ranks, *, node or peers
 *     attach PID [primary]     one more server; prints its namespace
 *     server NAMESPACE [SECONDS]           is the primary one from here on, at
 *                              the latest after this time
 *     allocate                 asks for one more node
 *     name                     prints its own
 *     crash                    is killed
 *
 * Ends at the end of stdin with 0, when the server has gone with 5; with 3 when
 * it cannot connect.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "tests/pmix/status.h"
#include "tests/pmix/suppress.h"

enum { ITEMS_MAX = 64, EXIT_USAGE = 2, EXIT_CONNECT = 3, EXIT_LOST = 5 };

static char job[PMIX_MAX_NSLEN + 1];

static void end_order(pmix_status_t rc)
{
    printf("= %s\n", status_name(rc));
    fflush(stdout);
}

/* --- values */

static void print_info(const char *before, const pmix_info_t *info);

static void print_proc_info(const pmix_proc_info_t *proc)
{
    printf("%s %u %s %s %d %d %s\n", proc->proc.nspace, proc->proc.rank,
           proc->hostname, proc->executable_name, (int)proc->pid,
           proc->exit_code, PMIx_Proc_state_string(proc->state));
}

static void print_array(const char *before, const pmix_data_array_t *array)
{
    printf("%zu\n", array->size);
    for (size_t i = 0; i < array->size; i++) {
        printf("%s", before);
        if (array->type == PMIX_PROC_INFO)
            print_proc_info((pmix_proc_info_t *)array->array + i);
        else if (array->type == PMIX_PROC)
            printf("%s %u\n", ((pmix_proc_t *)array->array)[i].nspace,
                   ((pmix_proc_t *)array->array)[i].rank);
        else if (array->type == PMIX_REGATTR)
            printf("%s\n", ((pmix_regattr_t *)array->array)[i].name);
        else if (array->type == PMIX_INFO)
            print_info(before, (pmix_info_t *)array->array + i);
        else
            printf("? %d\n", array->type);
    }
}

static void print_value(const char *before, const pmix_value_t *value)
{
    char deeper[64];

    snprintf(deeper, sizeof(deeper), "%s  ", before);
    if (value->type == PMIX_STRING)
        printf("%s\n", value->data.string);
    else if (value->type == PMIX_UINT32)
        printf("%u\n", value->data.uint32);
    else if (value->type == PMIX_INT)
        printf("%d\n", value->data.integer);
    else if (value->type == PMIX_PID)
        printf("%d\n", (int)value->data.pid);
    else if (value->type == PMIX_PROC_RANK)
        printf("%u\n", value->data.rank);
    else if (value->type == PMIX_STATUS)
        printf("%s\n", status_name(value->data.status));
    else if (value->type == PMIX_TIME)
        printf("%lld\n", (long long)value->data.time);
    else if (value->type == PMIX_PROC)
        printf("%s %u\n", value->data.proc->nspace, value->data.proc->rank);
    else if (value->type == PMIX_DATA_ARRAY)
        print_array(deeper, value->data.darray);
    else
        printf("? %d\n", value->type);
}

static void print_info(const char *before, const pmix_info_t *info)
{
    printf("%s ", info->key);
    print_value(before, &info->value);
}

/* --- query */

/* "NAMESPACE/RANK" */
static void load_proc(pmix_info_t *info, char *value)
{
    char *slash = strchr(value, '/');
    pmix_proc_t proc;

    if (slash == NULL)
        exit(EXIT_USAGE);
    *slash = '\0';
    PMIX_LOAD_PROCID(&proc, value, (pmix_rank_t)strtoul(slash + 1, NULL, 10));
    PMIX_INFO_LOAD(info, PMIX_PROCID, &proc, PMIX_PROC);
}

static void add_qualifier(pmix_query_t *query, char *word)
{
    pmix_info_t *info;
    char *value = strchr(word, '=');
    uint32_t number;
    bool yes = true;
    int other;

    if (query->qualifiers == NULL)
        PMIX_INFO_CREATE(query->qualifiers, ITEMS_MAX);
    info = &query->qualifiers[query->nqual++];
    *value++ = '\0';
    number = (uint32_t)strtoul(value, NULL, 10);
    other = atoi(value + (value[0] == '#' || value[0] == '%'));
    if (value[0] == '#')
        PMIX_INFO_LOAD(info, word, &other, PMIX_INT);
    else if (value[0] == '%')
        PMIX_INFO_LOAD(info, word, &other, PMIX_INT32);
    else if (strcmp(word, PMIX_RANK) == 0)
        PMIX_INFO_LOAD(info, word, &number, PMIX_PROC_RANK);
    else if (strcmp(word, PMIX_NODEID) == 0)
        PMIX_INFO_LOAD(info, word, &number, PMIX_UINT32);
    else if (strcmp(word, PMIX_PROCID) == 0)
        load_proc(info, value);
    else if (strcmp(word, PMIX_QUERY_REFRESH_CACHE) == 0)
        PMIX_INFO_LOAD(info, word, &yes, PMIX_BOOL);
    else
        PMIX_INFO_LOAD(info, word, value, PMIX_STRING);
}

static void add_keys(pmix_query_t *query, char *word)
{
    pmix_status_t rc;

    while (word != NULL) {
        char *comma = strchr(word, ',');

        if (comma != NULL)
            *comma = '\0';
        PMIX_ARGV_APPEND(rc, query->keys, word);
        word = comma != NULL ? comma + 1 : NULL;
    }
    (void)rc;
}

static pmix_status_t query(char *line)
{
    pmix_query_t queries[ITEMS_MAX];
    pmix_info_t *results = NULL;
    size_t count = 0, got = 0;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&queries[0]);
    for (char *word = strtok(line, " "); word != NULL;
         word = strtok(NULL, " ")) {
        if (strcmp(word, "|") == 0)
            PMIX_QUERY_CONSTRUCT(&queries[++count]);
        else if (strchr(word, '=') != NULL)
            add_qualifier(&queries[count], word);
        else
            add_keys(&queries[count], word);
    }
    rc = PMIx_Query_info(queries, count + 1, &results, &got);
    for (size_t i = 0; i < got; i++)
        print_info("", &results[i]);
    if (results != NULL)
        PMIX_INFO_FREE(results, got);
    for (size_t i = 0; i <= count; i++)
        PMIX_QUERY_DESTRUCT(&queries[i]);
    return rc;
}

/* --- events */

static void on_event(size_t handler, pmix_status_t status,
                     const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)results;
    (void)nresults;
    if (status == PMIX_ERR_LOST_CONNECTION)
        _exit(EXIT_LOST);
    flockfile(stdout);
    printf("event %s %zu %s.%d\n", status_name(status), ninfo, source->nspace,
           (int)source->rank);
    for (size_t i = 0; i < ninfo; i++) {
        printf("event %s  ", status_name(status));
        print_info("", &info[i]);
    }
    printf("event %s end\n", status_name(status));
    fflush(stdout);
    funlockfile(stdout);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static pmix_status_t events(char *whose)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                             PMIX_EVENT_JOB_END};
    char *other = strchr(whose, ' ');
    pmix_proc_t procs[2];
    pmix_data_array_t both = {PMIX_PROC, 2, procs};
    pmix_info_t info;
    pmix_status_t rc;

    if (other != NULL)
        *other++ = '\0';
    PMIX_LOAD_PROCID(&procs[0], whose[0] != '\0' ? whose : job,
                     PMIX_RANK_WILDCARD);
    if (other != NULL) {
        PMIX_LOAD_PROCID(&procs[1], other, PMIX_RANK_WILDCARD);
        PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROCS, &both,
                       PMIX_DATA_ARRAY);
    } else {
        PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, procs, PMIX_PROC);
    }
    rc = PMIx_Register_event_handler(codes, 3, &info, 1, on_event, NULL, NULL);
    return rc < 0 ? rc : PMIX_SUCCESS; /* the number of a registered handler is
                                        * above 0 */
}

static void on_default(size_t handler, pmix_status_t status,
                       const pmix_proc_t *source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    printf("event default %s\n", status_name(status));
    fflush(stdout);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static pmix_status_t hear_all(void)
{
    pmix_status_t rc =
        PMIx_Register_event_handler(NULL, 0, NULL, 0, on_default, NULL, NULL);

    return rc < 0 ? rc : PMIX_SUCCESS;
}

static pmix_status_t notify(char *words)
{
    pmix_status_t code = (pmix_status_t)strtol(words, &words, 10);
    pmix_data_range_t range = (pmix_data_range_t)strtoul(words, NULL, 10);
    pmix_proc_t proc;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&proc, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    return PMIx_Notify_event(code, NULL, range, &info, 1, NULL, NULL);
}

/* --- log and control */

/* Returns the key of a destination of texts; another word is itself a key. */
static const char *place_of(const char *word)
{
    if (strcmp(word, "out") == 0)
        return PMIX_LOG_STDOUT;
    return strcmp(word, "err") == 0 ? PMIX_LOG_STDERR : word;
}

static pmix_status_t log_text(char *line)
{
    char *text = line + strcspn(line, " "), *to, *key;
    pmix_info_t info, directive;

    if (*text != '\0')
        *text++ = '\0';
    to = text;
    for (char *at = text; *at != '\0'; at++, to++) {
        *to = *at;
        if (at[0] == '\\' && at[1] == 'n') {
            *to = '\n';
            at++;
        }
    }
    *to = '\0';
    key = strchr(line, '+');
    if (key != NULL)
        *key++ = '\0';
    PMIX_INFO_LOAD(&info, place_of(line), text, PMIX_STRING);
    if (key == NULL)
        return PMIx_Log(&info, 1, NULL, 0);
    PMIX_INFO_LOAD(&directive, key, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&directive);
    return PMIx_Log(&info, 1, &directive, 1);
}

static pmix_rank_t rank_of(const char *word)
{
    if (strcmp(word, "*") == 0)
        return PMIX_RANK_WILDCARD;
    if (strcmp(word, "node") == 0)
        return PMIX_RANK_LOCAL_NODE;
    if (strcmp(word, "peers") == 0)
        return PMIX_RANK_LOCAL_PEERS;
    return (pmix_rank_t)strtoul(word, NULL, 10);
}

static pmix_status_t control(char *line)
{
    char *key = strtok(line, " "), *value = strchr(key, '='), *word;
    pmix_proc_t procs[ITEMS_MAX];
    size_t count = 0, nresults = 0;
    pmix_info_t info, *results = NULL;
    bool yes = true;
    int number;

    if (value != NULL) {
        *value++ = '\0';
        number = atoi(value);
        PMIX_INFO_LOAD(&info, key, &number, PMIX_INT);
    } else {
        PMIX_INFO_LOAD(&info, key, &yes, PMIX_BOOL);
    }
    while (count < ITEMS_MAX && (word = strtok(NULL, " ")) != NULL) {
        PMIX_LOAD_PROCID(&procs[count], job, rank_of(word));
        count++;
    }
    return PMIx_Job_control(count > 0 ? procs : NULL, count, &info, 1, &results,
                            &nresults);
}

static pmix_status_t allocate(void)
{
    pmix_info_t info, *results = NULL;
    size_t nresults = 0;
    uint64_t nodes = 1;

    PMIX_INFO_LOAD(&info, PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    return PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results,
                                   &nresults);
}

/* --- servers */

static void find_job(void)
{
    char *keys[] = {(char[]){PMIX_QUERY_NAMESPACES}, NULL};
    pmix_query_t ask = {.keys = keys};
    pmix_info_t fresh, *results = NULL;
    size_t count = 0;
    bool yes = true;

    PMIX_INFO_LOAD(&fresh, PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
    ask.qualifiers = &fresh;
    ask.nqual = 1;
    if (PMIx_Query_info(&ask, 1, &results, &count) == PMIX_SUCCESS && count > 0)
        snprintf(job, sizeof(job), "%s", results[0].value.data.string);
    if (results != NULL)
        PMIX_INFO_FREE(results, count);
}

static pmix_status_t attach(const char *rest)
{
    uint32_t pid = (uint32_t)strtoul(rest, NULL, 10);
    bool is_primary = strchr(rest, ' ') != NULL;
    pmix_proc_t self, server;
    pmix_info_t info[2];
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    PMIX_INFO_LOAD(&info[1], PMIX_PRIMARY_SERVER, &is_primary, PMIX_BOOL);
    rc = PMIx_tool_attach_to_server(&self, &server, info, 2);
    if (rc == PMIX_SUCCESS)
        printf("%s\n", server.nspace);
    return rc;
}

static pmix_status_t set_server(char *nspace)
{
    char *wait = strchr(nspace, ' ');
    pmix_proc_t server;
    pmix_info_t info[2];
    pmix_status_t rc;
    int seconds = wait != NULL ? atoi(wait) : 0;

    if (wait != NULL)
        *wait = '\0';
    PMIX_LOAD_PROCID(&server, nspace, 0);
    PMIX_INFO_LOAD(&info[0], PMIX_WAIT_FOR_CONNECTION, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    rc = PMIx_tool_set_server(&server, info, wait != NULL ? 2 : 0);
    if (rc == PMIX_SUCCESS)
        find_job();
    return rc;
}

static pmix_status_t obey(char *line, const pmix_proc_t *self)
{
    char *rest = strchr(line, ' ');

    if (rest != NULL)
        *rest++ = '\0';
    else
        rest = line + strlen(line);
    if (strcmp(line, "query") == 0)
        return query(rest);
    if (strcmp(line, "events") == 0)
        return events(rest);
    if (strcmp(line, "default") == 0)
        return hear_all();
    if (strcmp(line, "notify") == 0)
        return notify(rest);
    if (strcmp(line, "log") == 0)
        return log_text(rest);
    if (strcmp(line, "control") == 0)
        return control(rest);
    if (strcmp(line, "allocate") == 0)
        return allocate();
    if (strcmp(line, "attach") == 0)
        return attach(rest);
    if (strcmp(line, "server") == 0)
        return set_server(rest);
    if (strcmp(line, "crash") == 0)
        raise(SIGKILL);
    if (strcmp(line, "name") == 0)
        printf("%s %u\n", self->nspace, self->rank);
    return PMIX_SUCCESS;
}

/* Fills in an attribute from KEY[=VALUE]. */
static void load_other(pmix_info_t *info, const char *text, bool is_number)
{
    char key[PMIX_MAX_KEYLEN + 1];
    const char *value = strchr(text, '=');
    uint32_t number =
        value != NULL ? (uint32_t)strtoul(value + 1, NULL, 10) : 0;

    snprintf(key, sizeof(key), "%.*s", (int)strcspn(text, "="), text);
    if (is_number)
        PMIX_INFO_LOAD(info, key, &number, PMIX_UINT32);
    else if (value != NULL)
        PMIX_INFO_LOAD(info, key, value + 1, PMIX_STRING);
    else
        PMIX_INFO_LOAD(info, key, NULL, PMIX_BOOL);
}

static size_t read_options(int argc, char **argv, pmix_info_t *info)
{
    size_t count = 0;
    pmix_rank_t rank = 0;
    uint32_t pid;
    int c;

    while ((c = getopt(argc, argv, "p:s:u:f:i:a:n:")) != -1) {
        if (c == 'a' || c == 'n') {
            load_other(&info[count++], optarg, c == 'n');
        } else if (c == 'p') {
            pid = (uint32_t)strtoul(optarg, NULL, 10);
            PMIX_INFO_LOAD(&info[count], PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
            count++;
        } else if (c == 's' || c == 'u' || c == 'f') {
            PMIX_INFO_LOAD(&info[count],
                           c == 's'   ? PMIX_SERVER_NSPACE
                           : c == 'u' ? PMIX_SERVER_URI
                                      : PMIX_TOOL_ATTACHMENT_FILE,
                           optarg, PMIX_STRING);
            count++;
        } else if (c == 'i') {
            PMIX_INFO_LOAD(&info[count], PMIX_TOOL_NSPACE, optarg, PMIX_STRING);
            count++;
            PMIX_INFO_LOAD(&info[count], PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
            count++;
        } else {
            exit(EXIT_USAGE);
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    pmix_info_t info[ITEMS_MAX];
    size_t infos = read_options(argc, argv, info);
    static char line[256 * 1024];
    pmix_proc_t self;
    pmix_status_t rc;

    rc = PMIx_tool_init(&self, infos > 0 ? info : NULL, infos);
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "tool_ask: cannot connect: %s\n", status_name(rc));
        _exit(EXIT_CONNECT);
    }
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_event, NULL, NULL);
    find_job();
    printf("connected %s %u\n", self.nspace, self.rank);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        end_order(obey(line, &self));
    }
    PMIx_tool_finalize();
    return 0;
}
