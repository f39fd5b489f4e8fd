/* What tools push, on its way to the launcher.
 *
 * The library's thread judges a call and puts it at the end of a list, with
 * what it borrows; the main thread cuts it into messages and sends them as far
 * as the launcher has granted that. */
#include "pmix_api/helper/push.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "pmix_api/helper/calls.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/readers.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/tools.h"

enum {
    WAITING_BYTES = 16 << 20,       /* without an answer, of one tool */
    SLOW_BYTES = WAITING_BYTES / 2, /* one is read more slowly: */
    SLOW_NAPS = 25,                 /* so many for each call, */
    SLOW_NS = 200 * 1000,           /* each so long */
};

_Static_assert((int)TOOLS_MAX <= (int)PX_CALLS_TOOLS_MAX, "pushers by number");

/* A tool that has pushed. */
struct pusher {
    pmix_proc_t name;
    uint64_t waiting_bytes;
    uint32_t calls;     /* not whole with the launcher */
    bool is_own;        /* some of them were to the run's own job */
    bool is_there;      /* connected; the slot is free without that and calls */
    bool has_completed; /* its own stdin is collected no more */
};

/* A call of PMIx_IOF_push that is not whole with the launcher. */
struct call {
    struct px_call base;
    struct pusher *pusher;
    struct px_set set; /* owned */
    uint32_t named;    /* ranges of it that were sent */
    bool is_named;
    const char *mem; /* borrowed until the answer */
    size_t len_bytes, sent_bytes;
    bool closes;
    bool is_own;          /* for some of the run's own job */
    bool is_refused;      /* nobody of them can take it any more */
    pmix_status_t status; /* the answer */
    pmix_op_cbfunc_t answer;
    void *arg;
};

/* Does the launcher know that somebody pushes to the run's own job? */
enum hold { HOLD_NONE, HOLD_ASKED, HOLD_SURE };

static struct {
    pthread_mutex_t lock; /* of what follows */
    struct pusher pushers[TOOLS_MAX];
    struct px_calls calls;
    uint32_t own_calls; /* to the run's own job, also the one being sent */
    bool has_pushed;    /* to the run's own job, since the last REST */
    enum hold hold;

    /* the main thread's */
    int wake;
    struct call *sending; /* owned: in no list; NULL: none */
    struct px_set set;    /* owned: of the message sent last */
    uint32_t granted_bytes, message_bytes;
} push = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

int px_push_open(void)
{
    px_calls_init(&push.calls);
    push.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return push.wake < 0 ? OV_ENOMEM : 0;
}

int px_push_fd(void)
{
    return push.wake;
}

static void wake(void)
{
    static const uint64_t one = 1;

    if (write(push.wake, &one, sizeof(one)) < 0)
        abort(); /* nobody would go on */
}

static void on_grant(const struct px_grant *grant)
{
    push.granted_bytes += grant->bytes;
    push.message_bytes = grant->message_bytes < PX_PUSH_BYTES_MAX
                             ? grant->message_bytes
                             : PX_PUSH_BYTES_MAX;
}

/* --- calls */

static struct pusher *find(const pmix_proc_t *name)
{
    struct pusher *free_one = NULL;

    for (unsigned i = 0; i < TOOLS_MAX; i++) {
        struct pusher *p = &push.pushers[i];

        if (p->is_there && PMIX_CHECK_PROCID(&p->name, name))
            return p;
        if (!p->is_there && p->calls == 0 && free_one == NULL)
            free_one = p;
    }
    return free_one;
}

/* Its slot; NULL when there are too many. */
static struct pusher *enlist(const pmix_proc_t *name)
{
    struct pusher *p = find(name);

    if (p != NULL && !p->is_there)
        *p = (struct pusher){.name = *name, .is_there = true};
    return p;
}

void px_push_forget(const pmix_proc_t *tool)
{
    struct pusher *p;

    pthread_mutex_lock(&push.lock);
    p = find(tool);
    if (p != NULL)
        p->is_there = false;
    pthread_mutex_unlock(&push.lock);
    if (push.wake >= 0)
        wake();
}

static bool is_known(const pmix_info_t *info)
{
    return PMIX_CHECK_KEY(info, PMIX_IOF_PUSH_STDIN) ||
           PMIX_CHECK_KEY(info, PMIX_IOF_COMPLETE) ||
           PMIX_CHECK_KEY(info, PMIX_IOF_BUFFERING_SIZE) ||
           PMIX_CHECK_KEY(info, PMIX_IOF_BUFFERING_TIME);
}

static bool is_asked(const pmix_info_t *info, const char *key)
{
    return PMIX_CHECK_KEY(info, key) && PMIX_INFO_TRUE(info);
}

/* What the directives say. RFC 0025 has PMIX_IOF_PUSH_STDIN as a process, the
 * standard as a bool. */
struct ask {
    bool is_collected; /* the library's own doing, of the tool's stdin */
    bool is_complete;
    bool is_strange; /* one is required that we do not know */
    const pmix_proc_t *target;
};

static struct ask read_directives(const pmix_info_t info[], size_t count)
{
    struct ask ask = {.target = NULL};

    for (size_t i = 0; i < count; i++) {
        bool is_proc = PMIX_CHECK_KEY(&info[i], PMIX_IOF_PUSH_STDIN) &&
                       info[i].value.type == PMIX_PROC;

        if (is_proc)
            ask.target = info[i].value.data.proc;
        ask.is_collected |= is_proc || is_asked(&info[i], PMIX_IOF_PUSH_STDIN);
        ask.is_complete |= is_asked(&info[i], PMIX_IOF_COMPLETE);
        ask.is_strange |=
            PMIX_INFO_IS_REQUIRED(&info[i]) && !is_known(&info[i]);
    }
    return ask;
}

static void append(struct call *call)
{
    call->pusher->calls++;
    call->pusher->waiting_bytes += call->len_bytes;
    px_calls_add(&push.calls, &call->base);
    push.has_pushed |= call->is_own;
    push.own_calls += call->is_own;
    call->pusher->is_own |= call->is_own;
}

/* May it go on its way? Under the lock. */
static bool is_sure(const struct call *call)
{
    return !call->is_own || push.hold == HOLD_SURE;
}

/* --- the set that the launcher was told last */

static bool is_same_set(const struct px_set *a, const struct px_set *b)
{
    return a->count == b->count &&
           memcmp(a->range, b->range, a->count * sizeof(a->range[0])) == 0;
}

static void forget_set(void)
{
    free(push.set.range);
    push.set = (struct px_set){.range = NULL};
}

/* Without memory for it the set is told again with the next call. */
static void keep_set(const struct px_set *set)
{
    forget_set();
    push.set.range = calloc(set->count, sizeof(set->range[0]));
    if (push.set.range == NULL)
        return;
    memcpy(push.set.range, set->range, set->count * sizeof(set->range[0]));
    push.set.count = set->count;
}

/* Puts the rest of the call that is being sent aside. Its set is told anew
 * before that rest. */
static void suspend(void)
{
    struct call *call = push.sending;

    if (!call->is_named && call->named > 0)
        forget_set(); /* it was told in part */
    call->is_named = false;
    call->named = 0;
    pthread_mutex_lock(&push.lock);
    px_calls_suspend(&push.calls, &call->base);
    pthread_mutex_unlock(&push.lock);
    push.sending = NULL;
}

/* A call for several jobs is sent to its end all the same: it is to be one run
 * of bytes for each of its targets, and not all of them would wait. */
static void on_full(void)
{
    if (push.sending != NULL && !push.sending->base.is_wide &&
        px_readers_are_full(&push.sending->set))
        suspend();
}

static void on_free(void)
{
    pthread_mutex_lock(&push.lock);
    px_calls_put_back(&push.calls);
    pthread_mutex_unlock(&push.lock);
}

/* The launcher has said meanwhile who has no stdin any more. Calls that were
 * made before that are judged once more, in their order. */
static void on_held(void)
{
    pthread_mutex_lock(&push.lock);
    px_calls_put_back(&push.calls);
    for (struct px_call *at = push.calls.first; at != NULL; at = at->next) {
        struct call *call = (struct call *)at;

        if (is_sure(call))
            continue;
        call->is_refused = !px_readers_can_take(&call->set);
        if (call->is_refused)
            call->status = PMIX_ERR_IOF_COMPLETE;
        else if (call->closes)
            px_readers_close(&call->set);
    }
    push.hold = HOLD_SURE;
    pthread_mutex_unlock(&push.lock);
}

static bool is_own(const struct px_set *set)
{
    struct px_job own = {.size = 0};

    return px_job_next(&own) && set->range[0].first < own.size;
}

/* Under the lock. */
static pmix_status_t take(const pmix_proc_t *source, const struct ask *ask,
                          struct call *call)
{
    struct pusher *p = enlist(source);

    if (p == NULL)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (ask->is_collected && p->has_completed)
        return PMIX_ERR_IOF_COMPLETE;
    p->has_completed |= ask->is_complete;
    if (p->waiting_bytes + call->len_bytes > WAITING_BYTES) {
        if (p->calls > 0)
            px_tools_end(source);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (!px_readers_can_take(&call->set)) /* since it was judged */
        return PMIX_ERR_IOF_COMPLETE;
    call->pusher = p;
    call->is_own = is_own(&call->set);
    call->base.tool = (unsigned)(p - push.pushers);
    call->base.is_wide = px_readers_are_of_several(&call->set);
    if (call->closes && is_sure(call))
        px_readers_close(&call->set);
    append(call);
    return PMIX_SUCCESS;
}

static bool is_behind(const pmix_proc_t *source)
{
    const struct pusher *p;
    bool is_it;

    pthread_mutex_lock(&push.lock);
    p = find(source);
    is_it = p != NULL && p->is_there && p->waiting_bytes > SLOW_BYTES;
    pthread_mutex_unlock(&push.lock);
    return is_it;
}

/* Of a tool whose library collects its stdin more can come than the launcher
 * takes in this moment, as that library waits for no answer. Where ours waits a
 * little, it reads less of the tool. */
static void slow_down(const pmix_proc_t *source)
{
    static const struct timespec nap = {.tv_nsec = SLOW_NS};

    for (unsigned i = 0; i < SLOW_NAPS && is_behind(source); i++)
        nanosleep(&nap, NULL);
}

/* Any answer but these two makes the library of a tool that collects its stdin
 * hang; the first one would make it send the end again and again. */
static pmix_status_t answer_of(const struct ask *ask, pmix_status_t rc,
                               size_t len_bytes)
{
    if (!ask->is_collected)
        return rc;
    return rc == PMIX_SUCCESS && len_bytes > 0 ? PMIX_SUCCESS
                                               : PMIX_ERR_IOF_COMPLETE;
}

/* What is collected goes to those that are left, piece by piece. */
static pmix_status_t judge(const struct ask *ask, const pmix_proc_t targets[],
                           size_t ntargets, struct px_set *out)
{
    if (ask->is_strange)
        return PMIX_ERR_NOT_SUPPORTED;
    return px_readers_judge(targets, ntargets, ask->is_collected, out);
}

/* Always accepted, and answered by the callback: of what is refused by a
 * status the library keeps the bytes. */
pmix_status_t px_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                      size_t ntargets, const pmix_info_t directives[],
                      size_t ndirs, const pmix_byte_object_t *bytes,
                      pmix_op_cbfunc_t answer, void *arg)
{
    struct ask ask = read_directives(directives, ndirs);
    struct call *call = calloc(1, sizeof(*call));
    pmix_status_t rc = PMIX_ERR_NOMEM;
    size_t len_bytes = bytes != NULL ? bytes->size : 0;

    if (ask.is_collected)
        slow_down(source);
    if (ntargets == 0 && ask.target != NULL) {
        targets = ask.target;
        ntargets = 1;
    }
    if (call != NULL)
        rc = judge(&ask, targets, ntargets, &call->set);
    if (rc == PMIX_SUCCESS) {
        call->mem = len_bytes > 0 ? bytes->bytes : "";
        call->len_bytes = len_bytes;
        call->closes = len_bytes == 0 || ask.is_complete;
        call->status = answer_of(&ask, PMIX_SUCCESS, len_bytes);
        call->answer = answer;
        call->arg = arg;
        pthread_mutex_lock(&push.lock);
        rc = take(source, &ask, call);
        pthread_mutex_unlock(&push.lock);
    }
    if (rc == PMIX_SUCCESS) {
        wake();
        return PMIX_SUCCESS;
    }
    if (call != NULL)
        free(call->set.range);
    free(call);
    answer(answer_of(&ask, rc, len_bytes), arg);
    return PMIX_SUCCESS;
}

static void on_stdin(const struct px_stdin *in)
{
    px_readers_told(in);
    if (in->what == PX_STDIN_FULL)
        on_full();
    else if (in->what == PX_STDIN_FREE)
        on_free();
}

void px_push_told(const struct px_msg *msg)
{
    if (msg->kind == PX_STDIN)
        on_stdin(&msg->in);
    else if (msg->kind == PX_GRANT)
        on_grant(&msg->grant);
    else
        on_held();
}

/* --- to the launcher */

/* False: that much was not granted. */
static bool say(const uint8_t *mem, uint32_t len_bytes)
{
    uint32_t cost_bytes = px_push_cost(len_bytes);

    if (cost_bytes > push.granted_bytes)
        return false;
    push.granted_bytes -= cost_bytes;
    px_talk(&(struct px_msg){.kind = PX_PUSH, .push = {len_bytes, mem}});
    return true;
}

/* The next message of a call; false where it has to wait. */
static bool send_piece(struct call *call)
{
    uint8_t mem[PX_PUSH_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, push.message_bytes);
    uint32_t room = push.message_bytes - OV_PUSH_HEAD_BYTES;
    uint32_t left = call->is_named ? 0 : call->set.count - call->named;
    uint32_t ranges = room / OV_PUSH_RANGE_BYTES;
    size_t bytes = call->len_bytes - call->sent_bytes;
    uint16_t flags = left > 0 && call->named == 0 ? OV_PUSH_NEW : 0;

    if (ranges > left)
        ranges = left;
    room -= ranges * OV_PUSH_RANGE_BYTES;
    if (ranges < left) {
        flags |= OV_PUSH_MORE;
        bytes = 0;
    } else if (bytes > room) {
        bytes = room;
    } else if (call->closes) {
        flags |= OV_PUSH_CLOSE;
    }
    ov_push_encode(&wr, flags, left > 0 ? call->set.range + call->named : NULL,
                   (uint16_t)ranges);
    ov_wr_bytes(&wr, call->mem + call->sent_bytes, bytes);
    if (!say(mem, (uint32_t)(wr.at - mem)))
        return false;
    call->named += ranges;
    call->sent_bytes += bytes;
    if (!call->is_named && ranges == left) {
        call->is_named = true;
        keep_set(&call->set);
    }
    return true;
}

/* All that there is of it; false where some has to wait. */
static bool send_call(struct call *call)
{
    if (call->is_refused)
        return true;
    if (call->named == 0 && !call->is_named &&
        is_same_set(&call->set, &push.set))
        call->is_named = true;
    do {
        if (!send_piece(call))
            return false;
    } while (!call->is_named || call->sent_bytes < call->len_bytes);
    return true;
}

/* Under the lock. */
static bool has_to_wait(const struct px_call *base)
{
    const struct call *call = (const struct call *)base;

    return !is_sure(call) || px_readers_are_full(&call->set);
}

/* The next one that need not wait; NULL: there is none. */
static struct call *next_call(void)
{
    struct px_call *call;

    pthread_mutex_lock(&push.lock);
    call = px_calls_next(&push.calls, has_to_wait);
    pthread_mutex_unlock(&push.lock);
    return (struct call *)call;
}

static void finish(struct call *call)
{
    pthread_mutex_lock(&push.lock);
    push.own_calls -= call->is_own;
    call->pusher->calls--;
    call->pusher->waiting_bytes -= call->len_bytes;
    pthread_mutex_unlock(&push.lock);
    call->answer(call->status, call->arg);
    free(call->set.range);
    free(call);
}

static void send_calls(void)
{
    while (push.message_bytes > 0) {
        if (push.sending == NULL)
            push.sending = next_call();
        if (push.sending == NULL || !send_call(push.sending))
            return;
        finish(push.sending);
        push.sending = NULL;
    }
}

/* Tells the launcher, once, that somebody pushes. */
static void hold(void)
{
    bool is_due;

    pthread_mutex_lock(&push.lock);
    is_due = push.has_pushed && push.hold == HOLD_NONE;
    if (is_due)
        push.hold = HOLD_ASKED;
    pthread_mutex_unlock(&push.lock);
    if (is_due)
        px_talk_kind(PX_PUSHER);
}

/* All was sent; is anybody there who may have more? */
static void rest(void)
{
    bool is_due;

    pthread_mutex_lock(&push.lock);
    is_due = push.has_pushed && push.own_calls == 0;
    for (unsigned i = 0; i < TOOLS_MAX; i++)
        is_due &= !push.pushers[i].is_there || !push.pushers[i].is_own;
    push.has_pushed &= !is_due;
    if (is_due)
        push.hold = HOLD_NONE;
    pthread_mutex_unlock(&push.lock);
    if (is_due)
        px_talk_kind(PX_REST);
}

void px_push_step(void)
{
    uint64_t seen;

    if (read(push.wake, &seen, sizeof(seen)) < 0)
        seen = 0; /* nothing to clear */
    hold();
    send_calls();
    rest();
}
