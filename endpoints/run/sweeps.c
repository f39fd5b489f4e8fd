/* Sweeps of hosts: which wait, which run, and which hosts were not reached. */
#include "config.h"

#include "endpoints/run/sweeps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/signals.h"
#include "endpoints/spawn/leftover.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"

enum {
    AT_ONCE = 64,
    SWEEP_S = 10,
    END_S = 30,
    JOB = 0,
    HOSTS_BYTES = 400,
    SAID_BYTES = 4096 /* how much of the end of a shell's output is kept */
};

/* A sweep that runs. Its index is its process number for the spawner. */
struct sweep {
    struct run_sweeps *all;
    uint32_t node; /* the node whose host is swept; 0: this entry is free */
    int said;      /* owned: reads the sweep's stdout */
    struct event *timer;
};

struct run_sweeps {
    struct run_sweeps_cfg cfg;
    bool *is_swept; /* owned, indexed by the first node of each daemon */
    bool is_open;   /* whether a spawner was started */
    bool has_lost;  /* whether a spawner has died */
    struct ep_spawner *spawner; /* NULL: not started, or it has died */
    struct event *limit;        /* fires when all sweeps have taken too long */
    struct topo_hosts missed;   /* hosts that were not reached */
    /* Owned: one node of each daemon, in the order of sweeps. */
    uint32_t *nodes;
    uint32_t count, next, room;
    uint32_t running;
    bool is_over; /* the wait for sweeps is over: no further one is started */
    struct sweep places[AT_ONCE];
};

static const struct ep_launcher_ops *ops_of(const struct run_sweeps *all)
{
    return ep_launcher_ops(all->cfg.plan->config.launcher);
}

/* Returns the first node that the daemon of this node hosts. Daemons share
 * virtual nodes in turn. */
static uint32_t first_node(const struct run_sweeps *all, uint32_t node)
{
    return ops_of(all)->is_here ? (node - 1) % all->cfg.daemons + 1 : node;
}

static void miss_host(struct run_sweeps *all, uint32_t node)
{
    struct topo_hosts *missed = &all->missed;
    const char *host = ep_run_host(all->cfg.plan, node);

    if (topo_hosts_find(missed, host, strlen(host)) == TOPO_NONE)
        (void)topo_hosts_add(missed, host, strlen(host), 0);
}

/* --- one sweep */

/* Returns how many processes a sweep has ended, as its output says; -1 when its
 * output does not say so. */
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

static void start_sweep(struct run_sweeps *all, uint32_t place, uint32_t node);
static void start_some(struct run_sweeps *all);

static void clear_place(struct run_sweeps *all, uint32_t place)
{
    struct sweep *sweep = &all->places[place];

    close(sweep->said);
    event_free(sweep->timer);
    *sweep = (struct sweep){.node = 0};
    all->running--;
}

static void end_sweep(struct run_sweeps *all, uint32_t place, bool has_run)
{
    uint32_t node = all->places[place].node;
    int found = has_run ? read_swept(all->places[place].said) : -1;

    if (found < 0)
        miss_host(all, node);
    else if (found > 0)
        ep_voice_note(all->cfg.plan->voice,
                      "%s: killed processes that a lost daemon had left",
                      ep_run_host(all->cfg.plan, node));
    clear_place(all, place);
    start_some(all);
}

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    (void)arg;
    (void)proc;
    (void)pid;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    struct run_sweeps *all = arg;

    ep_voice_note(all->cfg.plan->voice,
                  "cannot look for processes left on %s: %s: %s",
                  ep_run_host(all->cfg.plan, all->places[proc].node), step,
                  strerror(err));
    end_sweep(all, proc, false);
}

static void on_exit_(void *arg, uint32_t proc, int status, uint64_t at_ns)
{
    (void)status;
    (void)at_ns;
    end_sweep(arg, proc, true);
}

static void on_ended(void *arg)
{
    (void)arg;
}

/* Starts the running sweeps again with another spawner. This is done once: a
 * user who kills all spawners of a job kills this one, too. */
static void on_lost(void *arg)
{
    struct run_sweeps *all = arg;
    struct ep_spawner *dead = all->spawner;

    all->spawner = NULL;
    all->is_open = all->has_lost;
    all->has_lost = true;
    (void)ep_spawner_close(dead);
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        uint32_t node = all->places[i].node;

        if (node == 0)
            continue;
        clear_place(all, i);
        start_sweep(all, i, node);
    }
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct sweep *sweep = arg;
    struct run_sweeps *all = sweep->all;

    (void)fd;
    (void)what;
    (void)ep_spawner_signal(all->spawner, (uint32_t)(sweep - all->places),
                            SIGKILL);
}

/* Starts the program of a sweep, with `out` as its stdout. Returns 0 or an
 * error of the spawner. */
static int spawn_sweep(struct run_sweeps *all, uint32_t place, int out)
{
    const struct ep_launcher_ops *ops = ops_of(all);
    const struct ep_boot_config *config = &all->cfg.plan->config;
    uint32_t node = all->places[place].node;
    char who[48];
    const char *words[] = {"--sweep", who, NULL};
    const char *args[] = {NULL, NULL, NULL};
    struct ep_launch launch = {.spawner = all->spawner,
                               .job = JOB,
                               .xylemd = config->xylemd,
                               .words = words,
                               .rsh = config->rsh};
    struct ep_spawn_proc proc = {
        .job = JOB, .proc = place, .args = args, .stdio = {-1, out, -1}};
    struct text_buf line = {0};
    int rc;

    snprintf(who, sizeof(who), "%016" PRIx64 ".%u", config->auth.session, node);
    rc = ops->announce(&launch);
    if (rc == 0 && ops->put_line != NULL) {
        ops->put_line(&line, launch.xylemd, words);
        args[0] = ep_run_host(all->cfg.plan, node);
        args[1] = line.at;
        rc = line.bad ? OV_ENOMEM : 0;
    }
    if (rc == 0)
        rc = ep_spawner_start(all->spawner, &proc);
    text_buf_fini(&line);
    return rc;
}

static bool has_spawner(struct run_sweeps *all);

static void start_sweep(struct run_sweeps *all, uint32_t place, uint32_t node)
{
    static const struct timeval limit = {SWEEP_S, 0};
    struct sweep *sweep = &all->places[place];
    int ends[2] = {-1, -1};
    int rc = OV_ESYS;

    if (!has_spawner(all)) {
        miss_host(all, node);
        return;
    }
    *sweep = (struct sweep){.all = all, .node = node};
    sweep->timer = evtimer_new(all->cfg.base, on_late, sweep);
    if (sweep->timer != NULL && evtimer_add(sweep->timer, &limit) == 0 &&
        pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0)
        rc = spawn_sweep(all, place, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    sweep->said = ends[0];
    all->running++;
    if (rc == 0 || rc == OV_ECLOSED) /* after OV_ECLOSED, on_lost() is called */
        return;
    all->running--;
    miss_host(all, node);
    if (sweep->timer != NULL)
        event_free(sweep->timer);
    if (ends[0] >= 0)
        close(ends[0]);
    *sweep = (struct sweep){.node = 0};
}

static void start_some(struct run_sweeps *all)
{
    for (uint32_t i = 0; i < AT_ONCE && all->next < all->count; i++) {
        if (all->places[i].node == 0 && !all->is_over)
            start_sweep(all, i, all->nodes[all->next++]);
    }
}

/* --- all sweeps */

static const struct ep_spawner_events events = {
    .on_started = on_started,
    .on_failed = on_failed,
    .on_exit = on_exit_,
    .on_ended = on_ended,
    .on_lost = on_lost,
};

/* Starts a spawner the first time, and once more after it has died. Returns
 * whether there is one. */
static bool has_spawner(struct run_sweeps *all)
{
    if (all->is_open)
        return all->spawner != NULL;
    all->is_open = true;
    if (ep_spawner_exec("/proc/self/exe", &all->spawner) != 0)
        all->spawner = NULL;
    else if (ep_spawner_attach(all->spawner, all->cfg.base, &events, all) !=
             0) {
        ep_spawner_close(all->spawner);
        all->spawner = NULL;
    }
    return all->spawner != NULL;
}

static bool grow_nodes(struct run_sweeps *all)
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

void ep_run_sweep(struct run_sweeps *all, uint32_t node)
{
    uint32_t first = first_node(all, node);

    if (!ops_of(all)->is_swept || all->is_swept[first])
        return;
    all->is_swept[first] = true;
    if (!grow_nodes(all)) {
        miss_host(all, first);
        return;
    }
    all->nodes[all->count++] = first;
    start_some(all);
}

/* Tells whether the daemon of a lost node is lost, too. A daemon of virtual
 * nodes may live although the tree has given up one of them. It ends that
 * node's processes itself, and a sweep would also end those of its other
 * nodes. */
static bool is_daemon_lost(const struct run_sweeps *all, uint32_t node)
{
    if (!ops_of(all)->is_here)
        return true;
    for (uint32_t n = first_node(all, node); n <= all->cfg.plan->nodes_count;
         n += all->cfg.daemons) {
        if (!all->cfg.is_lost(all->cfg.arg, n))
            return false;
    }
    return true;
}

void ep_run_sweep_lost(struct run_sweeps *all, uint32_t node)
{
    if (is_daemon_lost(all, node))
        ep_run_sweep(all, node);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct run_sweeps *all = arg;

    (void)fd;
    (void)what;
    all->is_over = true;
}

static void await_all(struct run_sweeps *all)
{
    static const struct timeval limit = {END_S, 0};
    const struct run_signals *signals = all->cfg.signals;
    uint32_t interrupts = ep_run_signals_interrupts(signals);

    all->limit = evtimer_new(all->cfg.base, on_limit, all);
    if (all->limit == NULL || evtimer_add(all->limit, &limit) != 0)
        return;
    while (all->running > 0 && !all->is_over &&
           ep_run_signals_interrupts(signals) == interrupts) {
        if (event_base_loop(all->cfg.base, EVLOOP_ONCE) != 0)
            return;
    }
}

char *ep_run_sweeps_end(struct run_sweeps *all)
{
    await_all(all);
    all->is_over = true;
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        if (all->places[i].node != 0)
            miss_host(all, all->places[i].node);
    }
    while (all->next < all->count)
        miss_host(all, all->nodes[all->next++]);
    return all->missed.count > 0
               ? topo_hosts_fold_short(&all->missed, HOSTS_BYTES)
               : NULL;
}

int ep_run_sweeps_open(const struct run_sweeps_cfg *cfg,
                       struct run_sweeps **out)
{
    struct run_sweeps *all = calloc(1, sizeof(*all));

    if (all == NULL)
        return OV_ENOMEM;
    all->cfg = *cfg;
    all->is_swept =
        calloc((size_t)cfg->plan->nodes_count + 1, sizeof(*all->is_swept));
    if (all->is_swept == NULL) {
        free(all);
        return OV_ENOMEM;
    }
    topo_hosts_init(&all->missed);
    *out = all;
    return 0;
}

void ep_run_sweeps_close(struct run_sweeps *all)
{
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
    free(all->is_swept);
    free(all->nodes);
    free(all);
}
