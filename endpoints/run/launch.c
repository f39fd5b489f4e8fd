/* Starts daemons, and tells them where their ancestors listen. */
#include "endpoints/run/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <event2/event.h>

#include "endpoints/boot/gate.h"
#include "endpoints/boot/launcher.h"
#include "endpoints/boot/starter.h"
#include "endpoints/run/losses.h"
#include "endpoints/run/missing.h"
#include "endpoints/run/plan.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

struct run_launch {
    struct run_launch_cfg cfg;
    struct ep_starter *starter;
    /* for slurm: the port at which daemons connect until all have joined */
    struct ep_gate *gate;
    /* the daemons' addresses, by starter index; "" when not known */
    struct ep_boot_peer *daemons;
    uint32_t count; /* how many daemons the launcher itself starts */
    uint32_t ready, alive;
    struct run_missing *missing; /* owned: daemons that do not connect */
    struct event *settle; /* fires when no daemon has failed for a while */
    bool is_connected;    /* whether the launcher listens */
    bool is_recalled;     /* whether the daemons were told to end */
    bool is_deaf;         /* whether the spawner has died */
    bool is_arriving;     /* whether ep_starter_arrived() is being called */
};

/* The starter's index of the srun that starts all daemons. No daemon has this
 * index, as node 0 is the launcher. */
enum { SRUN = 0 };

static bool is_local(const struct run_launch *l)
{
    return ep_launcher_ops(l->cfg.plan->config.launcher)->is_here;
}

static void fail_launch(const struct run_launch *l)
{
    l->cfg.events->failed(l->cfg.arg);
}

static bool is_slurm(const struct run_launch *l)
{
    return ep_launcher_ops(l->cfg.plan->config.launcher)->is_for_all;
}

/* Returns the starter's index of the daemon that hosts a node. Virtual nodes go
 * to the daemons in turn, so that inner nodes are spread over all daemons. */
static uint32_t daemon_of(const struct run_launch *l, uint32_t node)
{
    return is_local(l) ? (node - 1) % l->count : node;
}

/* --- telling daemons where others listen */

/* Tells a daemon where `node` listens. */
static void tell_address(struct run_launch *l, uint32_t index, uint32_t node)
{
    struct ep_boot_peer peer;

    if (node == 0)
        l->cfg.events->self(l->cfg.arg, &peer);
    else
        peer = l->daemons[daemon_of(l, node)];
    peer.node = node;
    ep_starter_peer(l->starter, index, &peer);
}

/* Tells a daemon where the ancestors of all its nodes listen, each ancestor
 * once. told[n] is set to `mark` when node n was told. */
static void tell_ancestors(struct run_launch *l, uint32_t index, uint32_t *told)
{
    const struct topo_tree *tree = &l->cfg.plan->config.tree;
    uint32_t mark = index + 1;

    for (uint32_t n = index + 1; n <= l->cfg.plan->nodes_count; n += l->count) {
        uint32_t above = n;

        do {
            above = topo_tree_parent(tree, above);
            if (told[above] == mark)
                break;
            told[above] = mark;
            tell_address(l, index, above);
        } while (above != 0);
    }
}

/* For virtual nodes: tells every daemon where the ancestors of its nodes
 * listen, once all daemons are ready. */
static void tell_virtual(struct run_launch *l)
{
    uint32_t *told;

    if (l->ready < l->count || !l->is_connected)
        return;
    told = calloc(l->cfg.plan->config.tree.nodes, sizeof(*told));
    if (told == NULL) {
        ep_voice_say(l->cfg.plan->voice, "out of memory");
        fail_launch(l);
        return;
    }
    for (uint32_t d = 0; d < l->count; d++)
        tell_ancestors(l, d, told);
    free(told);
}

/* For daemons that host one node each and are all started by the launcher:
 * tells all daemons beneath `node` where that node listens. A daemon that is
 * yet to be started is told later. */
static void tell_beneath(struct run_launch *l, uint32_t node)
{
    const struct topo_tree *tree = &l->cfg.plan->config.tree;
    struct topo_range level = topo_tree_children(tree, node);

    while (level.first <= level.last) {
        for (uint32_t n = level.first; n <= level.last; n++)
            tell_address(l, n, node);
        level = topo_tree_below(tree, level);
    }
}

/* Tells the daemons that the launcher has started where the launcher listens;
 * these daemons tell the others. */
static void tell_children(struct run_launch *l)
{
    struct topo_range kids = topo_tree_children(&l->cfg.plan->config.tree, 0);

    for (uint32_t child = kids.first; child <= kids.last; child++)
        tell_address(l, child, 0);
}

void ep_run_launch_connect(struct run_launch *launch)
{
    launch->is_connected = true;
    if (is_local(launch))
        tell_virtual(launch);
    else if (ep_run_starts_all(launch->cfg.plan))
        tell_beneath(launch, 0);
    else
        tell_children(launch);
}

/* --- what the starter reports */

static void on_ready(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    struct run_launch *l = arg;

    l->daemons[index] = *peer;
    l->ready++;
    l->alive++;
    ep_voice_note(l->cfg.plan->voice, "daemon %u of %u is ready at %s",
                  l->ready, l->count, peer->address);
    if (is_local(l))
        tell_virtual(l);
    else if (ep_run_starts_all(l->cfg.plan))
        tell_beneath(l, index);
}

static void on_note(void *arg, uint32_t index, uint32_t node, const char *text)
{
    struct run_launch *l = arg;
    char words[EP_BOOT_TEXT_MAX];

    (void)index;
    if (node == 0 || node > l->cfg.plan->nodes_count)
        return;
    ep_run_name_nodes(l->cfg.plan, text, words, sizeof(words));
    ep_voice_note(l->cfg.plan->voice, "the daemon of node %u on %s: %s",
                  ep_run_place(l->cfg.plan, node),
                  ep_run_host(l->cfg.plan, node), words);
}

/* Reports that a daemon has failed. Which one it is follows from its virtual
 * nodes, or from the host that `text` begins with; the daemons that pass the
 * message on have put the host there. */
static void tell_failed(struct run_launch *l, uint32_t index, const char *text)
{
    uint32_t *nodes = calloc(l->cfg.plan->nodes_count, sizeof(*nodes));
    uint32_t count = 0, place = TOPO_NONE;

    if (!is_local(l))
        text = ep_run_missing_host(l->cfg.plan, text, &place);
    for (uint32_t n = 1; nodes != NULL && n <= l->cfg.plan->nodes_count; n++) {
        if (is_local(l) ? daemon_of(l, n) == index
                        : ep_run_place(l->cfg.plan, n) == place)
            nodes[count++] = n;
    }
    ep_run_losses_failed(l->cfg.plan, nodes, count, text);
    free(nodes);
}

/* A daemon cannot be started. `first`: the error of its parent, which had tried
 * to start it before; NULL when it had not. */
static void on_unreached(void *arg, uint32_t index, uint32_t time_ms,
                         const char *text, const char *first)
{
    struct run_launch *l = arg;

    (void)time_ms;
    if (is_slurm(l) && index == SRUN)
        l->alive--;
    if (l->cfg.session->state > JOB_SESSION_RUNNING)
        return;
    if (l->cfg.session->state == JOB_SESSION_LAUNCHING) {
        ep_run_missing_add(l->missing, index, text, first);
        return;
    }
    tell_failed(l, index, text);
    l->cfg.events->on_broken(l->cfg.arg);
}

static void on_error(void *arg, uint32_t index, const char *text)
{
    on_unreached(arg, index, 0, text, NULL);
}

/* srun reports that a daemon has ended without connecting. */
static void on_missing(void *arg, uint32_t index, const char *host,
                       enum ep_srun_end end, const char *text)
{
    struct run_launch *l = arg;

    (void)index;
    if (l->cfg.session->state == JOB_SESSION_LAUNCHING)
        ep_run_missing_task(l->missing, host, end, text);
}

static bool is_beneath(const struct run_launch *l, uint32_t above,
                       uint32_t node)
{
    return node < l->cfg.plan->config.tree.nodes && above != node &&
           above != 0 &&
           topo_tree_contains(&l->cfg.plan->config.tree, above, node);
}

static void on_peer(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    struct run_launch *l = arg;

    if (is_beneath(l, index, peer->node))
        l->daemons[peer->node] = *peer;
}

/* Neither the node's parent nor the daemons above it can start the daemon, so
 * the launcher tries. */
static void on_start(void *arg, uint32_t index, uint32_t node, uint32_t time_ms,
                     const char *text)
{
    struct run_launch *l = arg;
    char why[EP_BOOT_WHY_MAX];
    uint32_t above = node;

    if (l->cfg.session->state != JOB_SESSION_LAUNCHING ||
        !is_beneath(l, index, node))
        return;
    ep_voice_note(l->cfg.plan->voice,
                  "the launcher itself starts the daemon of node %u on %s",
                  ep_run_place(l->cfg.plan, node),
                  ep_run_host(l->cfg.plan, node));
    if (ep_starter_take_over(l->starter, &l->cfg.plan->config, node, time_ms,
                             text, why) != 0) {
        ep_run_missing_add(l->missing, node, why, text);
        return;
    }
    l->count++;
    do {
        above = topo_tree_parent(&l->cfg.plan->config.tree, above);
        if (above == 0 || l->daemons[above].address[0] != '\0')
            tell_address(l, node, above);
    } while (above != 0);
}

/* Shows srun's output while daemons are missing, as it may explain why. Output
 * of an srun that was told to end explains nothing. */
static void on_srun_line(struct run_launch *l, const char *line)
{
    if (l->cfg.plan->options->verbose ||
        (!l->is_recalled && !l->is_arriving &&
         l->cfg.session->state != JOB_SESSION_LEAVING &&
         !ep_run_missing_is_told(l->missing)))
        ep_voice_line(l->cfg.plan->voice,
                      ep_launcher_ops(l->cfg.plan->config.launcher)->name,
                      line);
}

static void on_stderr(void *arg, uint32_t index, const char *host,
                      const char *line)
{
    struct run_launch *l = arg;

    if (is_slurm(l) && index == SRUN)
        on_srun_line(l, line);
    else
        ep_voice_line(l->cfg.plan->voice, host != NULL ? host : "xylemd", line);
}

static void tell_early_end(struct run_launch *l, uint32_t index, int status)
{
    char text[128] = "it ended before the job began";

    if (status != EP_STARTER_HUNG_UP)
        snprintf(text, sizeof(text), "it ended (%s %d) before the job began",
                 WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    ep_run_missing_ended(l->missing, index, text);
}

static void on_exit_(void *arg, uint32_t index, int status)
{
    struct run_launch *l = arg;

    l->alive--;
    if (l->cfg.session->state == JOB_SESSION_LAUNCHING)
        tell_early_end(l, index, status);
    if (l->alive == 0)
        l->cfg.events->on_gone(l->cfg.arg);
}

static void on_spawner_lost(void *arg)
{
    struct run_launch *l = arg;

    ep_voice_say(
        l->cfg.plan->voice,
        "xylem's process that starts the daemons has died; the job ends");
    l->alive = 0;
    l->is_deaf = true;
    fail_launch(l);
}

static const struct ep_starter_events starter_events = {
    .on_ready = on_ready,
    .on_note = on_note,
    .on_error = on_error,
    .on_unreached = on_unreached,
    .on_missing = on_missing,
    .on_peer = on_peer,
    .on_start = on_start,
    .on_stderr = on_stderr,
    .on_exit = on_exit_,
    .on_lost = on_spawner_lost,
};

/* --- starting */

static int failed(struct run_launch *l, const char *host, const char *why)
{
    ep_voice_say(l->cfg.plan->voice, "cannot start the daemon on %s: %s", host,
                 why);
    return 1;
}

static int start_virtual(struct run_launch *l)
{
    char why[EP_BOOT_WHY_MAX] = "out of memory";
    int rc = 0;

    for (uint32_t d = 0; rc == 0 && d < l->count; d++) {
        l->cfg.plan->config.hosted_count = 0;
        for (uint32_t n = d + 1; rc == 0 && n <= l->cfg.plan->nodes_count;
             n += l->count)
            rc = ep_boot_add_hosted(&l->cfg.plan->config,
                                    (struct topo_range){n, n});
        if (rc == 0)
            rc = ep_starter_add_config(l->starter, d, &l->cfg.plan->config,
                                       NULL, why);
    }
    return rc == 0 ? 0 : failed(l, "this machine", why);
}

static int start_remote(struct run_launch *l, struct topo_range nodes)
{
    char why[EP_BOOT_WHY_MAX];

    for (uint32_t n = nodes.first; n <= nodes.last; n++) {
        if (ep_starter_add_child(l->starter, &l->cfg.plan->config, n, why))
            return failed(l, ep_run_host(l->cfg.plan, n), why);
    }
    return 0;
}

static void on_call(void *arg, uint32_t node, int fd)
{
    struct run_launch *l = arg;

    (void)ep_starter_called(l->starter, node, fd);
}

static int open_gate(struct run_launch *l)
{
    struct ep_gate_cfg cfg = {
        .base = l->cfg.base,
        .auth = &l->cfg.plan->config.auth,
        .any_port = true,
        .port_first = l->cfg.plan->config.port_first,
        .port_last = l->cfg.plan->config.port_last,
        .on_call = on_call,
        .arg = l,
    };
    char why[EP_WHY_MAX];

    if (ep_gate_open(&cfg, &l->gate, why)) {
        ep_voice_say(l->cfg.plan->voice, "%s", why);
        return 1;
    }
    return ep_gate_list(l->gate, &l->cfg.plan->config) == 0
               ? 0
               : ep_voice_fail(
                     l->cfg.plan->voice,
                     "cannot list the network addresses of this host");
}

/* Starts one srun, which starts all daemons. Those that are the launcher's
 * children connect to the gate. */
static int start_slurm(struct run_launch *l, struct topo_range kids)
{
    char why[EP_BOOT_WHY_MAX] = "out of memory";
    int rc = open_gate(l);

    if (rc != 0)
        return rc;
    for (uint32_t n = kids.first; rc == 0 && n <= kids.last; n++)
        rc = ep_starter_expect(l->starter, n, l->cfg.plan->config.launcher,
                               ep_run_host(l->cfg.plan, n));
    if (rc == 0)
        rc = ep_starter_add_all(l->starter, SRUN, &l->cfg.plan->config, why);
    if (rc != 0)
        return failed(l, "all hosts", why);
    l->alive++;
    return 0;
}

void ep_run_launch_joined(struct run_launch *launch)
{
    /* with other launchers each daemon sweeps its own host */
    if (is_local(launch))
        (void)ep_spawner_sweep(launch->cfg.spawner);
    if (!is_slurm(launch))
        return;
    launch->is_arriving = true;
    ep_starter_arrived(launch->starter, SRUN);
    launch->is_arriving = false;
    ep_gate_close(launch->gate);
    launch->gate = NULL;
}

/* --- daemons that do not connect */

static void on_settled(evutil_socket_t fd, short what, void *arg)
{
    struct run_launch *l = arg;

    (void)fd;
    (void)what;
    if (l->cfg.session->state != JOB_SESSION_LAUNCHING)
        return;
    ep_run_missing_settled(l->missing);
    fail_launch(l);
}

static void launch_failed(void *arg)
{
    fail_launch(arg);
}

static void settle(void *arg, uint32_t after_ms)
{
    struct timeval wait = {after_ms / 1000, after_ms % 1000 * 1000};
    struct run_launch *l = arg;

    if (l->settle == NULL)
        l->settle = evtimer_new(l->cfg.base, on_settled, l);
    if (l->settle == NULL || evtimer_add(l->settle, &wait) != 0)
        fail_launch(l);
}

static int open_all(struct run_launch *l)
{
    static const struct run_missing_events missing_events = {
        .settle = settle,
        .failed = launch_failed,
    };
    struct run_plan *plan = l->cfg.plan;
    struct ep_starter_cfg cfg = {
        .base = l->cfg.base,
        .spawner = l->cfg.spawner,
        .xylemd = plan->config.xylemd,
        .rsh = plan->config.rsh,
        .launch_timeout_ms = plan->config.launch_timeout_ms,
        .max_parallel = plan->daemons_parallel,
        .events = &starter_events,
        .arg = l,
    };

    l->count = ep_run_daemons(plan);
    if (l->count < cfg.max_parallel && !is_local(l))
        cfg.max_parallel = l->count;
    l->daemons = calloc((size_t)plan->nodes_count + 1, sizeof(*l->daemons));
    if (l->daemons == NULL ||
        ep_run_missing_open(plan, &missing_events, l, &l->missing) ||
        ep_starter_open(&cfg, &l->starter))
        return OV_ENOMEM;
    return ep_starter_attach(l->starter);
}

static int start_all(struct run_launch *l, struct topo_range kids)
{
    if (is_slurm(l))
        return start_slurm(l, kids);
    return is_local(l) ? start_virtual(l) : start_remote(l, kids);
}

/* ep_starter_begin() lets the daemons load their programs while the launcher
 * opens its own part. This is done only if there is a processor for each daemon
 * and one for the launcher: measured on two processors, a launch of one node
 * takes a tenth less time with it, and one of two daemons a few percent
 * more. */
int ep_run_launch_open(const struct run_launch_cfg *cfg,
                       struct run_launch **out)
{
    struct run_launch *l = calloc(1, sizeof(*l));
    int rc;

    *out = l;
    if (l != NULL)
        l->cfg = *cfg;
    if (l == NULL || open_all(l) != 0)
        return ep_voice_fail(cfg->plan->voice, "out of memory");
    rc = start_all(l, ep_run_started_here(cfg->plan));
    if (rc == 0 && !is_slurm(l) && l->count < cfg->plan->room.processors)
        ep_starter_begin(l->starter);
    return rc;
}

void ep_run_launch_close(struct run_launch *launch)
{
    if (launch == NULL)
        return;
    ep_gate_close(launch->gate);
    ep_starter_close(launch->starter);
    if (launch->settle != NULL)
        event_free(launch->settle);
    ep_run_missing_close(launch->missing);
    free(launch->daemons);
    free(launch);
}

void ep_run_launch_lost(struct run_launch *launch, uint32_t node)
{
    ep_run_missing_add(launch->missing, node,
                       "it was lost before the job began", NULL);
}

void ep_run_launch_leave(struct run_launch *launch)
{
    launch->is_recalled = true;
    if (launch->starter != NULL)
        ep_starter_leave(launch->starter);
}

bool ep_run_launch_misses(const struct run_launch *launch)
{
    return ep_run_missing_are_some(launch->missing);
}

bool ep_run_launch_has_tried(const struct run_launch *launch, uint32_t node)
{
    const struct run_plan *plan = launch->cfg.plan;
    uint32_t parent = topo_tree_parent(&plan->config.tree, node);

    return is_local(launch) || is_slurm(launch) || ep_run_starts_all(plan) ||
           parent == 0 || launch->daemons[parent].address[0] != '\0' ||
           ep_run_missing_has(launch->missing, node);
}

bool ep_run_launch_is_alive(const struct run_launch *launch)
{
    return launch->alive > 0;
}

bool ep_run_launch_is_deaf(const struct run_launch *launch)
{
    return launch->is_deaf;
}
