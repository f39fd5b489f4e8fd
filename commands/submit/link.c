/* The connection to a launcher. */
#include "commands/submit/link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "text/style.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/tools.h"

enum { NAMES_BYTES = 160, WHY_BYTES = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct link_events *events;
    bool is_open, is_lost, is_answered;
    pmix_status_t status; /* of the answer */
    char nspace[PMIX_MAX_NSLEN + 1];
    uint32_t size;
    char **hosts;
    size_t handler;
    pmix_info_t *found;   /* the answer */
    pmix_proc_t *targets; /* of input; NULL: not listed yet */
    size_t ntargets;
    pmix_byte_object_t input;
    char why[WHY_BYTES];
} link_ = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

const char *link_say(const char *what, int status)
{
    snprintf(link_.why, sizeof(link_.why), "%s: %s", what,
             PMIx_Error_string(status));
    return link_.why;
}

void link_answer(int status)
{
    pthread_mutex_lock(&link_.lock);
    link_.status = status;
    link_.is_answered = true;
    pthread_cond_broadcast(&link_.changed);
    pthread_mutex_unlock(&link_.lock);
}

static void lose(void)
{
    pthread_mutex_lock(&link_.lock);
    link_.is_lost = true;
    pthread_cond_broadcast(&link_.changed);
    pthread_mutex_unlock(&link_.lock);
}

int link_wait(void)
{
    pmix_status_t status;

    pthread_mutex_lock(&link_.lock);
    while (!link_.is_answered && !link_.is_lost)
        pthread_cond_wait(&link_.changed, &link_.lock);
    status = link_.is_answered ? link_.status : PMIX_ERR_LOST_CONNECTION;
    link_.is_answered = false;
    pthread_mutex_unlock(&link_.lock);
    return status;
}

/* --- the library's thread */

static void on_registered(pmix_status_t status, size_t handler, void *arg)
{
    (void)arg;
    link_.handler = handler;
    link_answer(status);
}

static void on_lost(size_t handler, pmix_status_t status,
                    const pmix_proc_t *source, pmix_info_t info[], size_t ninfo,
                    pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    lose();
    link_.events->on_lost();
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_output(size_t handler, pmix_iof_channel_t channel,
                      pmix_proc_t *source, pmix_byte_object_t *payload,
                      pmix_info_t info[], size_t ninfo)
{
    struct show_output output = {
        .rank = source->rank,
        .channel = channel & PMIX_FWD_STDOUT_CHANNEL   ? TEXT_CHANNEL_STDOUT
                   : channel & PMIX_FWD_STDERR_CHANNEL ? TEXT_CHANNEL_STDERR
                                                       : TEXT_CHANNEL_STDDIAG,
    };

    (void)handler;
    if (payload != NULL) {
        output.mem = payload->bytes;
        output.len_bytes = payload->size;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PX_IOF_DROPPED) == 0)
            output.dropped_bytes = info[i].value.data.uint64;
        else if (strcmp(info[i].key, PX_IOF_BEFORE) == 0)
            output.before_bytes = info[i].value.data.uint64;
        else if (PMIX_CHECK_KEY(&info[i], PMIX_IOF_COMPLETE))
            output.is_end = true;
    }
    link_.events->on_output(&output);
}

static void on_pushed(pmix_status_t status, void *arg)
{
    (void)arg;
    link_.events->on_pushed(
        status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED
            ? NULL
            : PMIx_Error_string(status),
        status == PMIX_ERR_IOF_COMPLETE || status == PMIX_ERR_NOT_FOUND);
}

/* --- connect */

/* What a server above us says of itself is not for a tool that names one. */
static void set_up(void)
{
    static const char *const names[] = {
        "PMIX_NAMESPACE",      "PMIX_RANK",
        "PMIX_SERVER_TMPDIR",  "PMIX_LAUNCHER_RNDZ_URI",
        "PMIX_KEEPALIVE_PIPE", "PMIX_LAUNCHER_RNDZ_FILE",
        "PMIX_SECURITY_MODE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    setenv("PMIX_MCA_gds", "hash", 1); /* as the server */
}

const char *link_open(const char *uri, const struct link_events *events)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION, rc;
    pmix_info_t info;
    pmix_proc_t self;

    set_up();
    link_.events = events;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    rc = PMIx_tool_init(&self, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    if (rc == PMIX_ERR_UNREACH) {
        snprintf(link_.why, sizeof(link_.why),
                 "cannot connect to the launcher: it has ended, does not let "
                 "this user in, or has %d tools already, and takes no more "
                 "(with -v it says which)",
                 TOOLS_MAX);
        return link_.why;
    }
    if (rc != PMIX_SUCCESS)
        return link_say("cannot connect to the launcher", rc);
    link_.is_open = true;
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_lost, on_registered,
                                NULL);
    rc = link_wait();
    return rc == PMIX_SUCCESS ? NULL : link_say("the launcher has gone", rc);
}

/* --- the job */

static void on_found(pmix_status_t status, pmix_info_t *info, size_t ninfo,
                     void *arg, pmix_release_cbfunc_t release,
                     void *release_arg)
{
    (void)arg;
    if (status == PMIX_SUCCESS && ninfo != 1)
        status = PMIX_ERR_NOT_FOUND;
    if (status == PMIX_SUCCESS) {
        PMIX_INFO_CREATE(link_.found, 1);
        PMIX_INFO_XFER(link_.found, &info[0]);
    }
    if (release != NULL)
        release(release_arg);
    link_answer(status);
}

/* The call that blocks does so for ever where the launcher is lost meanwhile.
 * The library has the query as long as it has not answered. */
static pmix_status_t ask(const char *key, const char *nspace,
                         pmix_info_t **results)
{
    static pmix_query_t query;
    pmix_status_t rc;

    link_.found = NULL;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(rc, query.keys, key);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, nspace != NULL ? 2 : 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_QUERY_REFRESH_CACHE, NULL,
                   PMIX_BOOL);
    if (nspace != NULL)
        PMIX_INFO_LOAD(&query.qualifiers[1], PMIX_NSPACE, nspace, PMIX_STRING);
    rc = PMIx_Query_info_nb(&query, 1, on_found, NULL);
    if (rc == PMIX_SUCCESS)
        rc = link_wait();
    if (rc != PMIX_ERR_LOST_CONNECTION)
        PMIX_QUERY_DESTRUCT(&query);
    *results = link_.found;
    return rc;
}

/* As many names as there is room for. */
static const char *list_jobs(const char *names)
{
    int shown = (int)strlen(names);
    bool is_cut = shown > NAMES_BYTES;

    if (is_cut)
        shown = NAMES_BYTES;
    while (is_cut && shown > 0 && names[shown] != ',')
        shown--;
    if (shown == 0) /* of one whose first name is longer */
        shown = NAMES_BYTES;
    snprintf(link_.why, sizeof(link_.why),
             "there are several jobs, name one with --nspace: %.*s%s", shown,
             names, is_cut ? ", and more" : "");
    return link_.why;
}

static const char *find_only(void)
{
    pmix_info_t *found = NULL;
    pmix_status_t rc = ask(PMIX_QUERY_NAMESPACES, NULL, &found);
    const char *why = NULL, *names;

    if (rc != PMIX_SUCCESS)
        return link_say("the launcher does not tell its job", rc);
    names = found->value.data.string;
    if (names[0] == '\0')
        why = "no job runs in it";
    else if (strchr(names, ',') != NULL)
        why = list_jobs(names);
    else
        snprintf(link_.nspace, sizeof(link_.nspace), "%s", names);
    PMIX_INFO_FREE(found, 1);
    return why;
}

static const char *keep_hosts(const pmix_data_array_t *table)
{
    const pmix_proc_info_t *procs = table->array;

    for (size_t i = 0; i < table->size; i++) {
        if (procs[i].proc.rank >= link_.size)
            link_.size = procs[i].proc.rank + 1;
    }
    link_.hosts = calloc(link_.size, sizeof(*link_.hosts));
    if (link_.hosts == NULL)
        return link_say("the job", PMIX_ERR_NOMEM);
    for (size_t i = 0; i < table->size; i++) {
        char **host = &link_.hosts[procs[i].proc.rank];

        if (procs[i].hostname != NULL && *host == NULL)
            *host = strdup(procs[i].hostname);
    }
    return NULL;
}

const char *link_job(const char *nspace, struct show_job *out)
{
    pmix_info_t *found = NULL;
    const char *why = NULL;
    pmix_status_t rc;

    if (nspace != NULL)
        snprintf(link_.nspace, sizeof(link_.nspace), "%s", nspace);
    else
        why = find_only();
    if (why != NULL)
        return why;
    rc = ask(PMIX_QUERY_PROC_TABLE, link_.nspace, &found);
    if (rc == PMIX_ERR_NOT_FOUND) {
        snprintf(link_.why, sizeof(link_.why),
                 "the launcher knows no job %.100s: it never was, or was over "
                 "long ago",
                 link_.nspace);
        return link_.why;
    }
    if (rc != PMIX_SUCCESS || found->value.type != PMIX_DATA_ARRAY)
        return link_say("the launcher does not tell the processes of the job",
                        rc);
    why = keep_hosts(found->value.data.darray);
    PMIX_INFO_FREE(found, 1);
    *out = (struct show_job){.nspace = link_.nspace,
                             .size = link_.size,
                             .hosts = (const char *const *)link_.hosts};
    return why;
}

/* --- output and input */

/* The processes of a list, for the caller to free. */
static pmix_proc_t *list_procs(const struct topo_ranges *ranks, size_t *count)
{
    uint32_t members = ranks != NULL ? topo_ranges_size(ranks) : 0;
    pmix_proc_t *procs = calloc(members > 0 ? members : 1, sizeof(*procs));

    *count = members > 0 ? members : 1;
    if (procs == NULL)
        return NULL;
    PMIX_LOAD_PROCID(&procs[0], link_.nspace, PMIX_RANK_WILDCARD);
    for (uint32_t i = 0; i < members; i++)
        PMIX_LOAD_PROCID(&procs[i], link_.nspace, topo_ranges_nth(ranks, i));
    return procs;
}

static pmix_status_t pull(const pmix_proc_t *all, unsigned channels)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PX_IOF_HOLD, NULL, PMIX_BOOL);
    rc = PMIx_IOF_pull(all, 1, &info, 1, (pmix_iof_channel_t)channels,
                       on_output, on_registered, NULL);
    if (rc == PMIX_SUCCESS)
        rc = link_wait();
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

const char *link_pull(unsigned *channels)
{
    enum {
        OUT = PMIX_FWD_STDOUT_CHANNEL,
        ERR = PMIX_FWD_STDERR_CHANNEL,
        DIAG = PMIX_FWD_STDDIAG_CHANNEL,
    };
    static const unsigned sets[] = {
        OUT | ERR | DIAG, OUT | ERR, OUT | DIAG, ERR | DIAG, OUT, ERR, DIAG};
    const unsigned wanted = *channels;
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, link_.nspace, PMIX_RANK_WILDCARD);
    for (size_t i = 0;
         rc == PMIX_ERR_NOT_SUPPORTED && i < sizeof(sets) / sizeof(sets[0]);
         i++) {
        if ((sets[i] & ~wanted) != 0)
            continue;
        rc = pull(&all, sets[i]);
        *channels = sets[i];
    }
    return rc == PMIX_SUCCESS ? NULL : link_say("the output cannot be had", rc);
}

/* As collected: what comes goes to those that are left. The bool would make the
 * library collect itself. */
static pmix_status_t push(void)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_IOF_PUSH_STDIN, &link_.targets[0], PMIX_PROC);
    rc = PMIx_IOF_push(link_.targets, link_.ntargets, &link_.input, &info, 1,
                       on_pushed, NULL);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

const char *link_push(const struct topo_ranges *ranks, const void *mem,
                      size_t len_bytes)
{
    pmix_status_t rc;

    if (link_.targets == NULL)
        link_.targets = list_procs(ranks, &link_.ntargets);
    if (link_.targets == NULL)
        return link_say("input", PMIX_ERR_NOMEM);
    link_.input = (pmix_byte_object_t){.bytes = (char *)(uintptr_t)mem,
                                       .size = len_bytes};
    rc = push();
    return rc == PMIX_SUCCESS ? NULL : link_say("the input cannot be sent", rc);
}

void link_close(void)
{
    bool is_lost;

    pthread_mutex_lock(&link_.lock);
    is_lost = link_.is_lost;
    pthread_mutex_unlock(&link_.lock);
    if (link_.is_open && !is_lost)
        PMIx_tool_finalize();
    free(link_.targets);
    for (uint32_t i = 0; link_.hosts != NULL && i < link_.size; i++)
        free(link_.hosts[i]);
    free(link_.hosts);
}
