/* A daemon's way from its configuration into the tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/daemon/impl.h"
#include "endpoints/hub/session.h"
#include "overlay/base/err.h"

/* Reports an error to the starter, and ends the daemon. */
static void refuse(struct daemon *d, const char *words)
{
    ep_daemon_error(d, words);
    ep_daemon_stop(d, DAEMON_QUITS);
}

/* --- the daemons beneath */

static void on_ready(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    struct daemon *d = arg;

    (void)index;
    ep_daemon_learn(d, peer);
    d->below.count++;
    ep_daemon_awaited(d);
}

static void on_note(void *arg, uint32_t index, uint32_t node, const char *text)
{
    (void)index;
    ep_daemon_note(arg, node, text);
}

static void on_error(void *arg, uint32_t index, const char *text)
{
    (void)index;
    ep_daemon_error(arg, text);
}

static void on_stderr(void *arg, uint32_t index, const char *host,
                      const char *line)
{
    (void)arg;
    (void)index;
    fprintf(stderr, "%s: %s\n", host, line);
}

/* When a daemon that has joined the tree is lost, the tree notices that; here
 * only its remote shell may have died. */
static void on_exit_(void *arg, uint32_t index, int status)
{
    struct daemon *d = arg;
    char words[EP_BOOT_TEXT_MAX];

    d->below.count--;
    if (d->end == DAEMON_STAYS) {
        const char *host = ep_boot_host(&d->config, index);

        if (status == EP_STARTER_HUNG_UP)
            snprintf(words, sizeof(words), "%s: " EP_BOOT_HUNG_UP, host);
        else
            snprintf(
                words, sizeof(words), "%s: the remote shell has ended (%s %d)",
                host, WIFSIGNALED(status) ? "signal" : "exit status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        if (d->has_begun)
            ep_daemon_note(d, index, words);
        else
            ep_daemon_error(d, words);
    }
    ep_daemon_check_gone(d);
}

static void on_shells_lost(void *arg)
{
    static const char words[] =
        "xylem's process that starts further daemons has died";
    struct daemon *d = arg;

    d->below.count = 0;
    d->below.is_lost = true;
    if (d->has_begun)
        ep_daemon_note(d, d->numbers[0], words);
    else
        refuse(d, words);
    ep_daemon_check_gone(d);
}

static const struct ep_starter_events starter_events = {
    .on_ready = on_ready,
    .on_note = on_note,
    .on_error = on_error,
    .on_unreached = ep_daemon_on_unreached,
    .on_peer = ep_daemon_on_beneath,
    .on_start = ep_daemon_on_start,
    .on_stderr = on_stderr,
    .on_exit = on_exit_,
    .on_lost = on_shells_lost,
};

static int start_shells(struct daemon *d, struct topo_range kids)
{
    char why[EP_BOOT_WHY_MAX];
    int rc = ep_starter_attach(d->below.starter);

    for (uint32_t child = kids.first; rc == 0 && child <= kids.last; child++)
        rc = ep_starter_add_child(d->below.starter, &d->config, child, why);
    return rc;
}

/* Starts the daemons of our children while we open the fabric, or waits for
 * those that another process starts. They get our address as soon as we know
 * it. */
static int start_children(struct daemon *d, char *why)
{
    struct topo_range kids = topo_tree_children(&d->config.tree, d->numbers[0]);
    bool is_shell = ep_launcher_ops(d->config.launcher)->is_shell;
    struct ep_starter_cfg cfg = {
        .base = d->base,
        .xylemd = d->config.xylemd != NULL ? d->config.xylemd : d->path,
        .rsh = d->config.rsh,
        .launch_timeout_ms = d->config.launch_timeout_ms,
        .is_not_last = true,
        .max_parallel = kids.last - kids.first + 1,
        .events = &starter_events,
        .arg = d,
    };
    int rc = 0;

    if (ep_launcher_ops(d->config.launcher)->is_here ||
        (is_shell && d->config.no_tree_spawn) || kids.first > kids.last)
        return 0;
    if (is_shell)
        rc = ep_spawner_open(EP_SPAWNER_WAITS, &d->below.shells);
    cfg.spawner = d->below.shells;
    if (rc == 0)
        rc = ep_starter_open(&cfg, &d->below.starter);
    if (rc == 0)
        rc = is_shell ? start_shells(d, kids) : ep_daemon_await(d, kids, why);
    return rc;
}

/* Sends the address of this daemon, or of one above it, to the daemons beneath:
 * a daemon that loses its parent dials these. */
static void tell_beneath(struct daemon *d, const struct ep_boot_peer *peer)
{
    if (d->below.starter != NULL)
        ep_starter_peer_all(d->below.starter, peer);
}

/* --- our own nodes
 * */

static int list_numbers(struct daemon *d)
{
    const struct ep_boot_config *config = &d->config;
    uint32_t count = 0;

    for (uint32_t i = 0; i < config->hosted_count; i++)
        count += config->hosted[i].last - config->hosted[i].first + 1;
    d->numbers = calloc(count, sizeof(*d->numbers));
    d->nodes = calloc(count, sizeof(*d->nodes));
    if (d->numbers == NULL || d->nodes == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < config->hosted_count; i++) {
        for (uint32_t n = config->hosted[i].first; n <= config->hosted[i].last;
             n++)
            d->numbers[d->nodes_count++] = n;
    }
    return 0;
}

/* Reports that unfinished lines are given in pieces from now on. */
static void on_tails_failed(void *arg, int err)
{
    struct daemon *d = arg;
    struct job_word state = {.kind = JOB_WORD_PIECES, .err = (uint32_t)err};

    if (d->is_tails_told)
        return;
    d->is_tails_told = true;
    ep_processes_say(d->nodes[0].local, &state);
}

static int open_tails(struct daemon *d)
{
    struct ep_tails_cfg cfg = {
        .writer = d->writer,
        .bytes = EP_SESSION_TAILS_BYTES,
        .on_failed = on_tails_failed,
        .arg = d,
    };

    return ep_tails_open(&cfg, &d->tails);
}

static struct ep_processes *on_node(void *arg, uint32_t index)
{
    return ((struct daemon *)arg)->nodes[index].local;
}

static int open_looks(struct daemon *d)
{
    const struct ep_looks_cfg cfg = {
        .base = d->base,
        .writer = d->writer,
        .nodes_count = d->nodes_count,
        .node = on_node,
        .arg = d,
    };

    return ep_looks_open(&cfg, &d->looks);
}

static int open_locals(struct daemon *d)
{
    if (open_tails(d) || open_looks(d))
        return OV_ENOMEM;
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        struct ep_processes_cfg cfg = {
            .base = d->base,
            .hub = d->hub,
            .spawner = d->spawner,
            .index = i,
            .node = d->numbers[i],
            .nodes = d->nodes_count,
            .inputs = ep_session_inputs(&d->config),
            .window_frames = d->config.down_window_frames,
            .writer = d->writer,
            .tails = d->tails,
            .sieves = &d->jobs.sieves,
            .pool = &d->pool,
            .mark = d->mark.text,
            .on_idle = ep_daemon_on_idle,
            .on_over = ep_daemon_on_over,
            .arg = d,
        };

        if (ep_processes_open(&cfg, &d->nodes[i].local))
            return OV_ENOMEM;
    }
    return 0;
}

static int open_hub(struct daemon *d, char *why)
{
    struct ep_hub_cfg cfg = {
        .base = d->base,
        .auth = &d->config.auth,
        .nodes = d->numbers,
        .nodes_count = d->nodes_count,
        .events = &ep_daemon_hub_events,
        .arg = d,
    };
    int rc = ep_session_open(&d->config, &cfg, d->config.nofile, &d->hub, why);

    if (rc == 0 && open_locals(d)) {
        rc = OV_ENOMEM;
        snprintf(why, EP_WHY_MAX, "%s", ov_strerror(rc));
    }
    return rc;
}

/* The launcher may place processes by the cores of each host; it needs these
 * before it announces any job. */
static bool must_look(const struct daemon *d)
{
    return ep_boot_param(&d->config, EP_BOOT_PARAM_MACHINE, 0) != 0;
}

static void tell_machine(struct daemon *d)
{
    for (uint32_t i = 0; must_look(d) && i < d->nodes_count; i++)
        ep_daemon_tell_machine(d, i);
}

/* Sets the variables of the configuration before libfabric is loaded, as a
 * remote shell does not pass the environment on. */
static int set_env(const struct ep_boot_config *config)
{
    char name[256];

    for (uint32_t i = 0; i < config->env.count; i++) {
        size_t len = strcspn(config->env.at[i], "=");

        if (len >= sizeof(name))
            continue; /* libfabric does not know this variable */
        memcpy(name, config->env.at[i], len);
        name[len] = '\0';
        if (setenv(name, config->env.at[i] + len + 1, 1) != 0)
            return OV_ENOMEM;
    }
    return 0;
}

void ep_daemon_on_go(void *arg, struct ep_boot_config *config)
{
    struct daemon *d = arg;
    struct ep_boot_up ready = {.kind = EP_BOOT_READY};
    char why[EP_BOOT_WHY_MAX] = "";

    d->config = *config;
    *config = (struct ep_boot_config){0};
    strcpy(why, "further daemons cannot be started: out of memory, or a host "
                "is missing in the configuration");
    /* Names are looked up before the environment is changed. */
    if (list_numbers(d) || (d->above.is_calling && ep_daemon_call(d)) ||
        set_env(&d->config) || start_children(d, why)) {
        refuse(d, why);
        return;
    }
    if (ep_mark_make(d->config.auth.session, d->numbers[0], d->config.home,
                     &d->mark.is) == 0)
        ep_mark_print(&d->mark.is, d->mark.text);
    else
        d->mark.is = (struct ep_mark){0};
    if ((must_look(d) && ep_daemon_look(d, why)) || open_hub(d, why)) {
        refuse(d, why);
        return;
    }
    ep_hub_self(d->hub, &ready.peer);
    snprintf(ready.version, sizeof(ready.version), "%s", ep_boot_version());
    ep_boot_up_encode(&ready, &d->above.said);
    ep_daemon_note(d, d->numbers[0], "listening");
    if (d->above.said.len_bytes > 0 && !d->above.is_calling)
        event_add(d->above.output, NULL);
    tell_beneath(d, &ready.peer);
    ep_hub_start(d->hub);
    tell_machine(d);
}

/* --- the way to the parents
 * */

/* Reports that a node has no link to its parent, so that nothing can be sent to
 * it. */
static void refuse_unlinked(struct daemon *d, uint32_t parent)
{
    const char *name = parent == 0 ? "the launcher" : "its parent in the tree";
    const char *address = ep_hub_address(d->hub, parent);
    char words[EP_BOOT_TEXT_MAX];

    if (address == NULL)
        return; /* our starter has not sent its address, so it waits, too */
    if (d->refusal != NULL)
        snprintf(words, sizeof(words), "%s at %s refuses the connection: %s",
                 name, address, d->refusal);
    else
        snprintf(words, sizeof(words),
                 "no connection to %s at %s within %g s: is there a firewall, "
                 "or another network to use? (--port-range, --interface; "
                 "--launch-timeout gives it more time)",
                 name, address, d->config.launch_timeout_ms / 1000.0);
    refuse(d, words);
}

/* A parent may listen at an address that we cannot reach. Without this report
 * all others would wait for us. */
static void on_reach(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    for (uint32_t i = 0; i < d->nodes_count && d->end == DAEMON_STAYS; i++) {
        if (!ep_hub_was_linked(d->hub, i))
            refuse_unlinked(d,
                            topo_tree_parent(&d->config.tree, d->numbers[i]));
    }
}

static int watch_reach(struct daemon *d)
{
    uint32_t ms = d->config.launch_timeout_ms;
    struct timeval wait = {(time_t)(ms / 1000),
                           (suseconds_t)(ms % 1000 * 1000)};

    d->reach = evtimer_new(d->base, on_reach, d);
    if (d->reach == NULL || evtimer_add(d->reach, &wait))
        return OV_ENOMEM;
    return 0;
}

/* True when `node` is the planned parent of a node hosted here. */
static bool is_parent(const struct daemon *d, uint32_t node)
{
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        if (topo_tree_parent(&d->config.tree, d->numbers[i]) == node)
            return true;
    }
    return false;
}

void ep_daemon_on_peer(void *arg, const struct ep_boot_peer *peer)
{
    struct daemon *d = arg;

    if (d->hub == NULL || d->end != DAEMON_STAYS)
        return;
    tell_beneath(d, peer);
    if (d->reach == NULL && is_parent(d, peer->node) && watch_reach(d)) {
        refuse(d, ov_strerror(OV_ENOMEM));
        return;
    }
    if (ep_hub_peer(d->hub, peer))
        refuse(d, ov_strerror(OV_ENOMEM));
}
