/* A daemon's loop, and what it does when its starter speaks or ends. */
#include "endpoints/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/daemon/impl.h"
#include "endpoints/sys/beside.h"
#include "overlay/base/err.h"

/* True when the launcher itself has started this daemon. */
static bool is_of_launcher(const struct daemon *d)
{
    return ep_launcher_ops(d->config.launcher)->is_here ||
           d->config.no_tree_spawn ||
           topo_tree_parent(&d->config.tree, d->numbers[0]) == 0;
}

/* Called when the connection to the starter has ended. The starter, or the
 * remote shell, may die while the job goes on: once this daemon has been in the
 * tree, only the tree decides who is lost. Only the launcher's death ends
 * everything; it is certain when nothing listens at its address any longer.
 * Before this daemon has joined, no job has begun here, and a link to a parent
 * is no reason to stay: the root's message for which the daemon waits may never
 * come. */
static void on_starter_gone(struct daemon *d)
{
    event_del(d->above.input);
    if (!ep_daemon_has_joined(d))
        ep_daemon_stop(d, DAEMON_QUITS);
    else if (d->end == DAEMON_STAYS && is_of_launcher(d))
        ep_hub_ask_root(d->hub);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    char mem[16384];
    ssize_t n = read(fd, mem, sizeof(mem));

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        if (d->hub == NULL && ep_boot_reader_end(&d->above.boot))
            ep_daemon_error(d, d->above.boot.why);
        on_starter_gone(d);
        return;
    }
    if (ep_boot_reader_feed(&d->above.boot, mem, (size_t)n)) {
        ep_daemon_error(d, d->above.boot.why);
        event_del(d->above.input);
        ep_daemon_stop(d, DAEMON_QUITS);
    }
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_daemon_stop(arg, DAEMON_FAILS);
}

static int open_all(struct daemon *d)
{
    static const struct ep_boot_down_events boot_events = {
        .on_go = ep_daemon_on_go, .on_peer = ep_daemon_on_peer};
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    signal(SIGPIPE, SIG_IGN);
    d->base = event_base_new();
    if (d->base == NULL || ep_writer_open(d->base, &d->writer))
        return OV_ENOMEM;
    if (!d->above.is_calling)
        fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    d->above.input =
        event_new(d->base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, d);
    d->term = evsignal_new(d->base, SIGTERM, on_term, d);
    if (ep_daemon_stop_open(d) || ep_daemon_jobs_open(d) ||
        d->above.input == NULL || d->term == NULL || event_add(d->term, NULL))
        return OV_ENOMEM;
    if (!d->above.is_calling && event_add(d->above.input, NULL))
        return OV_ENOMEM;
    if (ep_beside_path("xylemd", d->path, sizeof(d->path)))
        snprintf(d->path, sizeof(d->path), "xylemd");
    ep_boot_reader_init(&d->above.boot, &boot_events, d, d->path);
    d->above.boot.host = getenv("SLURMD_NODENAME");
    return ep_spawner_attach(d->spawner, d->base, &ep_daemon_spawner_events, d);
}

static void free_event(struct event *event)
{
    if (event != NULL)
        event_free(event);
}

static void close_all(struct daemon *d)
{
    /* Processes are ended first, so that everything they still use ends with
     * them. Daemons that do not leave although the job is over are killed. */
    ep_daemon_stop_close(d);
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        ep_processes_close(d->nodes[i].local);
        text_buf_fini(&d->nodes[i].job_text);
    }
    ep_daemon_jobs_close(d);
    ep_sieve_pool_fini(&d->jobs.sieves);
    ep_looks_close(d->looks);
    ep_tails_close(d->tails);
    ep_writer_close(d->writer, true);
    ep_hub_close(d->hub);
    ep_starter_close(d->below.starter);
    ep_daemon_call_close(d);
    free_event(d->above.input);
    free_event(d->above.output);
    free_event(d->farewell);
    free_event(d->remains.look);
    free_event(d->children);
    free_event(d->term);
    free_event(d->reach);
    if (d->base != NULL)
        event_base_free(d->base);
    ep_boot_reader_fini(&d->above.boot);
    ep_boot_config_fini(&d->config);
    text_buf_fini(&d->above.said);
    free(d->nodes);
    free(d->numbers);
}

/* Reads the start-up text up to `go`, all of which is in memory already. */
static int read_boot(struct daemon *d, struct text_buf *boot)
{
    int rc = ep_boot_reader_feed(&d->above.boot, boot->at, boot->len_bytes);

    text_buf_fini(boot);
    if (rc == 0 && d->hub == NULL && d->end == DAEMON_STAYS)
        rc = ep_boot_reader_end(&d->above.boot);
    if (rc != 0)
        fprintf(stderr, "xylemd: %s\n", d->above.boot.why);
    return rc;
}

int ep_daemon_run(struct ep_spawner *spawner, struct text_buf *boot)
{
    struct daemon *d = calloc(1, sizeof(*d));
    int exit_code = 1;

    if (d == NULL)
        return 1;
    d->spawner = spawner;
    /* This mark is that of a job in which the session was started. */
    unsetenv(EP_MARK_NAME);
    d->above.is_calling = boot != NULL;
    if (open_all(d) == 0 && (boot == NULL || read_boot(d, boot) == 0)) {
        event_base_dispatch(d->base);
        exit_code = d->end == DAEMON_LEAVES ? 0 : 1;
    }
    close_all(d);
    free(d);
    return exit_code;
}
