/* The functions that libpmix calls in its host. They pass requests to the
 * caller.
 *
 * Each upcall blocks its thread until the caller has answered: the thread has
 * nothing else to do, as there is only one tool. */
#include "pmix_api/helper/lib/upcall.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/control.h"
#include "pmix_api/helper/lib/flow.h"
#include "pmix_api/helper/lib/info.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/lib/log.h"
#include "pmix_api/helper/lib/query.h"
#include "pmix_api/helper/lib/spawn.h"
#include "pmix_api/helper/lib/wish.h"

_Static_assert((int)PX_LIB_STDOUT == PMIX_FWD_STDOUT_CHANNEL &&
                   (int)PX_LIB_STDERR == PMIX_FWD_STDERR_CHANNEL &&
                   (int)PX_LIB_STDDIAG == PMIX_FWD_STDDIAG_CHANNEL,
               "the same bits");

enum {
    SLOW_NAPS = 25, /* how many naps the thread takes for each push */
    SLOW_NS = 200 * 1000,
};

static struct {
    bool is_in;
    atomic_bool is_slow;
    /* Where the caller's answers, for which upcalls wait, are to be stored: */
    struct px_lib_name *given;
    enum px_lib_answer *answer;
} upcall;

/* --- letting the tool in */

struct entry {
    struct px_lib_name wanted, given;
    bool is_named;
};

static void ask_tool(void *arg)
{
    struct entry *entry = arg;

    upcall.given = &entry->given;
    px_caller()->events->on_tool(px_caller()->arg,
                                 entry->is_named ? &entry->wanted : NULL);
}

void px_lib_admit(const struct px_lib_name *given)
{
    *upcall.given = *given;
    upcall.is_in = true;
    px_ask_answer();
}

static void tell_in(void *arg)
{
    (void)arg;
    px_caller()->events->on_in(px_caller()->arg);
}

/* Called when libpmix has sent the answer to the tool. (libpmix may crash while
 * sending, if the tool is dead.) */
static void on_answered(pmix_status_t status, void *arg)
{
    (void)status;
    px_tell(tell_in, arg);
}

static void on_tool(pmix_info_t *info, size_t infos,
                    pmix_tool_connection_cbfunc_t answer, void *arg)
{
    pmix_proc_t wanted = {.rank = PMIX_RANK_UNDEF}, given;
    struct entry entry = {.is_named = false};

    for (size_t i = 0; i < infos; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_NSPACE))
            PMIX_LOAD_NSPACE(wanted.nspace, info[i].value.data.string);
        else if (PMIX_CHECK_KEY(&info[i], PMIX_RANK))
            wanted.rank = info[i].value.data.rank;
    }
    px_info_name(&wanted, &entry.wanted);
    entry.is_named = wanted.nspace[0] != '\0';
    px_ask(ask_tool, &entry);
    PMIX_LOAD_PROCID(&given, entry.given.nspace, entry.given.rank);
    px_call_tool(&given);
    answer(PMIX_SUCCESS, &given, arg);
    px_call_turn(on_answered, NULL);
}

/* --- pull */

struct pull_call {
    struct px_lib_pull base;
    enum px_lib_answer answer;
};

static void ask_pull(void *arg)
{
    struct pull_call *pull = arg;

    upcall.answer = &pull->answer;
    px_caller()->events->on_pull(px_caller()->arg, &pull->base);
}

void px_lib_answer_pull(enum px_lib_answer answer)
{
    *upcall.answer = answer;
    px_ask_answer();
}

static void tell_stop(void *arg)
{
    (void)arg;
    px_caller()->events->on_stop(px_caller()->arg);
}

static bool is_stop(const pmix_info_t directives[], size_t ndirs)
{
    for (size_t i = 0; i < ndirs; i++) {
        if (PMIX_CHECK_KEY(&directives[i], PMIX_IOF_STOP))
            return true;
    }
    return false;
}

/* Handles a pull. The answer goes by the callback, because libpmix uses memory
 * that it has freed when the returned status is PMIX_SUCCESS. */
static pmix_status_t on_pull(const pmix_proc_t procs[], size_t nprocs,
                             const pmix_info_t directives[], size_t ndirs,
                             pmix_iof_channel_t channels,
                             pmix_op_cbfunc_t answer, void *arg)
{
    struct pull_call pull = {.base = {.count = nprocs, .channels = channels},
                             .answer = PX_LIB_NO_RESOURCE};
    struct px_lib_name *names;

    (void)answer;
    (void)arg;
    if (nprocs == 0 && is_stop(directives, ndirs)) {
        px_flow_pull(-1);
        px_tell(tell_stop, NULL);
        return PMIX_OPERATION_SUCCEEDED;
    }
    px_flow_pull(1); /* libpmix has registered the pull already, whatever the
                        answer is */
    names = px_info_names(procs, nprocs);
    pull.base.targets = names;
    px_wish_read(directives, ndirs, &pull.base.wish);
    if (names != NULL)
        px_ask(ask_pull, &pull);
    free(names);
    if (pull.answer != PX_LIB_YES)
        return px_call_status(pull.answer);
    px_flow_begin(procs, nprocs, channels);
    px_flow_cut();
    return PMIX_OPERATION_SUCCEEDED;
}

/* --- push */

struct push_call {
    struct px_lib_call base;
    struct px_lib_push push;
    struct px_lib_name *names; /* owned */
    pmix_op_cbfunc_t answer;
    void *arg;
};

static void tell_push(void *arg)
{
    struct push_call *call = arg;

    px_caller()->events->on_push(px_caller()->arg, &call->push);
}

/* The status for an answer. A tool's library that reads the tool's stdin hangs
 * after any status but these two; and after success for the end of stdin it
 * sends the end again and again. */
static pmix_status_t answer_of(const struct push_call *call,
                               enum px_lib_answer answer)
{
    if (!call->push.is_collected)
        return px_call_status(answer);
    return answer == PX_LIB_YES && call->push.len_bytes > 0
               ? PMIX_SUCCESS
               : PMIX_ERR_IOF_COMPLETE;
}

/* Passes the answer to libpmix, which handles it in its own thread. */
static void give(struct px_lib_call *base)
{
    struct push_call *call = (struct push_call *)base;

    call->answer(answer_of(call, base->answer), call->arg);
    free(call->names);
    free(call);
}

static void fill(struct push_call *call, const struct px_push_wish *wish,
                 const pmix_byte_object_t *bytes)
{
    size_t len_bytes = bytes != NULL ? bytes->size : 0;

    call->push.targets = call->names;
    call->push.mem = len_bytes > 0 ? bytes->bytes : "";
    call->push.len_bytes = len_bytes;
    call->push.is_end = len_bytes == 0 || wish->is_complete;
    call->push.is_collected = wish->is_collected;
    call->push.strange = wish->strange;
    call->push.call = call;
}

void px_lib_slow(bool is_slow)
{
    atomic_store(&upcall.is_slow, is_slow);
}

/* Delays libpmix's thread a little, so that it reads less from the tool. */
static void slow_down(void)
{
    static const struct timespec nap = {.tv_nsec = SLOW_NS};

    for (unsigned i = 0; i < SLOW_NAPS && atomic_load(&upcall.is_slow); i++)
        nanosleep(&nap, NULL);
}

/* Handles a push. The answer, a refusal too, goes by the callback: libpmix
 * never frees the bytes of a push that is refused by the returned status. */
static pmix_status_t on_push(const pmix_proc_t *source,
                             const pmix_proc_t targets[], size_t ntargets,
                             const pmix_info_t directives[], size_t ndirs,
                             const pmix_byte_object_t *bytes,
                             pmix_op_cbfunc_t answer, void *arg)
{
    struct px_push_wish wish = {.target = NULL};
    struct push_call *call = calloc(1, sizeof(*call));

    (void)source;
    px_push_wish_read(directives, ndirs, &wish);
    if (ntargets == 0 && wish.target != NULL) {
        targets = wish.target;
        ntargets = 1;
    }
    if (call != NULL)
        call->names = px_info_names(targets, ntargets);
    if (call == NULL || call->names == NULL) {
        free(call);
        answer(wish.is_collected ? PMIX_ERR_IOF_COMPLETE : PMIX_ERR_NOMEM, arg);
        return PMIX_SUCCESS;
    }
    fill(call, &wish, bytes);
    call->push.count = ntargets;
    call->answer = answer;
    call->arg = arg;
    call->base.give = give;
    px_tell(tell_push, call);
    if (wish.is_collected)
        slow_down();
    return PMIX_SUCCESS;
}

pmix_server_module_t *px_upcall_module(void)
{
    static pmix_server_module_t module = {
        .tool_connected = on_tool,
        .iof_pull = on_pull,
        .push_stdin = on_push,
        .query = px_query_upcall,
        .job_control = px_control_upcall,
        .log = px_log_upcall,
        .spawn = px_spawn_upcall,
    };

    return &module;
}

bool px_upcall_is_in(void)
{
    return upcall.is_in;
}
