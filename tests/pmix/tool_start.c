/* A PMIx tool as anybody may write one, which starts jobs.
 *
 *     tool_start PID DIR
 *
 * It connects to the launcher with that process number and says "connected
 * NAMESPACE RANK". What its library writes to stdout and stderr goes to
 * DIR/stdout and DIR/stderr. Each line of stdin is an order, with words between
 * single blanks, and ends with a line "= STATUS":
 *
 *     spawn [DIRECTIVE...] -- [APP...] N WORD... [: [APP...] N WORD...]
 *                              prints the namespace
 *     pull NAMESPACE RANK [out|err|diag] [DIRECTIVE...]   RANK may be *
 *                              prints a number
 *     leave NUMBER             deregisters that pull
 *     push NAMESPACE RANK [TEXT]           without a text: the end
 *     also NAMESPACE RANK                  the next push is for these, too
 *     signal NAMESPACE RANK NUMBER
 *     events NAMESPACE
 *
 * A directive is KEY, KEY=TEXT, KEY:NUMBER (uint32_t) or KEY::NUMBER
 * (uint16_t), and pmix.envar.* NAME=VALUE; with ! before it it is required, and
 * a KEY with ~ before it is false. An APP is one, or cwd=DIR or env=NAME=VALUE.
 * \n and \s in a text are a newline and a blank.
 *
 * What comes is told as "output NAMESPACE RANK CHANNEL TEXT" and "end NAMESPACE
 * RANK CHANNEL", "before NAMESPACE RANK CHANNEL BYTES" for what was not kept
 * from before, and "event CODE NAMESPACE [STATUS]".
 *
 * Ends at the end of stdin with 0, when the server has gone with 5.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "tests/pmix/status.h"
#include "tests/pmix/suppress.h"

enum { ITEMS_MAX = 64, EXIT_USAGE = 2, EXIT_CONNECT = 3, EXIT_LOST = 5 };

static FILE *out;

/* --- words */

static void unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++, to++) {
        *to = *at;
        if (at[0] == '\\' && (at[1] == 'n' || at[1] == 's'))
            *to = *++at == 'n' ? '\n' : ' ';
    }
    *to = '\0';
}

static char *next_word(char **rest)
{
    char *word = *rest, *end;

    if (word == NULL || *word == '\0')
        return NULL;
    end = strchr(word, ' ');
    if (end != NULL)
        *end++ = '\0';
    *rest = end;
    return word;
}

static pmix_proc_t next_proc(char **rest)
{
    const char *nspace = next_word(rest), *rank = next_word(rest);
    pmix_proc_t proc;

    if (rank == NULL)
        exit(EXIT_USAGE);
    PMIX_LOAD_PROCID(&proc, nspace,
                     strcmp(rank, "*") == 0
                         ? PMIX_RANK_WILDCARD
                         : (pmix_rank_t)strtoul(rank, NULL, 10));
    return proc;
}

static void load_envar(pmix_info_t *info, const char *key, char *value)
{
    char *equals = strchr(value, '=');
    pmix_envar_t envar = {.separator = ':'};

    if (equals == NULL) { /* a variable to unset */
        PMIX_INFO_LOAD(info, key, value, PMIX_STRING);
        return;
    }
    *equals = '\0';
    envar.envar = value;
    envar.value = equals + 1;
    PMIX_INFO_LOAD(info, key, &envar, PMIX_ENVAR);
}

static void load_directive(pmix_info_t *info, char *word)
{
    const bool is_required = *word == '!', is_false = *word == '~';
    const bool flag = !is_false;
    size_t len;
    char kind;

    word += is_required || is_false ? 1 : 0;
    len = strcspn(word, "=:");
    kind = word[len];
    word[len] = '\0';
    if (kind == '=')
        unescape(word + len + 1);
    if (kind == '=' && strncmp(word, "pmix.envar.", 11) == 0) {
        load_envar(info, word, word + len + 1);
    } else if (kind == '=') {
        PMIX_INFO_LOAD(info, word, word + len + 1, PMIX_STRING);
    } else if (kind == ':' && word[len + 1] == ':') {
        uint16_t number = (uint16_t)strtoul(word + len + 2, NULL, 10);

        PMIX_INFO_LOAD(info, word, &number, PMIX_UINT16);
    } else if (kind == ':') {
        uint32_t number = (uint32_t)strtoul(word + len + 1, NULL, 10);

        PMIX_INFO_LOAD(info, word, &number, PMIX_UINT32);
    } else {
        PMIX_INFO_LOAD(info, word, &flag, PMIX_BOOL);
    }
    if (is_required)
        PMIX_INFO_REQUIRED(info);
}

/* --- spawn */

static void read_app(char **rest, pmix_app_t *app)
{
    pmix_info_t *infos;
    pmix_status_t rc;
    char *word;

    PMIX_APP_CONSTRUCT(app);
    PMIX_INFO_CREATE(infos, ITEMS_MAX);
    while ((word = next_word(rest)) != NULL &&
           (word[0] < '0' || word[0] > '9')) {
        if (strncmp(word, "cwd=", 4) == 0)
            app->cwd = strdup(word + 4);
        else if (strncmp(word, "env=", 4) == 0)
            PMIX_ARGV_APPEND(rc, app->env, word + 4);
        else
            load_directive(&infos[app->ninfo++], word);
    }
    if (app->ninfo > 0) /* PMIx 5 searches for the end of the array where the
                         * count is 0. */
        app->info = infos;
    else
        PMIX_INFO_FREE(infos, ITEMS_MAX);
    app->maxprocs = word != NULL ? atoi(word) : 0;
    while ((word = next_word(rest)) != NULL && strcmp(word, ":") != 0) {
        unescape(word);
        PMIX_ARGV_APPEND(rc, app->argv, word);
    }
    app->cmd = strdup(app->argv[0]);
    (void)rc;
}

static pmix_status_t spawn(char *rest)
{
    pmix_info_t info[ITEMS_MAX];
    static pmix_app_t apps[ITEMS_MAX];
    size_t infos = 0, count = 0;
    pmix_nspace_t nspace;
    pmix_status_t rc;
    char *word;

    while ((word = next_word(&rest)) != NULL && strcmp(word, "--") != 0)
        load_directive(&info[infos++], word);
    while (rest != NULL)
        read_app(&rest, &apps[count++]);
    rc = PMIx_Spawn(infos > 0 ? info : NULL, infos, apps, count, nspace);
    if (rc == PMIX_SUCCESS)
        fprintf(out, "%s\n", nspace);
    for (size_t i = 0; i < infos; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    for (size_t i = 0; i < count; i++) {
        apps[i].ninfo = apps[i].info != NULL ? ITEMS_MAX : 0;
        PMIX_APP_DESTRUCT(&apps[i]);
    }
    return rc;
}

/* --- output and stdin */

static void on_output(size_t handler, pmix_iof_channel_t channel,
                      pmix_proc_t *source, pmix_byte_object_t *payload,
                      pmix_info_t info[], size_t ninfo)
{
    const char *name = channel == PMIX_FWD_STDOUT_CHANNEL   ? "stdout"
                       : channel == PMIX_FWD_STDERR_CHANNEL ? "stderr"
                                                            : "stddiag";

    (void)handler;
    flockfile(out);
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, "xylem.iof.before") == 0)
            fprintf(out, "before %s %u %s %llu\n", source->nspace, source->rank,
                    name, (unsigned long long)info[i].value.data.uint64);
    }
    if (payload != NULL && payload->size > 0) {
        fprintf(out, "output %s %u %s ", source->nspace, source->rank, name);
        for (size_t i = 0; i < payload->size; i++) {
            if (payload->bytes[i] == '\n')
                fputs("\\n", out);
            else
                fputc(payload->bytes[i], out);
        }
        fputc('\n', out);
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_IOF_COMPLETE))
            fprintf(out, "end %s %u %s\n", source->nspace, source->rank, name);
    }
    fflush(out);
    funlockfile(out);
}

static void on_done(pmix_status_t status, void *arg)
{
    (void)arg;
    fprintf(out, "= %s\n", status_name(status));
    fflush(out);
}

static void on_pulled(pmix_status_t status, size_t handler, void *arg)
{
    if (status == PMIX_SUCCESS)
        fprintf(out, "%zu\n", handler);
    on_done(status, arg);
}

/* Neither this function nor leave() waits in the library: if one waits there
 * for a registration and one for its end, the second waits for ever. */
static void pull(char *rest)
{
    pmix_proc_t proc = next_proc(&rest);
    pmix_iof_channel_t channels =
        PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL;
    pmix_info_t info[ITEMS_MAX];
    size_t infos = 0;
    pmix_status_t rc;
    char *word;

    while ((word = next_word(&rest)) != NULL) {
        if (strcmp(word, "out") == 0)
            channels = PMIX_FWD_STDOUT_CHANNEL;
        else if (strcmp(word, "err") == 0)
            channels = PMIX_FWD_STDERR_CHANNEL;
        else if (strcmp(word, "diag") == 0)
            channels = PMIX_FWD_STDDIAG_CHANNEL;
        else
            load_directive(&info[infos++], word);
    }
    rc = PMIx_IOF_pull(&proc, 1, info, infos, channels, on_output, on_pulled,
                       NULL);
    if (rc != PMIX_SUCCESS)
        on_done(rc, NULL);
}

/* Called after a deregistration. Only PMIX_ERR_NOT_FOUND is believed: after a
 * success libpmix 4.2 passes whatever stands in some memory of its own. */
static void on_left(pmix_status_t status, void *arg)
{
    on_done(status == PMIX_ERR_NOT_FOUND ? status : PMIX_SUCCESS, arg);
}

static void leave(char *number)
{
    pmix_status_t rc =
        PMIx_IOF_deregister(strtoul(number, NULL, 10), NULL, 0, on_left, NULL);

    if (rc != PMIX_SUCCESS)
        on_done(rc, NULL);
}

static pmix_proc_t also; /* another target for the next push; nspace "": none */

static pmix_status_t name_also(char *rest)
{
    also = next_proc(&rest);
    return PMIX_SUCCESS;
}

/* A blocking push would hang in the library, so the order is answered when the
 * push is. */
static void push(char *rest)
{
    pmix_proc_t procs[] = {next_proc(&rest), also};
    size_t count = also.nspace[0] != '\0' ? 2 : 1;
    pmix_byte_object_t bytes = {.bytes = (char[]){""}, .size = 0};
    pmix_status_t rc;

    if (rest != NULL) {
        unescape(rest);
        bytes.bytes = rest;
        bytes.size = strlen(rest);
    }
    memset(&also, 0, sizeof(also));
    rc = PMIx_IOF_push(procs, count, &bytes, NULL, 0, on_done, NULL);
    if (rc != PMIX_SUCCESS)
        on_done(rc, NULL);
}

/* --- control and events */

static pmix_status_t send_signal(char *rest)
{
    pmix_proc_t proc = next_proc(&rest);
    int number = rest != NULL ? atoi(rest) : 0;
    pmix_info_t info, *results = NULL;
    size_t nresults = 0;

    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
    return PMIx_Job_control(&proc, 1, &info, 1, &results, &nresults);
}

static void on_event(size_t handler, pmix_status_t status,
                     const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const char *term = "";

    (void)handler;
    (void)results;
    (void)nresults;
    if (status == PMIX_ERR_LOST_CONNECTION)
        _exit(EXIT_LOST);
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_TERM_STATUS))
            term = status_name(info[i].value.data.status);
    }
    fprintf(out, "event %s %s %s\n", status_name(status),
            source != NULL ? source->nspace : "", term);
    fflush(out);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static pmix_status_t events(const char *nspace)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                             PMIX_EVENT_JOB_END};
    pmix_info_t info;
    pmix_proc_t proc;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&proc, nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    rc = PMIx_Register_event_handler(codes, 3, &info, 1, on_event, NULL, NULL);
    return rc < 0 ? rc : PMIX_SUCCESS;
}

static void obey(char *line)
{
    static const struct {
        const char *order;
        void (*obey)(char *rest);
    } later[] = {{"pull", pull}, {"leave", leave}, {"push", push}};
    char *rest = line, *order = next_word(&rest);
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (order == NULL)
        return;
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        if (strcmp(order, later[i].order) == 0) {
            later[i].obey(rest);
            return;
        }
    }
    if (strcmp(order, "spawn") == 0)
        rc = spawn(rest);
    else if (strcmp(order, "also") == 0)
        rc = name_also(rest);
    else if (strcmp(order, "signal") == 0)
        rc = send_signal(rest);
    else if (strcmp(order, "events") == 0)
        rc = events(rest);
    fprintf(out, "= %s\n", status_name(rc));
    fflush(out);
}

/* Redirects stdout and stderr to files, because the library writes output to
 * them that is not pulled. */
static void set_aside(const char *dir)
{
    static const char *const names[] = {"", "stdout", "stderr"};
    char path[4096];
    int fd;

    out = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), "w");
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (out == NULL || fd < 0 || dup2(fd, i) < 0)
            exit(EXIT_USAGE);
        close(fd);
    }
}

int main(int argc, char **argv)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION, rc;
    static char line[8 << 20];
    pmix_info_t info;
    pmix_proc_t self;
    uint32_t pid;

    if (argc != 3)
        return EXIT_USAGE;
    set_aside(argv[2]);
    pid = (uint32_t)strtoul(argv[1], NULL, 10);
    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    rc = PMIx_tool_init(&self, &info, 1);
    if (rc != PMIX_SUCCESS)
        _exit(EXIT_CONNECT);
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_event, NULL, NULL);
    fprintf(out, "connected %s %u\n", self.nspace, self.rank);
    fflush(out);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        obey(line);
    }
    PMIx_tool_finalize();
    return 0;
}
