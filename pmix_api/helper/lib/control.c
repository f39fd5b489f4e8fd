/* Passes on requests of the tool for job control: signals. */
#include "pmix_api/helper/lib/control.h"

#include <signal.h>
#include <stdlib.h>

#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/info.h"
#include "pmix_api/helper/lib/flag.h"

enum { SIGNO_MAX = 64 };

struct control_call {
    struct px_lib_call base;
    struct px_lib_control control;
    struct px_lib_name *names; /* owned */
    pmix_info_cbfunc_t answer;
    void *arg;
};

static const struct {
    const char *key;
    int signo; /* the signal; 0: the value of the info is its number */
} orders[] = {
    {PMIX_JOB_CTRL_SIGNAL, 0},          {PMIX_JOB_CTRL_KILL, SIGKILL},
    {PMIX_JOB_CTRL_TERMINATE, SIGTERM}, {PMIX_JOB_CTRL_PAUSE, SIGSTOP},
    {PMIX_JOB_CTRL_RESUME, SIGCONT},
};

enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

const char *px_order_key(size_t index)
{
    return index < ORDERS ? orders[index].key : NULL;
}

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

/* Finds the order, of which there must be one, among the infos. An unknown
 * attribute is ignored, or refused if it is required. */
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

static void on_turn(pmix_status_t status, void *arg)
{
    struct control_call *call = arg;

    (void)status;
    call->answer(px_call_status(call->base.answer), NULL, 0, call->arg, NULL,
                 NULL);
    free(call->names);
    free(call);
}

static void give(struct px_lib_call *call)
{
    px_call_turn(on_turn, call);
}

static void tell_control(void *arg)
{
    struct control_call *call = arg;

    px_caller()->events->on_control(px_caller()->arg, &call->control);
}

pmix_status_t px_control_upcall(const pmix_proc_t *asker,
                                const pmix_proc_t targets[], size_t ntargets,
                                const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t answer, void *arg)
{
    struct control_call *call;
    int signo;
    pmix_status_t rc = find_order(directives, ndirs, &signo);

    (void)asker;
    if (rc != PMIX_SUCCESS)
        return rc;
    call = calloc(1, sizeof(*call));
    if (call == NULL)
        return PMIX_ERR_NOMEM;
    *call = (struct control_call){.base = {.give = give},
                                  .names = px_info_names(targets, ntargets),
                                  .answer = answer,
                                  .arg = arg};
    if (call->names == NULL) {
        free(call);
        return PMIX_ERR_NOMEM;
    }
    call->control = (struct px_lib_control){.targets = call->names,
                                            .count = ntargets,
                                            .signo = signo,
                                            .call = call};
    px_tell(tell_control, call);
    return PMIX_SUCCESS;
}
