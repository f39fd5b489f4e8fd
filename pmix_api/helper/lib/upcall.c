/* What libpmix asks of its host, put to the caller as questions.
 *
 * Each upcall waits until the caller has answered: the thread that does has
 * nobody else to serve. */
#include "pmix_api/helper/lib/upcall.h"

#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/flow.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/lib/wish.h"

_Static_assert(PX_LIB_ALL == PMIX_RANK_WILDCARD, "the same rank");
_Static_assert(PX_LIB_LOCAL_NODE == PMIX_RANK_LOCAL_NODE, "the same rank");
_Static_assert(PX_LIB_LOCAL_PEERS == PMIX_RANK_LOCAL_PEERS, "the same rank");
_Static_assert((int)PX_LIB_STDOUT == PMIX_FWD_STDOUT_CHANNEL &&
                   (int)PX_LIB_STDERR == PMIX_FWD_STDERR_CHANNEL &&
                   (int)PX_LIB_STDDIAG == PMIX_FWD_STDDIAG_CHANNEL,
               "the same bits");
_Static_assert(sizeof(pmix_nspace_t) == PX_LIB_NAME_BYTES, "the same names");

static struct {
    const struct px_lib_events *events;
    void *arg;
    bool is_in;
    /* What waits for an answer of the caller: */
    struct px_lib_name *given;
    enum px_lib_answer *answer;
} upcall;

static const pmix_status_t statuses[] = {
    [PX_LIB_YES] = PMIX_SUCCESS,
    [PX_LIB_BAD_PARAM] = PMIX_ERR_BAD_PARAM,
    [PX_LIB_NOT_FOUND] = PMIX_ERR_NOT_FOUND,
    [PX_LIB_NOT_SUPPORTED] = PMIX_ERR_NOT_SUPPORTED,
    [PX_LIB_NO_RESOURCE] = PMIX_ERR_OUT_OF_RESOURCE,
    [PX_LIB_IS_COMPLETE] = PMIX_ERR_IOF_COMPLETE,
};

static void name_of(const pmix_proc_t *proc, struct px_lib_name *out)
{
    memcpy(out->nspace, proc->nspace, sizeof(out->nspace));
    out->nspace[sizeof(out->nspace) - 1] = '\0';
    out->rank = proc->rank;
}

/* A block of malloc; NULL: memory is out. */
static struct px_lib_name *names_of(const pmix_proc_t *procs, size_t count)
{
    struct px_lib_name *names = calloc(count + 1, sizeof(*names));

    for (size_t i = 0; names != NULL && i < count; i++)
        name_of(&procs[i], &names[i]);
    return names;
}

/* --- the tool wants in */

struct entry {
    struct px_lib_name wanted, given;
    bool is_named;
};

static void ask_tool(void *arg)
{
    struct entry *entry = arg;

    upcall.given = &entry->given;
    upcall.events->on_tool(upcall.arg, entry->is_named ? &entry->wanted : NULL);
}

void px_lib_admit(const struct px_lib_name *given)
{
    *upcall.given = *given;
    upcall.is_in = true;
    px_ask_answer();
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
    name_of(&wanted, &entry.wanted);
    entry.is_named = wanted.nspace[0] != '\0';
    px_ask(ask_tool, &entry);
    PMIX_LOAD_PROCID(&given, entry.given.nspace, entry.given.rank);
    answer(PMIX_SUCCESS, &given, arg);
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
    upcall.events->on_pull(upcall.arg, &pull->base);
}

void px_lib_answer_pull(enum px_lib_answer answer)
{
    *upcall.answer = answer;
    px_ask_answer();
}

static void ask_stop(void *arg)
{
    (void)arg;
    upcall.events->on_stop(upcall.arg);
    px_ask_answer();
}

static bool is_stop(const pmix_info_t directives[], size_t ndirs)
{
    for (size_t i = 0; i < ndirs; i++) {
        if (PMIX_CHECK_KEY(&directives[i], PMIX_IOF_STOP))
            return true;
    }
    return false;
}

/* Success by itself would be used after it is freed, in the library. */
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
        px_ask(ask_stop, NULL);
        return PMIX_OPERATION_SUCCEEDED;
    }
    px_flow_pull(1); /* whatever the answer is: libpmix has it already */
    names = names_of(procs, nprocs);
    pull.base.targets = names;
    px_wish_read(directives, ndirs, &pull.base.wish);
    if (names != NULL)
        px_ask(ask_pull, &pull);
    free(names);
    if (pull.answer != PX_LIB_YES)
        return statuses[pull.answer];
    px_flow_cut();
    return PMIX_OPERATION_SUCCEEDED;
}

/* --- push */

struct push_call {
    struct px_lib_push base;
    struct px_lib_name *names; /* owned */
    pmix_op_cbfunc_t answer;
    void *arg;
};

static void ask_push(void *arg)
{
    struct push_call *call = arg;

    upcall.events->on_push(upcall.arg, &call->base);
    px_ask_answer();
}

/* Any answer but these two makes the library of a tool that collects its stdin
 * hang; the first one would make it send the end again and again. */
static pmix_status_t answer_of(const struct push_call *call,
                               enum px_lib_answer answer)
{
    if (!call->base.is_collected)
        return statuses[answer];
    return answer == PX_LIB_YES && call->base.len_bytes > 0
               ? PMIX_SUCCESS
               : PMIX_ERR_IOF_COMPLETE;
}

void px_lib_answer(void *arg, enum px_lib_answer answer)
{
    struct push_call *call = arg;

    call->answer(answer_of(call, answer), call->arg);
    free(call->names);
    free(call);
}

static void fill(struct push_call *call, const struct px_push_wish *wish,
                 const pmix_byte_object_t *bytes)
{
    size_t len_bytes = bytes != NULL ? bytes->size : 0;

    call->base.targets = call->names;
    call->base.mem = len_bytes > 0 ? bytes->bytes : "";
    call->base.len_bytes = len_bytes;
    call->base.is_end = len_bytes == 0 || wish->is_complete;
    call->base.is_collected = wish->is_collected;
    call->base.strange = wish->strange;
    call->base.call = call;
}

/* Always accepted, and answered by the callback: of what is refused by a
 * status the library keeps the bytes. */
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
        call->names = names_of(targets, ntargets);
    if (call == NULL || call->names == NULL) {
        free(call);
        answer(wish.is_collected ? PMIX_ERR_IOF_COMPLETE : PMIX_ERR_NOMEM, arg);
        return PMIX_SUCCESS;
    }
    fill(call, &wish, bytes);
    call->base.count = ntargets;
    call->answer = answer;
    call->arg = arg;
    px_ask(ask_push, call);
    return PMIX_SUCCESS;
}

pmix_server_module_t *px_upcall_open(const struct px_lib_events *events,
                                     void *arg)
{
    static pmix_server_module_t module = {
        .tool_connected = on_tool,
        .iof_pull = on_pull,
        .push_stdin = on_push,
    };

    upcall.events = events;
    upcall.arg = arg;
    return &module;
}

bool px_upcall_is_in(void)
{
    return upcall.is_in;
}
