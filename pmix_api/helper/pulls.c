/* The pulls of all tools. */
#include "pmix_api/helper/pulls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/back.h"
#include "pmix_api/helper/bind.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/gate.h"
#include "pmix_api/helper/hooks.h"
#include "pmix_api/helper/intake.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/live.h"
#include "pmix_api/helper/past.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/query.h"
#include "pmix_api/helper/settle.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/target.h"
#include "pmix_api/helper/tools.h"
#include "pmix_api/spawn.h"

enum {
    LIMIT_BYTES = 256 << 20, /* what waits for one pull: the default */
    NEAR_BYTES = 256 << 10,  /* of it in memory */
    AMPLE_BYTES = 1 << 20,   /* the same, of the first few: a file costs twice
                                the time, more memory leaves the caches */
    AMPLE_MAX = 8,
    SPARE_BYTES = 16 << 20, /* of redirected output on its way meanwhile */
    SPAN_BYTES = 4 << 20, /* behind so much nothing redirected is put together:
                             the launcher keeps all that is behind it */
    LAST_BYTES = 6 << 20, /* a tool that deregisters is still sent, */
    LAST_MESSAGES = 4096, /* in so many; with what the library has for it */
    CHANNEL_BITS = 0xe,   /* of the library: 1 << ours */
    SPAN_MAX = 1 << 24,   /* from the first process of one to the last */
};

static struct {
    pthread_mutex_t lock;
    struct pull pulls[PULLS_MAX];
    const char *dir;
    bool has_hooks;
    uint32_t made, asks;
    const void *asker; /* the tool whose request is being handled */
    /* the probe */
    bool is_probing, is_probe_due;
    uint32_t probe;
} pulls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const pmix_proc_t nobody = {.nspace = "xylem-nobody", .rank = 0};

static void lock(void)
{
    pthread_mutex_lock(&pulls.lock);
}

struct pull *px_pulls_lock(void)
{
    lock();
    return pulls.pulls;
}

void px_pulls_unlock(void)
{
    pthread_mutex_unlock(&pulls.lock);
}

static bool is_served(const struct pull *pull)
{
    return pull->state == PULL_KNOWN && !pull->is_doubted;
}

/* --- what the library says */

/* The library names a request: for a delivery, or as one that it knows. What it
 * has kept of a delivery for nobody it offers to a new request, and to no
 * other.
 */
static void bind(const void *request)
{
    struct pull *asked = NULL;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *pull = &pulls.pulls[i];

        if (pull->state == PULL_ASKED &&
            (asked == NULL || pull->nth < asked->nth))
            asked = pull;
        else if (pull->state == PULL_KNOWN && pull->to.request == request)
            pull->state = PULL_OVER;
    }
    if (asked == NULL)
        return;
    asked->to.request = request;
    asked->seen = pulls.probe;
    asked->state = PULL_KNOWN;
}

static void see(const void *request)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls.pulls[i].state == PULL_KNOWN &&
            pulls.pulls[i].to.request == request)
            pulls.pulls[i].seen = pulls.probe;
    }
}

static bool on_match(const pmix_proc_t *source, const void *request)
{
    if (px_bind_match(source, request))
        return false;
    if (px_deliver_is_ours(source))
        return px_deliver_is_for(source, request);
    if (strcmp(source->nspace, nobody.nspace) != 0)
        return false;
    lock();
    if (source == &nobody)
        see(request);
    else
        bind(request);
    px_pulls_unlock();
    px_deliver_wake();
    return false;
}

static void on_asker(const void *tool)
{
    lock();
    pulls.asker = tool;
    px_pulls_unlock();
}

/* It has one in all its life: where this is another one the library has used
 * the memory of a dead tool again. */
static void on_socket(const void *tool, int fd)
{
    struct px_socket sock = {.fd = -1};

    lock();
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *pull = &pulls.pulls[i];

        if (pull->state == PULL_FREE || pull->state == PULL_OVER ||
            pull->to.tool != tool || pull->to.sock.fd >= 0)
            continue;
        if (sock.fd < 0)
            sock = px_socket_of(fd);
        pull->to.sock = sock;
    }
    px_pulls_unlock();
}

static void on_write(const void *tool, const struct px_write *write)
{
    if (px_lag_wrote(tool, write))
        px_deliver_wake();
}

static bool is_served_to(const struct pull *pull, const void *tool)
{
    return is_served(pull) && pull->to.tool == tool && pull->live != NULL;
}

/* What the library has for one tool. */
struct given {
    uint64_t bytes;
    unsigned messages;
};

static bool give_one(struct pull *pull, struct given *given)
{
    static uint8_t mem[PX_QUEUE_PACKET_MAX]; /* under the lock */
    struct px_output o;

    if (given->bytes >= LAST_BYTES || given->messages >= LAST_MESSAGES ||
        !px_queue_get(&pull->queue, 0, true, mem, &o))
        return false;
    px_deliver_now(&o, &pull->to);
    given->bytes += o.len_bytes;
    given->messages++;
    return true;
}

/* What was put together goes out while the library still knows the request,
 * unless much waits before it, or the library has much for the tool already.
 * Its pulls take turns, as one of them is the one that goes. */
static void give_last(const void *tool)
{
    struct given given = {px_lag_payload(tool), px_lag_messages(tool)};
    bool is_any = true;

    while (is_any) {
        is_any = false;
        for (unsigned i = 0; i < PULLS_MAX; i++)
            is_any |= is_served_to(&pulls.pulls[i], tool) &&
                      give_one(&pulls.pulls[i], &given);
    }
}

/* Which of them goes is not told: until that is known none is given more. */
static void on_deregister(const void *tool)
{
    lock();
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (is_served_to(&pulls.pulls[i], tool))
            px_deliver_hurry(pulls.pulls[i].to.request);
    }
    give_last(tool);
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (is_served_to(&pulls.pulls[i], tool))
            pulls.pulls[i].is_doubted = true;
    }
    px_pulls_unlock();
    px_pulls_probe();
}

/* --- probes */

static void on_probed(pmix_status_t status, void *arg);

static void probe(void)
{
    static const pmix_byte_object_t nothing = {"", 0};

    lock();
    pulls.probe++;
    px_pulls_unlock();
    PMIx_server_IOF_deliver(&nobody, PMIX_FWD_STDOUT_CHANNEL, &nothing, NULL, 0,
                            on_probed, NULL);
}

/* A pull that has ended leaves its last bytes with the library. */
static bool is_here(const void *tool, int fd)
{
    if (fd >= 0)
        return px_tools_has_fd(fd);
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        const struct pull *pull = &pulls.pulls[i];

        if (pull->state != PULL_FREE && pull->state != PULL_OVER &&
            pull->to.tool == tool)
            return true;
    }
    return false;
}

/* is_new: the library has just forgotten it. Nobody deregisters to whom nothing
 * was written. */
static bool has_gone(const struct pull *pull, bool is_new)
{
    if (pull->to.sock.fd < 0)
        return is_new;
    return !px_tools_has(&pull->to.sock) ||
           (is_new && !px_settle_has_tool(pull));
}

/* Who dies is seen to be gone here, before any of it goes back. */
static void check_over(struct pull *pull)
{
    bool is_new = pull->state == PULL_KNOWN && pulls.has_hooks &&
                  pull->seen != pulls.probe;

    if (is_new)
        pull->state = PULL_OVER;
    if (pull->state == PULL_OVER && has_gone(pull, is_new))
        px_back_forsake(pull, true);
}

static void on_probed(pmix_status_t status, void *arg)
{
    bool again;

    (void)status;
    (void)arg;
    lock();
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *pull = &pulls.pulls[i];

        check_over(pull);
        pull->is_doubted &= pulls.is_probe_due;
    }
    px_lag_keep(is_here);
    again = pulls.is_probe_due;
    pulls.is_probing = again;
    pulls.is_probe_due = false;
    px_pulls_unlock();
    px_deliver_wake();
    if (again)
        probe();
}

void px_pulls_probe(void)
{
    bool now;

    lock();
    now = !pulls.is_probing;
    pulls.is_probe_due = pulls.is_probing;
    pulls.is_probing = true;
    for (unsigned i = 0; i < PULLS_MAX && !pulls.has_hooks; i++) {
        if (is_served(&pulls.pulls[i])) /* the only one */
            pulls.pulls[i].state = PULL_OVER;
    }
    px_pulls_unlock();
    if (now)
        probe();
}

/* The main thread looks at who says nothing. */
static void on_accepted(int fd)
{
    px_gate_add(fd);
    px_deliver_wake();
}

void px_pulls_open(const char *dir)
{
    static const struct px_hooks hooks = {
        .on_match = on_match,
        .on_asker = on_asker,
        .on_deregister = on_deregister,
        .on_queued = px_deliver_queued,
        .on_socket = on_socket,
        .on_write = on_write,
        .on_closed = px_settle_closed,
        .on_greeting = px_tools_greet,
        .on_accept = px_gate_wait,
        .on_accepted = on_accepted,
        .on_query = px_query,
    };

    pulls.dir = dir;
    pulls.has_hooks = px_hooks_open(&hooks);
}

void px_pulls_try(void)
{
    pulls.has_hooks = pulls.has_hooks && px_hooks_try();
    if (!pulls.has_hooks)
        px_talk_note("this libpmix serves one pull at a time");
}

bool px_pulls_are_many(void)
{
    return pulls.has_hooks;
}

/* --- a tool asks */

static void forget(struct pull *pull)
{
    if (pull->live != NULL)
        px_queue_close(&pull->queue);
    px_show_close(pull->show);
    free(pull->live);
    free(pull->wanted);
    memset(pull, 0, sizeof(*pull));
}

static uint32_t least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

/* What it may have in memory. */
static uint32_t near_bytes(void)
{
    unsigned ample = 0;

    for (unsigned i = 0; i < PULLS_MAX; i++)
        ample += pulls.pulls[i].state != PULL_FREE &&
                 pulls.pulls[i].queue.cfg.near_bytes == AMPLE_BYTES;
    return ample < AMPLE_MAX ? AMPLE_BYTES : NEAR_BYTES;
}

/* What waits for a slow tool is bounded by CACHE_SIZE, too, beside what is from
 * before. */
static int prepare(struct pull *pull, const struct px_wish *wish)
{
    struct px_queue_cfg cfg = {
        .dir = pulls.dir,
        .first = pull->first,
        .procs = pull->procs,
        .near_bytes = near_bytes(),
        .limit_bytes = LIMIT_BYTES,
        .drops_oldest = wish->drops_oldest,
        .keeps_redirected = !wish->copies,
        .buffer_bytes = least(wish->buffer_bytes, 1 << 20),
        .buffer_ms = 1000 * least(wish->buffer_s, 1000000),
        .span_bytes = wish->copies ? 0 : SPAN_BYTES,
        .has_lines = pull->is_forward && (pull->output & PX_OUTPUT_RAW) == 0,
    };

    if (wish->has_cache && wish->cache_bytes < LIMIT_BYTES)
        cfg.limit_bytes = wish->cache_bytes;
    if (cfg.limit_bytes < 1 << 20)
        cfg.limit_bytes = 1 << 20;
    cfg.limit_bytes += least(pull->past_bytes, LIMIT_BYTES);
    pull->bound_bytes = cfg.limit_bytes;
    if (!wish->copies)
        cfg.limit_bytes += SPARE_BYTES;
    pull->redirects = !wish->copies;
    pull->wanted = calloc(pull->procs, 1);
    pull->live = calloc(pull->procs, 1);
    if (pull->wanted == NULL || pull->live == NULL)
        return OV_ENOMEM;
    return px_queue_open(&pull->queue, &cfg);
}

struct pull *px_pulls_slot(void)
{
    struct pull *pull = NULL;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls.pulls[i].state == PULL_FREE)
            pull = &pulls.pulls[i];
        else if (!pulls.has_hooks)
            return NULL; /* it could not be told from this one */
    }
    if (pull != NULL)
        *pull = (struct pull){.id = ++pulls.made,
                              .to = {.tool = pulls.asker, .sock.fd = -1}};
    return pull;
}

/* The library will name its request. */
static void ask(struct pull *pull)
{
    pull->nth = ++pulls.asks;
    pull->state = pulls.has_hooks ? PULL_ASKED : PULL_KNOWN;
}

void px_pulls_want(struct pull *pull, uint32_t number, uint8_t channels)
{
    uint8_t *wanted = &pull->wanted[number - pull->first];

    pull->open += (uint32_t)__builtin_popcount(channels & (unsigned)~*wanted);
    *wanted |= channels;
}

bool px_pulls_span(struct pull *pull, const struct px_wish *wish,
                   struct topo_range span)
{
    if (span.last - span.first >= SPAN_MAX)
        return false;
    pull->first = span.first;
    pull->procs = span.last - span.first + 1;
    if (prepare(pull, wish) == 0)
        return true;
    free(pull->live);
    free(pull->wanted);
    pull->live = pull->wanted = NULL;
    return false;
}

static struct pull *make(const struct px_wish *wish, struct topo_range span,
                         uint64_t past_bytes)
{
    struct pull *pull = px_pulls_slot();

    if (pull != NULL)
        pull->past_bytes = past_bytes;
    if (pull == NULL || !px_pulls_span(pull, wish, span))
        return NULL; /* the slot is free as it was */
    ask(pull);
    return pull;
}

/* One message for each range of each job. */
static void tell(struct pull *pull, const struct px_targets *targets,
                 uint8_t channels, const struct px_wish *own, bool is_last)
{
    struct px_past past = {.at = 0};

    while (px_past_next(targets, pull->to.tool, own, &past)) {
        for (uint32_t n = past.range.first; n <= past.range.last; n++)
            px_pulls_want(pull, n, channels);
        px_talk(&(struct px_msg){
            .kind = PX_PULL,
            .pull = {.id = pull->id,
                     .channels = channels,
                     .redirects = pull->redirects,
                     .has_more = !past.is_last,
                     .first = past.range.first,
                     .last = past.range.last,
                     .is_last = is_last,
                     .cache_bytes = past.cache_bytes},
        });
    }
}

pmix_status_t px_pulls_add(const struct px_targets *targets,
                           const pmix_info_t info[], size_t infos,
                           pmix_iof_channel_t channels)
{
    struct topo_range span = {targets->ranges[0].first,
                              targets->ranges[targets->count - 1].last};
    struct pull *pull;
    struct px_wish wish, own = {.has_cache = false};
    uint64_t past_bytes;
    uint32_t id = 0;

    px_job_wish(targets->ranges[0].first, &wish);
    if (px_wish_read(info, infos, &wish) != PMIX_SUCCESS)
        return PMIX_ERR_BAD_PARAM;
    (void)px_wish_read(info, infos, &own);
    lock();
    past_bytes = px_past_sum(targets, pulls.asker, &own);
    pull = make(&wish, span, past_bytes);
    if (pull != NULL) {
        tell(pull, targets, (uint8_t)(channels & CHANNEL_BITS), &own,
             wish.drops_oldest);
        id = pull->id;
    }
    px_pulls_unlock();
    if (id != 0)
        px_live_await(id);
    return id != 0 ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* --- the end */

/* All that it wants has ended, and the library has all of that. Its request
 * stays there until the tool deregisters, so it has to be somebody's while one
 * is looked for that is nobody's. */
static bool is_done(const struct pull *pull)
{
    return pulls.has_hooks && pull->state == PULL_KNOWN && !pull->is_forward &&
           pull->live != NULL && pull->open == 0 &&
           px_queue_is_idle(&pull->queue) && !px_bind_is_busy();
}

static void say_end(const struct px_end *end)
{
    px_talk(&(struct px_msg){.kind = PX_END, .end = *end});
}

/* It takes nothing, and the job is over: all goes back. */
static bool is_left(const struct pull *pull)
{
    return (pull->state == PULL_ASKED || pull->state == PULL_KNOWN) &&
           pull->redirects && pull->live != NULL && px_settle_is_left(pull);
}

static void reap(struct pull *pull, bool last)
{
    uint64_t lost = 0;

    px_forward_check(pull);
    if (last && is_left(pull)) {
        pull->state = PULL_OVER;
        px_back_forsake(pull, false);
    }
    if (is_done(pull))
        pull->state = PULL_OVER;
    if (pull->state == PULL_OVER && px_back_step(pulls.pulls, pull, &lost))
        return;
    if (pull->state == PULL_OVER || (last && pull->state != PULL_FREE))
        say_end(&(struct px_end){.id = pull->id,
                                 .lost_bytes = lost,
                                 .is_kept = pull->is_forsaken,
                                 .position = pull->kept_from});
    if (pull->state == PULL_OVER)
        forget(pull);
}

void px_pulls_reap(bool last)
{
    uint64_t stray;

    lock();
    px_forward_resume(pulls.pulls);
    for (unsigned i = 0; i < PULLS_MAX; i++)
        reap(&pulls.pulls[i], last);
    stray = last ? px_intake_stray() : 0;
    if (stray > 0)
        say_end(&(struct px_end){.lost_bytes = stray});
    px_pulls_unlock();
}
