/* Sweeping hosts: who waits, who runs, who was not reached. */
#include "config.h"

#include "endpoints/run/sweeps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/signals.h"
#include "endpoints/spawn/leftover.h"
#include "overlay/base/err.h"

enum {
    AT_ONCE = 64,
    SWEEP_S = 10,
    END_S = 30,
    JOB = 0,
    HOSTS_BYTES = 400,
    SAID_BYTES = 4096 /* the end of what a shell has said */
};

/* One that runs; the spawner's number for it is its place. */
struct sweep {
    struct run *r;
    uint32_t node; /* 0: free */
    int said;      /* owned: its stdout */
    struct event *timer;
};

struct run_sweeps {
    struct ep_spawner *spawner; /* NULL: could not be had, or is lost */
    struct event *limit;        /* of the end */
    struct topo_hosts missed;   /* not reached */
    uint32_t *nodes;            /* owned: one of each daemon, in their order */
    uint32_t count, next, room;
    uint32_t running;
    bool is_over; /* nobody waits any more */
    struct sweep places[AT_ONCE];
};

/* Virtual nodes share daemons, dealt out in turn. */
static uint32_t first_node(const struct run *r, uint32_t node)
{
    return ep_launcher_ops(r->plan.config.launcher)->is_here
               ? (node - 1) % r->launch.count + 1
               : node;
}

static void miss(struct run *r, uint32_t node)
{
    struct topo_hosts *missed = &r->loss.sweeps->missed;
    const char *host = ep_run_host(&r->plan, node);

    if (topo_hosts_find(missed, host, strlen(host)) == TOPO_NONE)
        (void)topo_hosts_add(missed, host, strlen(host), 0);
}

/* --- one of them
 * */

/* How many it has ended, by its last words; -1: it has not come to that. */
static int read_swept(int fd)
{
    char text[SAID_BYTES + 1];
    const char *at;
    size_t len = 0;
    ssize_t got;

    while ((got = read(fd, text + len, SAID_BYTES - len)) > 0) {
        len += (size_t)got;
        if (len == SAID_BYTES) {
            len /= 2;
            memmove(text, text + len, len);
        }
    }
    for (size_t i = 0; i < len; i++)
        text[i] = text[i] == '\0' ? ' ' : text[i];
    text[len] = '\0';
    at = strstr(text, "\n" EP_SWEPT " ");
    return at == NULL ? -1 : atoi(at + sizeof(EP_SWEPT) + 1);
}

static void start_some(struct run *r);

static void over(struct run *r, uint32_t place, bool has_run)
{
    struct sweep *sweep = &r->loss.sweeps->places[place];
    uint32_t node = sweep->node;
    int found = has_run ? read_swept(sweep->said) : -1;

    if (found < 0)
        miss(r, node);
    else if (found > 0)
        ep_voice_note(&r->voice,
                      "%s: what a lost daemon has left there is ended",
                      ep_run_host(&r->plan, node));
    close(sweep->said);
    event_free(sweep->timer);
    *sweep = (struct sweep){.node = 0};
    r->loss.sweeps->running--;
    start_some(r);
}

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    (void)arg;
    (void)proc;
    (void)pid;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    struct run *r = arg;

    ep_voice_note(&r->voice, "%s cannot be looked at: %s: %s",
                  ep_run_host(&r->plan, r->loss.sweeps->places[proc].node),
                  step, strerror(err));
    over(r, proc, false);
}

static void on_exit_(void *arg, uint32_t proc, int status)
{
    (void)status;
    over(arg, proc, true);
}

static void on_ended(void *arg)
{
    (void)arg;
}

static void on_lost(void *arg)
{
    struct run *r = arg;

    for (uint32_t i = 0; i < AT_ONCE; i++) {
        if (r->loss.sweeps->places[i].node != 0)
            over(r, i, false);
    }
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct sweep *sweep = arg;
    struct run_sweeps *all = sweep->r->loss.sweeps;

    (void)fd;
    (void)what;
    (void)ep_spawner_signal(all->spawner, (uint32_t)(sweep - all->places),
                            SIGKILL);
}

/* Returns 0 or an error of the spawner's. */
static int spawn(struct run *r, uint32_t place, int out)
{
    const struct ep_launcher_ops *ops =
        ep_launcher_ops(r->plan.config.launcher);
    uint32_t node = r->loss.sweeps->places[place].node;
    char who[48];
    const char *words[] = {"--sweep", who, NULL};
    const char *args[] = {NULL, NULL, NULL};
    struct ep_launch launch = {.spawner = r->loss.sweeps->spawner,
                               .job = JOB,
                               .xylemd = r->plan.config.xylemd,
                               .words = words,
                               .rsh = r->plan.config.rsh};
    struct ep_spawn_proc proc = {
        .job = JOB, .proc = place, .args = args, .stdio = {-1, out, -1}};
    struct text_buf line = {0};
    int rc;

    snprintf(who, sizeof(who), "%016" PRIx64 ".%u", r->plan.config.auth.session,
             node);
    rc = ops->announce(&launch);
    if (rc == 0 && ops->put_line != NULL) {
        ops->put_line(&line, launch.xylemd, words);
        args[0] = ep_run_host(&r->plan, node);
        args[1] = line.at;
        rc = line.bad ? OV_ENOMEM : 0;
    }
    if (rc == 0)
        rc = ep_spawner_start(r->loss.sweeps->spawner, &proc);
    text_buf_fini(&line);
    return rc;
}

static void start(struct run *r, uint32_t place, uint32_t node)
{
    static const struct timeval limit = {SWEEP_S, 0};
    struct sweep *sweep = &r->loss.sweeps->places[place];
    int ends[2] = {-1, -1};
    int rc = OV_ESYS;

    *sweep = (struct sweep){.r = r, .node = node};
    sweep->timer = evtimer_new(r->base, on_late, sweep);
    if (sweep->timer != NULL && evtimer_add(sweep->timer, &limit) == 0 &&
        pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0)
        rc = spawn(r, place, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    sweep->said = ends[0];
    r->loss.sweeps->running++;
    if (rc == 0)
        return;
    r->loss.sweeps->running--;
    miss(r, node);
    if (sweep->timer != NULL)
        event_free(sweep->timer);
    if (ends[0] >= 0)
        close(ends[0]);
    *sweep = (struct sweep){.node = 0};
}

static void start_some(struct run *r)
{
    struct run_sweeps *all = r->loss.sweeps;

    for (uint32_t i = 0; i < AT_ONCE && all->next < all->count; i++) {
        if (all->places[i].node == 0 && !all->is_over)
            start(r, i, all->nodes[all->next++]);
    }
}

/* --- all of them
 * */

static const struct ep_spawner_events events = {
    .on_started = on_started,
    .on_failed = on_failed,
    .on_exit = on_exit_,
    .on_ended = on_ended,
    .on_lost = on_lost,
};

static bool open_sweeps(struct run *r)
{
    struct run_sweeps *all = r->loss.sweeps;

    if (all != NULL)
        return true;
    all = calloc(1, sizeof(*all));
    if (all == NULL)
        return false;
    r->loss.sweeps = all;
    topo_hosts_init(&all->missed);
    if (ep_spawner_exec("/proc/self/exe", &all->spawner) != 0)
        all->spawner = NULL;
    else if (ep_spawner_attach(all->spawner, r->base, &events, r) != 0) {
        ep_spawner_close(all->spawner);
        all->spawner = NULL;
    }
    return true;
}

static bool grow(struct run_sweeps *all)
{
    uint32_t room = all->room == 0 ? 16 : 2 * all->room;
    uint32_t *nodes;

    if (all->count < all->room)
        return true;
    nodes = reallocarray(all->nodes, room, sizeof(*nodes));
    if (nodes == NULL)
        return false;
    all->nodes = nodes;
    all->room = room;
    return true;
}

static void sweep_daemon(struct run *r, uint32_t node)
{
    uint32_t first = first_node(r, node);

    if (!ep_launcher_ops(r->plan.config.launcher)->is_swept ||
        r->nodes[first].is_swept || !open_sweeps(r))
        return;
    r->nodes[first].is_swept = true;
    if (r->loss.sweeps->spawner == NULL || !grow(r->loss.sweeps)) {
        miss(r, first);
        return;
    }
    r->loss.sweeps->nodes[r->loss.sweeps->count++] = first;
    start_some(r);
}

/* One that hosts virtual nodes may live though the tree has given up one of
 * them: it ends that node's processes itself, and a sweep would end those of
 * the others. */
static bool is_daemon_lost(const struct run *r, uint32_t node)
{
    if (!ep_launcher_ops(r->plan.config.launcher)->is_here)
        return true;
    for (uint32_t n = first_node(r, node); n <= r->plan.nodes_count;
         n += r->launch.count) {
        if (!r->nodes[n].is_lost)
            return false;
    }
    return true;
}

void ep_run_sweep(struct run *r, uint32_t node)
{
    if (is_daemon_lost(r, node))
        sweep_daemon(r, node);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    r->loss.sweeps->is_over = true;
}

static void await_all(struct run *r)
{
    static const struct timeval limit = {END_S, 0};
    struct run_sweeps *all = r->loss.sweeps;
    uint32_t interrupts = ep_run_signals_interrupts(r->signals);

    all->limit = evtimer_new(r->base, on_limit, r);
    if (all->limit == NULL || evtimer_add(all->limit, &limit) != 0)
        return;
    while (all->running > 0 && !all->is_over &&
           ep_run_signals_interrupts(r->signals) == interrupts) {
        if (event_base_loop(r->base, EVLOOP_ONCE) != 0)
            return;
    }
}

void ep_run_sweeps_end(struct run *r)
{
    struct run_sweeps *all;
    char *list;

    for (uint32_t n = 1; !r->end.is_aborted && n <= r->plan.nodes_count; n++) {
        if (!r->nodes[n].is_final)
            sweep_daemon(r, n);
    }
    all = r->loss.sweeps;
    if (all == NULL)
        return;
    await_all(r);
    all->is_over = true;
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        if (all->places[i].node != 0)
            miss(r, all->places[i].node);
    }
    while (all->next < all->count)
        miss(r, all->nodes[all->next++]);
    list = topo_hosts_fold_short(&all->missed, HOSTS_BYTES);
    if (all->missed.count > 0 && !r->end.is_quiet)
        ep_voice_say(&r->voice,
                     "not reached to end what the job may have left there: %s",
                     list == NULL ? "" : list);
    free(list);
}

void ep_run_sweeps_close(struct run *r)
{
    struct run_sweeps *all = r->loss.sweeps;

    if (all == NULL)
        return;
    (void)ep_spawner_close(all->spawner);
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        if (all->places[i].node == 0)
            continue;
        event_free(all->places[i].timer);
        close(all->places[i].said);
    }
    if (all->limit != NULL)
        event_free(all->limit);
    topo_hosts_fini(&all->missed);
    free(all->nodes);
    free(all);
    r->loss.sweeps = NULL;
}
