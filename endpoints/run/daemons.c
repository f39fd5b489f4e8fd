/* Starting the daemons and telling them where their ancestors listen. */
#include "endpoints/run/daemons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/loss.h"
#include "endpoints/run/losses.h"
#include "endpoints/run/missing.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

/* The starter's index of the srun that starts all daemons: node 0 has none. */
enum { SRUN = 0 };

static bool is_local(const struct run *r)
{
    return ep_launcher_ops(r->plan.config.launcher)->is_here;
}

static bool is_slurm(const struct run *r)
{
    return ep_launcher_ops(r->plan.config.launcher)->is_for_all;
}

/* The starter's index of the daemon that hosts a node: virtual nodes are dealt
 * out in turn, so that inner nodes are spread over the daemons. */
static uint32_t daemon_of(const struct run *r, uint32_t node)
{
    return is_local(r) ? (node - 1) % r->launch.count : node;
}

/* --- addresses
 * */

/* Tells a daemon where `node` listens. */
static void tell(struct run *r, uint32_t index, uint32_t node)
{
    struct ep_boot_peer peer;

    if (node == 0)
        ep_hub_self(r->hub, &peer);
    else
        peer = r->launch.daemons[daemon_of(r, node)];
    peer.node = node;
    ep_starter_peer(r->launch.starter, index, &peer);
}

/* The ancestors of all nodes of a daemon, each once; told[n] is `mark` when n
 * was told. */
static void tell_ancestors(struct run *r, uint32_t index, uint32_t *told)
{
    const struct topo_tree *tree = &r->plan.config.tree;
    uint32_t mark = index + 1;

    for (uint32_t n = index + 1; n <= r->plan.nodes_count;
         n += r->launch.count) {
        uint32_t above = n;

        do {
            above = topo_tree_parent(tree, above);
            if (told[above] == mark)
                break;
            told[above] = mark;
            tell(r, index, above);
        } while (above != 0);
    }
}

/* Virtual nodes: every daemon hears of the ancestors of its nodes when all are
 * ready. */
static void tell_virtual(struct run *r)
{
    uint32_t *told;

    if (r->launch.ready < r->launch.count || r->hub == NULL)
        return;
    told = calloc(r->plan.config.tree.nodes, sizeof(*told));
    if (told == NULL) {
        ep_voice_say(&r->voice, "out of memory");
        ep_run_abort(r, 1);
        return;
    }
    for (uint32_t d = 0; d < r->launch.count; d++)
        tell_ancestors(r, d, told);
    free(told);
}

/* Daemons of one node each, started by us: all beneath a node hear of it, also
 * those that are still to be started. */
static void tell_beneath(struct run *r, uint32_t node)
{
    const struct topo_tree *tree = &r->plan.config.tree;
    struct topo_range level = topo_tree_children(tree, node);

    while (level.first <= level.last) {
        for (uint32_t n = level.first; n <= level.last; n++)
            tell(r, n, node);
        level = topo_tree_below(tree, level);
    }
}

/* Started by us, the others hear of us from these. */
static void tell_children(struct run *r)
{
    struct topo_range kids = topo_tree_children(&r->plan.config.tree, 0);

    for (uint32_t child = kids.first; child <= kids.last; child++)
        tell(r, child, 0);
}

void ep_run_daemons_connect(struct run *r)
{
    if (is_local(r))
        tell_virtual(r);
    else if (ep_run_starts_all(&r->plan))
        tell_beneath(r, 0);
    else
        tell_children(r);
    ep_hub_start(r->hub);
}

/* --- from the starter
 * */

static void on_ready(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    struct run *r = arg;

    r->launch.daemons[index] = *peer;
    r->launch.ready++;
    r->launch.alive++;
    ep_voice_note(&r->voice, "daemon %u of %u is ready at %s", r->launch.ready,
                  r->launch.count, peer->address);
    if (is_local(r))
        tell_virtual(r);
    else if (ep_run_starts_all(&r->plan))
        tell_beneath(r, index);
}

static void on_note(void *arg, uint32_t index, uint32_t node, const char *text)
{
    struct run *r = arg;

    (void)index;
    if (node > 0 && node <= r->plan.nodes_count)
        ep_voice_note(&r->voice, "the daemon of node %u on %s: %s",
                      ep_run_place(&r->plan, node), ep_run_host(&r->plan, node),
                      text);
}

/* The daemon that says so is known by its host, which others that pass it on
 * have put before its words, or as one of virtual nodes. */
static void tell_failed(struct run *r, uint32_t index, const char *text)
{
    uint32_t *nodes = calloc(r->plan.nodes_count, sizeof(*nodes));
    uint32_t count = 0, place = TOPO_NONE;

    if (!is_local(r))
        text = ep_run_missing_host(&r->plan, text, &place);
    for (uint32_t n = 1; nodes != NULL && n <= r->plan.nodes_count; n++) {
        if (is_local(r) ? daemon_of(r, n) == index
                        : ep_run_place(&r->plan, n) == place)
            nodes[count++] = n;
    }
    ep_run_losses_failed(&r->plan, nodes, count, text);
    free(nodes);
}

/* `first`: why another one had failed to start it before, or NULL. */
static void on_unreached(void *arg, uint32_t index, uint32_t time_ms,
                         const char *text, const char *first)
{
    struct run *r = arg;

    (void)time_ms;
    if (is_slurm(r) && index == SRUN)
        r->launch.alive--;
    if (r->session.state > JOB_SESSION_RUNNING)
        return;
    if (r->session.state == JOB_SESSION_LAUNCHING) {
        ep_run_missing_add(r->launch.missing, index, text, first);
        return;
    }
    tell_failed(r, index, text);
    if (!ep_run_bears_loss(r))
        ep_run_abort(r, 1);
}

static void on_error(void *arg, uint32_t index, const char *text)
{
    on_unreached(arg, index, 0, text, NULL);
}

/* srun says so. */
static void on_missing(void *arg, uint32_t index, const char *host,
                       enum ep_srun_end end, const char *text)
{
    struct run *r = arg;

    (void)index;
    if (r->session.state == JOB_SESSION_LAUNCHING)
        ep_run_missing_task(r->launch.missing, host, end, text);
}

static bool is_beneath(const struct run *r, uint32_t above, uint32_t node)
{
    return node < r->plan.config.tree.nodes && above != node && above != 0 &&
           topo_tree_contains(&r->plan.config.tree, above, node);
}

static void on_peer(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    struct run *r = arg;

    if (is_beneath(r, index, peer->node))
        r->launch.daemons[peer->node] = *peer;
}

/* No shell gets there from its parent, nor from those between. */
static void on_start(void *arg, uint32_t index, uint32_t node, uint32_t time_ms,
                     const char *text)
{
    struct run *r = arg;
    char why[EP_BOOT_WHY_MAX];
    uint32_t above = node;

    if (r->session.state != JOB_SESSION_LAUNCHING ||
        !is_beneath(r, index, node))
        return;
    ep_voice_note(&r->voice, "started from here: the daemon of node %u on %s",
                  ep_run_place(&r->plan, node), ep_run_host(&r->plan, node));
    if (ep_starter_take_over(r->launch.starter, &r->plan.config, node, time_ms,
                             text, why) != 0) {
        ep_run_missing_add(r->launch.missing, node, why, text);
        return;
    }
    r->launch.count++;
    do {
        above = topo_tree_parent(&r->plan.config.tree, above);
        if (above == 0 || r->launch.daemons[above].address[0] != '\0')
            tell(r, node, above);
    } while (above != 0);
}

/* What srun has said before all had come is of interest when they do not; what
 * it says of an end that we have ordered never is. */
static void on_srun_line(struct run *r, const char *line)
{
    if (r->options.verbose ||
        (!r->launch.is_recalled && !r->launch.is_arriving &&
         r->session.state != JOB_SESSION_LEAVING &&
         !ep_run_missing_is_told(r->launch.missing)))
        ep_voice_line(&r->voice, ep_launcher_ops(r->plan.config.launcher)->name,
                      line);
}

static void on_stderr(void *arg, uint32_t index, const char *host,
                      const char *line)
{
    struct run *r = arg;

    if (is_slurm(r) && index == SRUN)
        on_srun_line(r, line);
    else
        ep_voice_line(&r->voice, host != NULL ? host : "xylemd", line);
}

static void tell_early_end(struct run *r, uint32_t index, int status)
{
    char text[128] = "its daemon has ended before the job began";

    if (status != EP_STARTER_HUNG_UP)
        snprintf(text, sizeof(text),
                 "its daemon has ended (%s %d) before the job began",
                 WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    ep_run_missing_ended(r->launch.missing, index, text);
}

static void on_exit_(void *arg, uint32_t index, int status)
{
    struct run *r = arg;

    r->launch.alive--;
    if (r->session.state == JOB_SESSION_LAUNCHING)
        tell_early_end(r, index, status);
    if (r->session.state == JOB_SESSION_OVER && r->launch.alive == 0)
        event_base_loopbreak(r->base);
}

static void on_spawner_lost(void *arg)
{
    struct run *r = arg;

    ep_voice_say(&r->voice, "the process that starts the daemons has died");
    r->launch.alive = 0;
    r->launch.is_unknown = true;
    ep_run_abort(r, 1);
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

static int failed(struct run *r, const char *host, const char *why)
{
    ep_voice_say(&r->voice, "cannot start the daemon for %s: %s", host, why);
    return 1;
}

static int start_virtual(struct run *r)
{
    char why[EP_BOOT_WHY_MAX] = "out of memory";
    int rc = 0;

    for (uint32_t d = 0; rc == 0 && d < r->launch.count; d++) {
        r->plan.config.hosted_count = 0;
        for (uint32_t n = d + 1; rc == 0 && n <= r->plan.nodes_count;
             n += r->launch.count)
            rc = ep_boot_add_hosted(&r->plan.config, (struct topo_range){n, n});
        if (rc == 0)
            rc = ep_starter_add_config(r->launch.starter, d, &r->plan.config,
                                       NULL, why);
    }
    return rc == 0 ? 0 : failed(r, "this machine", why);
}

static int start_remote(struct run *r, struct topo_range nodes)
{
    char why[EP_BOOT_WHY_MAX];

    for (uint32_t n = nodes.first; n <= nodes.last; n++) {
        if (ep_starter_add_child(r->launch.starter, &r->plan.config, n, why))
            return failed(r, ep_run_host(&r->plan, n), why);
    }
    return 0;
}

static void on_call(void *arg, uint32_t node, int fd)
{
    struct run *r = arg;

    (void)ep_starter_called(r->launch.starter, node, fd);
}

static int open_gate(struct run *r)
{
    struct ep_gate_cfg cfg = {
        .base = r->base,
        .auth = &r->plan.config.auth,
        .any_port = true,
        .port_first = r->plan.config.port_first,
        .port_last = r->plan.config.port_last,
        .on_call = on_call,
        .arg = r,
    };
    char why[EP_WHY_MAX];

    if (ep_gate_open(&cfg, &r->launch.gate, why)) {
        ep_voice_say(&r->voice, "%s", why);
        return 1;
    }
    return ep_gate_list(r->launch.gate, &r->plan.config) == 0
               ? 0
               : ep_voice_fail(&r->voice,
                               "the system does not list its addresses");
}

/* One srun starts them all; those of our children call. */
static int start_slurm(struct run *r, struct topo_range kids)
{
    char why[EP_BOOT_WHY_MAX] = "out of memory";
    int rc = open_gate(r);

    if (rc != 0)
        return rc;
    for (uint32_t n = kids.first; rc == 0 && n <= kids.last; n++)
        rc = ep_starter_expect(r->launch.starter, n, r->plan.config.launcher,
                               ep_run_host(&r->plan, n));
    if (rc == 0)
        rc = ep_starter_add_all(r->launch.starter, SRUN, &r->plan.config, why);
    if (rc != 0)
        return failed(r, "all hosts", why);
    r->launch.alive++;
    return 0;
}

void ep_run_daemons_joined(struct run *r)
{
    if (is_local(r)) /* else each daemon does so on its host */
        (void)ep_spawner_sweep(r->spawner);
    if (!is_slurm(r))
        return;
    r->launch.is_arriving = true;
    ep_starter_arrived(r->launch.starter, SRUN);
    r->launch.is_arriving = false;
    ep_gate_close(r->launch.gate);
    r->launch.gate = NULL;
}

/* --- who does not come
 * */

static void on_settled(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if (r->session.state != JOB_SESSION_LAUNCHING)
        return;
    ep_run_missing_settled(r->launch.missing);
    ep_run_abort(r, 1);
}

static void launch_failed(void *arg)
{
    ep_run_abort(arg, 1);
}

static void settle(void *arg, uint32_t after_ms)
{
    struct timeval wait = {after_ms / 1000, after_ms % 1000 * 1000};
    struct run *r = arg;

    if (r->launch.settle == NULL)
        r->launch.settle = evtimer_new(r->base, on_settled, r);
    if (r->launch.settle == NULL || evtimer_add(r->launch.settle, &wait) != 0)
        ep_run_abort(r, 1);
}

int ep_run_daemons_start(struct run *r)
{
    static const struct run_missing_events missing_events = {
        .settle = settle,
        .failed = launch_failed,
    };
    struct topo_range kids = ep_run_started_here(&r->plan);
    uint32_t top = r->plan.nodes_count;
    struct ep_starter_cfg cfg = {
        .base = r->base,
        .spawner = r->spawner,
        .xylemd = r->plan.config.xylemd,
        .rsh = r->plan.config.rsh,
        .launch_timeout_ms = r->plan.config.launch_timeout_ms,
        .max_parallel = r->plan.daemons_parallel,
        .events = &starter_events,
        .arg = r,
    };

    r->launch.count = ep_run_daemons(&r->plan);
    if (r->launch.count < cfg.max_parallel && !is_local(r))
        cfg.max_parallel = r->launch.count;
    r->launch.daemons = calloc((size_t)top + 1, sizeof(*r->launch.daemons));
    if (r->launch.daemons == NULL ||
        ep_run_missing_open(&r->plan, &missing_events, r, &r->launch.missing) ||
        ep_run_loss_open(r) || ep_starter_open(&cfg, &r->launch.starter) ||
        ep_starter_attach(r->launch.starter)) {
        ep_voice_say(&r->voice, "out of memory");
        return 1;
    }
    if (is_slurm(r))
        return start_slurm(r, kids);
    return is_local(r) ? start_virtual(r) : start_remote(r, kids);
}
