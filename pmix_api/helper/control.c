/* Job control and logs of tools. */
#include "pmix_api/helper/control.h"

#include <signal.h>
#include <string.h>

#include "pmix_api/helper/job.h"
#include "pmix_api/helper/request.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/target.h"
#include "pmix_api/helper/value.h"

enum { SIGNO_MAX = 64 };

/* --- job control */

static const struct {
    const char *key;
    int signo; /* 0: the value */
} orders[] = {
    {PMIX_JOB_CTRL_SIGNAL, 0},          {PMIX_JOB_CTRL_KILL, SIGKILL},
    {PMIX_JOB_CTRL_TERMINATE, SIGTERM}, {PMIX_JOB_CTRL_PAUSE, SIGSTOP},
    {PMIX_JOB_CTRL_RESUME, SIGCONT},
};

enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

static pmix_status_t read_order(const pmix_info_t *info, unsigned order,
                                int *signo)
{
    if (orders[order].signo == 0) {
        if (info->value.type != PMIX_INT || info->value.data.integer < 1 ||
            info->value.data.integer > SIGNO_MAX)
            return PMIX_ERR_BAD_PARAM;
        *signo = info->value.data.integer;
    } else if (!px_value_is_flag(info)) {
        return PMIX_ERR_BAD_PARAM;
    } else if (PMIX_INFO_TRUE(info)) {
        *signo = orders[order].signo;
    }
    return PMIX_SUCCESS;
}

/* There is one order. An attribute that we do not know is no obstacle, unless
 * it is required. */
static pmix_status_t find_order(const pmix_info_t *info, size_t infos,
                                int *signo)
{
    *signo = 0;
    for (size_t i = 0; i < infos; i++) {
        pmix_status_t rc = PMIX_SUCCESS;
        unsigned order = 0;
        int before = *signo;

        while (order < ORDERS && !PMIX_CHECK_KEY(&info[i], orders[order].key))
            order++;
        if (order < ORDERS)
            rc = read_order(&info[i], order, signo);
        else if (PMIX_INFO_IS_REQUIRED(&info[i]))
            rc = PMIX_ERR_NOT_SUPPORTED;
        if (rc == PMIX_SUCCESS && before != 0 && *signo != before)
            rc = PMIX_ERR_BAD_PARAM;
        if (rc != PMIX_SUCCESS)
            return rc;
    }
    return *signo != 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

/* In messages of PX_RANGES_MAX, of which the last one is answered. */
static void send_signal(const struct px_targets *targets, int signo,
                        uint32_t token)
{
    struct px_msg msg = {.kind = PX_SIGNAL,
                         .signal = {.signo = (uint32_t)signo}};
    struct px_signal *signal = &msg.signal;

    for (uint32_t i = 0; i < targets->count; i++) {
        signal->ranges[signal->count++] = targets->ranges[i];
        if (i + 1 < targets->count && signal->count < PX_RANGES_MAX)
            continue;
        signal->token = i + 1 == targets->count ? token : 0;
        px_talk(&msg);
        signal->count = 0;
    }
}

static bool are_of(const struct px_targets *targets, const struct px_job *job)
{
    for (uint32_t i = 0; i < targets->count; i++) {
        if (targets->ranges[i].first < job->base + job->size &&
            targets->ranges[i].last >= job->base)
            return true;
    }
    return false;
}

/* A job of one of them at least is not over. */
static bool are_there(const struct px_targets *targets)
{
    struct px_job job = {.size = 0};

    while (px_job_next_listed(&job)) {
        if (are_of(targets, &job) && !px_job_has_ended(job.base))
            return true;
    }
    return false;
}

pmix_status_t px_control(const pmix_proc_t *asker, const pmix_proc_t targets[],
                         size_t ntargets, const pmix_info_t directives[],
                         size_t ndirs, pmix_info_cbfunc_t answer, void *arg)
{
    struct px_asker who = {
        .on_info = answer, .arg = arg, .status = PMIX_SUCCESS};
    struct px_targets all = {.ranges = NULL};
    pmix_status_t rc;
    uint32_t token;
    int signo;

    (void)asker;
    rc = find_order(directives, ndirs, &signo);
    if (rc == PMIX_SUCCESS)
        rc = px_targets_find(targets, ntargets, &all);
    if (rc == PMIX_SUCCESS && !are_there(&all))
        rc = PMIX_ERR_NOT_AVAILABLE;
    if (rc == PMIX_SUCCESS) {
        token = px_request_open(&who, 0);
        if (token != 0)
            send_signal(&all, signo, token);
    }
    px_targets_end(&all);
    return rc;
}

/* --- log */

/* What the library does by itself (it gives us all the same), and what it reads
 * or adds. */
static const char *const texts_of_library[] = {
    PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG, PMIX_LOG_GLOBAL_SYSLOG,
    PMIX_LOG_EMAIL};
static const char *const directives_of_library[] = {
    PMIX_LOG_SOURCE,     PMIX_LOG_TIMESTAMP, PMIX_LOG_GENERATE_TIMESTAMP,
    PMIX_LOG_SYSLOG_PRI, PMIX_LOG_ONCE,
#ifdef PMIX_LOG_AGG
    PMIX_LOG_AGG,        PMIX_LOG_KEY,       PMIX_LOG_VAL,
#endif
};

enum {
    TEXTS_OF_LIBRARY = sizeof(texts_of_library) / sizeof(texts_of_library[0]),
    DIRECTIVES_OF_LIBRARY =
        sizeof(directives_of_library) / sizeof(directives_of_library[0]),
};

static uint8_t channel_of(const pmix_info_t *info)
{
    if (info->value.type != PMIX_STRING || info->value.data.string == NULL)
        return 0;
    if (PMIX_CHECK_KEY(info, PMIX_LOG_STDOUT))
        return 1;
    return PMIX_CHECK_KEY(info, PMIX_LOG_STDERR) ? 2 : 0;
}

static bool is_refused(const pmix_info_t *info, const char *const keys[],
                       size_t count)
{
    if (!PMIX_INFO_IS_REQUIRED(info) || channel_of(info) != 0 ||
        px_value_has_key(info, keys, count))
        return false;
    px_talk_note("PMIx_Log is refused: %s is not supported", info->key);
    return true;
}

/* What is required cannot be served. */
static bool asks_too_much(const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs)
{
    for (size_t i = 0; i < ndata; i++) {
        if (is_refused(&data[i], texts_of_library, TEXTS_OF_LIBRARY))
            return true;
    }
    for (size_t i = 0; i < ndirs; i++) {
        if (is_refused(&directives[i], directives_of_library,
                       DIRECTIVES_OF_LIBRARY))
            return true;
    }
    return false;
}

/* In pieces; with a token it is answered when it is written. */
static void send_log(uint8_t channel, const char *text, uint32_t token)
{
    size_t left = strlen(text);
    struct px_msg msg = {.kind = PX_LOG, .log = {.channel = channel}};

    do {
        size_t len = left < PX_TEXT_BYTES_MAX ? left : PX_TEXT_BYTES_MAX;

        msg.log.text = (struct px_text){text, (uint16_t)len};
        msg.log.is_more = len < left;
        msg.log.token = token;
        px_talk(&msg);
        text += len;
        left -= len;
    } while (left > 0);
}

/* All texts are one request, which the last one answers. */
static void send_all(const pmix_info_t *data, size_t ndata, size_t last,
                     uint32_t token)
{
    for (size_t i = 0; i < ndata; i++) {
        uint8_t channel = channel_of(&data[i]);

        if (channel != 0)
            send_log(channel, data[i].value.data.string, i == last ? token : 0);
    }
}

void px_log(const pmix_proc_t *asker, const pmix_info_t data[], size_t ndata,
            const pmix_info_t directives[], size_t ndirs,
            pmix_op_cbfunc_t answer, void *arg)
{
    struct px_asker who = {.on_op = answer, .arg = arg};
    size_t known = 0, last = 0, bytes = 0;
    uint32_t token;

    (void)asker;
    if (asks_too_much(data, ndata, directives, ndirs)) {
        px_request_refuse(&who, PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    for (size_t i = 0; i < ndata; i++) {
        if (channel_of(&data[i]) == 0)
            continue;
        last = i;
        known++;
        bytes += strlen(data[i].value.data.string);
    }
    if (known == 0 || bytes > PX_LOG_BYTES_MAX) {
        px_request_refuse(&who, known == 0 ? PMIX_ERR_NOT_SUPPORTED
                                           : PMIX_ERR_BAD_PARAM);
        return;
    }
    who.status = known == ndata ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    token = px_request_open(&who, (uint32_t)bytes);
    if (token != 0)
        send_all(data, ndata, last, token);
}
