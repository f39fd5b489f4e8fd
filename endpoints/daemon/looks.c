/* Reads what processes are doing in a thread, and reports it. */
#include "endpoints/daemon/looks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include <event2/event.h>

#include "endpoints/daemon/families.h"
#include "endpoints/daemon/processes.h"
#include "endpoints/spawn/procs.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/writer.h"
#include "job/order.h"
#include "job/stall.h"
#include "overlay/base/err.h"

enum {
    PAIR_MS = 100, /* two looks so far apart show who computes */
};

/* What one look has seen: of one node after the other, its processes by their
 * numbers. */
struct look {
    struct ep_family *at; /* owned */
    size_t count, room;
    uint64_t begun_ns;      /* 0: there was none */
    uint64_t took_ns;       /* of a processor */
    struct ep_procs *procs; /* borrowed: all processes of the machine */
};

/* An order that is not answered yet. */
struct look_order {
    STAILQ_ENTRY(look_order) next;
    uint32_t index;
    struct job_order order;
};

struct ep_looks {
    struct ep_looks_cfg cfg;
    struct ep_sink *sink;             /* owned: the thread that reads */
    struct event *timer;              /* owned: the next look */
    struct look now, before;          /* `now` is the thread's while is_busy */
    struct ep_procs procs;            /* owned, and so is this */
    STAILQ_HEAD(, look_order) orders; /* owned */
    uint64_t due_ns; /* from the last look on: the first is to be told then */
    uint32_t index;  /* the node whose processes are being gone through */
    bool is_busy, is_watching;
    bool is_watched; /* the last look has found a process that is watched */
};

/* --- reading */

static int family_order(const void *left, const void *right)
{
    const struct ep_family *a = left, *b = right;

    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static struct ep_family *find(const struct look *look, uint32_t index,
                              uint32_t number)
{
    const struct ep_family key = {.index = index, .number = number};

    return look->count == 0 ? NULL
                            : bsearch(&key, look->at, look->count, sizeof(key),
                                      family_order);
}

static uint64_t thread_ns(void)
{
    struct timespec ts = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int look(void *arg)
{
    struct look *now = arg;
    const uint64_t begin_ns = thread_ns();

    ep_families_look(now->at, now->count, now->procs);
    now->took_ns = thread_ns() - begin_ns;
    return 0;
}

/* Tells whether the process is to be told unless this look finds progress. */
static bool is_due(const struct ep_looks *looks, const struct ep_running *it)
{
    return it->stall != NULL && it->stall->since_ns != 0 &&
           !it->stall->is_told &&
           looks->now.begun_ns - it->stall->since_ns >= it->limit.ns;
}

static void add_process(void *arg, const struct ep_running *it)
{
    struct ep_looks *looks = arg;
    struct look *now = &looks->now;
    const struct ep_family *before;

    if (now->count == now->room) {
        const size_t room = now->room > 0 ? 2 * now->room : 64;
        struct ep_family *at = reallocarray(now->at, room, sizeof(*at));

        if (at == NULL)
            return;
        now->at = at;
        now->room = room;
    }
    before = find(&looks->before, looks->index, it->number);
    now->at[now->count++] = (struct ep_family){
        .pid = it->pid,
        .index = looks->index,
        .number = it->number,
        .counts_all = it->stall != NULL && !it->limit.counts_compute,
        .is_close = !STAILQ_EMPTY(&looks->orders) || is_due(looks, it),
        .sample = before != NULL ? before->sample
                                 : (struct job_stall_sample){.doing = 0},
    };
}

static void each_process(struct ep_looks *looks,
                         void (*each)(void *arg, const struct ep_running *it))
{
    for (uint32_t i = 0; i < looks->cfg.nodes_count; i++) {
        looks->index = i;
        ep_processes_each(looks->cfg.node(looks->cfg.arg, i), each, looks);
    }
}

static void begin(struct ep_looks *looks)
{
    looks->now.count = 0;
    looks->now.begun_ns = ep_clock_ns();
    looks->now.procs = &looks->procs;
    each_process(looks, add_process);
    looks->is_busy =
        ep_sink_call(looks->sink, look, &looks->now, looks->now.begun_ns) == 0;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ep_looks *looks = arg;

    (void)fd;
    (void)what;
    if (!looks->is_busy)
        begin(looks);
}

/* Looks when this time has passed since the begin of the last look. */
static void look_in(struct ep_looks *looks, uint64_t after_ns)
{
    const uint64_t past_ns = ep_clock_ns() - looks->before.begun_ns;
    const uint64_t wait_ns = past_ns < after_ns ? after_ns - past_ns : 0;
    const struct timeval wait = {(time_t)(wait_ns / 1000000000),
                                 (suseconds_t)(wait_ns % 1000000000 / 1000)};

    evtimer_add(looks->timer, &wait);
}

static void free_seen(struct ep_looks *looks)
{
    free(looks->now.at);
    free(looks->before.at);
    ep_procs_fini(&looks->procs);
}

/* Looks again when there is a reason to, or else frees what was seen. */
static void go_on(struct ep_looks *looks)
{
    if (!STAILQ_EMPTY(&looks->orders)) {
        look_in(looks, PAIR_MS * UINT64_C(1000000));
    } else if (looks->is_watching) {
        look_in(looks, job_stall_pace(looks->before.took_ns, looks->due_ns));
    } else {
        free_seen(looks);
        looks->now = looks->before = (struct look){.at = NULL};
    }
}

/* --- what is seen */

/* The place of the first process of this node. O(log processes). */
static size_t first_of(const struct look *look, uint32_t index)
{
    size_t low = 0, high = look->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (look->at[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Decides what a family is doing: whoever has used the processor since the look
 * before computes, though it may wait at the moment. */
static void decide(const struct ep_looks *looks, struct ep_family *family)
{
    const struct ep_family *before =
        find(&looks->before, family->index, family->number);
    const enum job_doing doing = family->sample.doing;

    family->doing = (uint8_t)doing;
    if (before != NULL &&
        (doing == JOB_DOING_WAITS || doing == JOB_DOING_READS) &&
        family->sample.cpu_ticks > before->sample.cpu_ticks)
        family->doing = JOB_DOING_COMPUTES;
}

/* Has the next look come when this process is to be told, at the latest. */
static void expect(struct ep_looks *looks, const struct ep_running *it)
{
    const uint64_t quiet_ns = looks->now.begun_ns - it->stall->since_ns;

    if (!it->stall->is_told && !it->stall->is_paused &&
        quiet_ns < it->limit.ns && it->limit.ns - quiet_ns < looks->due_ns)
        looks->due_ns = it->limit.ns - quiet_ns;
}

static void judge(void *arg, const struct ep_running *it)
{
    struct ep_looks *looks = arg;
    struct ep_family *family = find(&looks->now, looks->index, it->number);

    looks->is_watched =
        looks->is_watched || (it->stall != NULL && !it->stall->is_paused);
    if (family == NULL)
        return;
    if (it->has_ended)
        family->doing = JOB_DOING_LEFT;
    else
        decide(looks, family);
    if (it->stall == NULL || it->pid == 0 || family->pid == 0)
        return;
    family->sample.output_bytes = it->output_bytes;
    family->news = (uint8_t)job_stall_step(
        it->stall, &it->limit, &family->sample, looks->now.begun_ns);
    expect(looks, it);
}

/* --- words */

static void add_number(struct ep_looks *looks, struct job_word *word,
                       uint32_t index, uint32_t number)
{
    const uint32_t count = word->ranges_count;

    if (count > 0 && word->ranges[count - 1].last + 1 == number) {
        word->ranges[count - 1].last = number;
        return;
    }
    if (word->ranges_count == JOB_WORD_RANGES_MAX) {
        ep_processes_say(looks->cfg.node(looks->cfg.arg, index), word);
        word->ranges_count = 0;
    }
    word->ranges[word->ranges_count++] = (struct topo_range){number, number};
}

/* Reports the processes of a node that are doing the same. Without an order:
 * those of which there is news. */
static void say(struct ep_looks *looks, uint32_t index,
                const struct job_order *order, enum job_doing doing)
{
    struct job_word word = {.kind = JOB_WORD_DOING,
                            .ticket = order != NULL ? order->ticket : 0,
                            .doing = (uint8_t)doing};

    for (size_t i = first_of(&looks->now, index);
         i < looks->now.count && looks->now.at[i].index == index; i++) {
        const struct ep_family *family = &looks->now.at[i];
        const bool is_due =
            order != NULL
                ? family->doing == doing && job_order_has(order, family->number)
                : family->news == doing;

        if (is_due)
            add_number(looks, &word, index, family->number);
    }
    if (word.ranges_count > 0)
        ep_processes_say(looks->cfg.node(looks->cfg.arg, index), &word);
}

static void say_all(struct ep_looks *looks, uint32_t index,
                    const struct job_order *order)
{
    for (unsigned doing = JOB_DOING_COMPUTES; doing < JOB_DOINGS; doing++)
        say(looks, index, order, (enum job_doing)doing);
}

static bool is_pair(const struct ep_looks *looks)
{
    const uint64_t before_ns = looks->before.begun_ns;

    return before_ns != 0 && looks->now.begun_ns - before_ns >=
                                 PAIR_MS * UINT64_C(1000000) * 9 / 10;
}

static void answer(struct ep_looks *looks)
{
    while (!STAILQ_EMPTY(&looks->orders)) {
        struct look_order *first = STAILQ_FIRST(&looks->orders);

        say_all(looks, first->index, &first->order);
        STAILQ_REMOVE_HEAD(&looks->orders, next);
        free(first);
    }
}

static bool has_news(const struct look *look)
{
    for (size_t i = 0; i < look->count; i++) {
        if (look->at[i].news != JOB_DOING_UNKNOWN)
            return true;
    }
    return false;
}

static void on_looked(void *arg, uint64_t cookie)
{
    struct ep_looks *looks = arg;
    const struct look before = looks->before;

    (void)cookie;
    looks->is_busy = looks->is_watched = false;
    looks->due_ns = UINT64_MAX;
    each_process(looks, judge);
    looks->is_watching = looks->is_watching && looks->is_watched;
    for (uint32_t i = 0; has_news(&looks->now) && i < looks->cfg.nodes_count;
         i++)
        say_all(looks, i, NULL);
    if (is_pair(looks))
        answer(looks);
    looks->before = looks->now;
    looks->now = before;
    go_on(looks);
}

/* --- opening and closing */

int ep_looks_open(const struct ep_looks_cfg *cfg, struct ep_looks **out)
{
    static const struct ep_sink_events events = {.on_written = on_looked};
    struct ep_looks *looks = calloc(1, sizeof(*looks));

    *out = NULL;
    if (looks == NULL)
        return OV_ENOMEM;
    looks->cfg = *cfg;
    STAILQ_INIT(&looks->orders);
    looks->timer = evtimer_new(cfg->base, on_timer, looks);
    if (looks->timer == NULL ||
        ep_sink_open_shared(cfg->writer, &events, looks, &looks->sink) != 0) {
        if (looks->timer != NULL)
            event_free(looks->timer);
        free(looks);
        return OV_ENOMEM;
    }
    *out = looks;
    return 0;
}

static void free_looks(void *arg)
{
    struct ep_looks *looks = arg;

    free_seen(looks);
    free(looks);
}

void ep_looks_close(struct ep_looks *looks)
{
    if (looks == NULL)
        return;
    while (!STAILQ_EMPTY(&looks->orders)) {
        struct look_order *first = STAILQ_FIRST(&looks->orders);

        STAILQ_REMOVE_HEAD(&looks->orders, next);
        free(first);
    }
    event_free(looks->timer);
    ep_sink_leave(looks->sink, free_looks, looks);
}

/* --- what is asked of it */

static void look_soon(struct ep_looks *looks)
{
    if (!looks->is_busy)
        look_in(looks, 0);
}

void ep_looks_ask(struct ep_looks *looks, uint32_t index,
                  const struct job_order *order)
{
    struct look_order *ask = calloc(1, sizeof(*ask));

    if (ask == NULL)
        return;
    ask->index = index;
    ask->order = *order;
    STAILQ_INSERT_TAIL(&looks->orders, ask, next);
    look_soon(looks);
}

void ep_looks_watch(struct ep_looks *looks)
{
    if (looks->is_watching)
        return;
    looks->is_watching = true;
    look_soon(looks);
}
