/* Starting the daemons and telling them where their parents listen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "endpoints/run/impl.h"
#include "overlay/base/err.h"

static bool is_local(const struct run *r)
{
    return r->config.launcher == EP_LAUNCHER_LOCAL;
}

/* The starter's index of the daemon that hosts a node: virtual nodes are dealt
 * out in turn, so that inner nodes are spread over the daemons. */
static uint32_t daemon_of(const struct run *r, uint32_t node)
{
    return is_local(r) ? (node - 1) % r->daemons_count : node;
}

/* --- addresses
 * */

/* Tells a daemon where `parent` listens, once that is known. */
static void tell(struct run *r, uint32_t index, uint32_t parent)
{
    struct ep_boot_peer peer;

    if (parent == 0)
        ep_hub_self(r->hub, &peer);
    else
        peer = r->daemons[daemon_of(r, parent)];
    if (peer.address[0] == '\0')
        return;
    peer.node = parent;
    ep_starter_peer(r->starter, index, &peer);
}

/* Virtual nodes: every daemon hears of the parents of its nodes when all are
 * ready. */
static void tell_virtual(struct run *r)
{
    const struct topo_tree *tree = &r->config.tree;

    if (r->daemons_ready < r->daemons_count || r->hub == NULL)
        return;
    for (uint32_t d = 0; d < r->daemons_count; d++) {
        uint32_t told = TOPO_NONE;

        for (uint32_t n = d + 1; n <= r->nodes_count; n += r->daemons_count) {
            uint32_t parent = topo_tree_parent(tree, n);

            if (parent != told)
                tell(r, d, parent);
            told = parent;
        }
    }
}

/* Started one by one from here: a node's children hear of it. */
static void tell_children(struct run *r, uint32_t node)
{
    struct topo_range kids = topo_tree_children(&r->config.tree, node);

    for (uint32_t child = kids.first; child <= kids.last; child++)
        tell(r, child, node);
}

void ep_run_daemons_connect(struct run *r)
{
    if (is_local(r))
        tell_virtual(r);
    else
        tell_children(r, 0);
    ep_hub_start(r->hub);
}

/* --- from the starter
 * */

static void on_ready(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    struct run *r = arg;

    r->daemons[index] = *peer;
    r->daemons_ready++;
    r->daemons_alive++;
    ep_run_note(r, "daemon %u of %u is ready at %s", r->daemons_ready,
                r->daemons_count, peer->address);
    if (is_local(r))
        tell_virtual(r);
    else if (r->config.no_tree_spawn)
        tell_children(r, index);
}

static void on_up(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    (void)arg;
    (void)index;
    (void)peer;
}

static void on_note(void *arg, uint32_t index, const char *text)
{
    struct run *r = arg;

    ep_run_note(r, "daemon %u: %s", index, text);
}

static void on_error(void *arg, uint32_t index, const char *text)
{
    struct run *r = arg;

    (void)index;
    if (r->phase >= RUN_LEAVING || r->is_killed)
        return;
    ep_run_say(r, "a daemon %s: %s",
               r->phase == RUN_LAUNCHING ? "does not come" : "has failed",
               text);
    ep_run_abort(r, 1);
}

static void on_stderr(void *arg, uint32_t index, const char *host,
                      const char *line)
{
    (void)index;
    ep_run_line(arg, host != NULL ? host : "xylemd", line);
}

static void on_exit_(void *arg, uint32_t index, int status)
{
    struct run *r = arg;

    r->daemons_alive--;
    if (r->phase == RUN_LAUNCHING) {
        ep_run_say(r, "the daemon on %s has ended (%s %d) before the job began",
                   is_local(r) ? r->host : ep_run_host(r, index),
                   WIFSIGNALED(status) ? "signal" : "exit status",
                   WIFSIGNALED(status) ? WTERMSIG(status)
                                       : WEXITSTATUS(status));
        ep_run_abort(r, 1);
    }
    if (r->phase == RUN_OVER && r->daemons_alive == 0)
        event_base_loopbreak(r->base);
}

static const struct ep_starter_events starter_events = {
    .on_ready = on_ready,
    .on_up = on_up,
    .on_note = on_note,
    .on_error = on_error,
    .on_stderr = on_stderr,
    .on_exit = on_exit_,
};

/* --- starting */

/* The configuration of one daemon, and its start. */
static int start_one(struct run *r, uint32_t index,
                     struct ep_boot_config *config, const char *host)
{
    struct ep_text text = {0};
    char why[EP_BOOT_WHY_MAX] = "out of memory";
    int rc = ep_boot_encode(config, &text, why);

    if (rc == 0)
        rc = ep_starter_add(r->starter, index, config->launcher, host, &text);
    ep_text_fini(&text);
    if (rc != 0)
        ep_run_say(r, "cannot start the daemon for %s: %s",
                   host != NULL ? host : "this machine", why);
    return rc;
}

static int start_virtual(struct run *r)
{
    int rc = 0;

    r->config.hosted_count = 0;
    for (uint32_t d = 0; rc == 0 && d < r->daemons_count; d++) {
        r->config.hosted_count = 0;
        for (uint32_t n = d + 1; rc == 0 && n <= r->nodes_count;
             n += r->daemons_count)
            rc = ep_boot_add_hosted(&r->config, (struct topo_range){n, n});
        if (rc == 0)
            rc = start_one(r, d, &r->config, NULL);
    }
    return rc;
}

static int start_remote(struct run *r, struct topo_range nodes)
{
    int rc = 0;

    for (uint32_t n = nodes.first; rc == 0 && n <= nodes.last; n++) {
        struct ep_boot_config config = {0};

        rc = ep_boot_config_child(&r->config, n, &config);
        if (rc == 0)
            rc = start_one(r, n, &config, ep_run_host(r, n));
        ep_boot_config_fini(&config);
    }
    return rc;
}

int ep_run_daemons_start(struct run *r)
{
    struct topo_range kids = topo_tree_children(&r->config.tree, 0);
    uint32_t top = r->nodes_count;
    struct ep_starter_cfg cfg = {
        .base = r->base,
        .spawner = r->spawner,
        .xylemd = r->config.xylemd,
        .rsh = r->config.rsh,
        .launch_timeout_ms = r->config.launch_timeout_ms,
        .events = &starter_events,
        .arg = r,
    };

    if (!is_local(r) && r->config.no_tree_spawn)
        kids = (struct topo_range){1, r->nodes_count};
    r->daemons_count = kids.last - kids.first + 1;
    if (is_local(r))
        r->daemons_count =
            (top + r->nodes_per_daemon - 1) / r->nodes_per_daemon;
    r->daemons = calloc((size_t)top + 1, sizeof(*r->daemons));
    if (r->daemons == NULL || ep_starter_open(&cfg, &r->starter)) {
        ep_run_say(r, "out of memory");
        return 1;
    }
    if (is_local(r) ? start_virtual(r) : start_remote(r, kids))
        return 1;
    return 0;
}

/* --- from the spawner
 * */

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    (void)arg;
    (void)proc;
    (void)pid;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    struct run *r = arg;

    ep_starter_failed(r->starter, proc, step, err);
}

static void on_exited(void *arg, uint32_t proc, int status)
{
    struct run *r = arg;

    ep_starter_exited(r->starter, proc, status);
}

static void on_ended(void *arg)
{
    (void)arg;
}

static void on_spawner_lost(void *arg)
{
    struct run *r = arg;

    ep_run_say(r, "the process that starts the daemons has died");
    ep_run_abort(r, 1);
}

const struct ep_spawner_events ep_run_spawner_events = {
    .on_started = on_started,
    .on_failed = on_failed,
    .on_exit = on_exited,
    .on_ended = on_ended,
    .on_lost = on_spawner_lost,
};
