/* Daemons that a resource manager has started: the connection to the parent,
 * and the gate for the daemons beneath. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "endpoints/daemon/impl.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

static void on_answer(void *arg, int fd, const char *why)
{
    struct daemon *d = arg;
    uint32_t parent = topo_tree_parent(&d->config.tree, d->numbers[0]);

    if (fd < 0) {
        fprintf(stderr, "xylemd on %s: cannot connect to %s%s: %s\n",
                ep_boot_host(&d->config, d->numbers[0]),
                parent == 0 ? "the launcher" : "the daemon on ",
                parent == 0 ? "" : ep_boot_host(&d->config, parent), why);
        /* no line can be sent to a starter any longer */
        d->above.is_calling = false;
        text_buf_clear(&d->above.said);
        ep_daemon_stop(d, DAEMON_QUITS);
        ep_daemon_check_gone(d);
        return;
    }
    dup2(fd, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    d->above.is_calling = false;
    event_add(d->above.input, NULL);
    if (d->above.said.len_bytes > 0)
        event_add(d->above.output, NULL);
    ep_daemon_check_gone(d);
}

int ep_daemon_call(struct daemon *d)
{
    struct ep_caller_cfg cfg = {
        .base = d->base,
        .config = &d->config,
        .node = d->numbers[0],
        .parent = topo_tree_parent(&d->config.tree, d->numbers[0]),
        .first_address = getenv("SLURM_LAUNCH_NODE_IPADDR"),
        .on_answer = on_answer,
        .arg = d,
    };

    return ep_caller_open(&cfg, &d->above.caller);
}

static void on_call(void *arg, uint32_t node, int fd)
{
    struct daemon *d = arg;

    (void)ep_starter_called(d->below.starter, node, fd);
}

int ep_daemon_await(struct daemon *d, struct topo_range kids, char *why)
{
    struct ep_gate_cfg cfg = {
        .base = d->base,
        .auth = &d->config.auth,
        .node = d->numbers[0],
        .port_first = d->config.port_first,
        .port_last = d->config.port_last,
        .on_call = on_call,
        .arg = d,
    };
    int rc = ep_gate_open(&cfg, &d->below.gate, why);

    d->below.awaited = kids.last - kids.first + 1;
    for (uint32_t n = kids.first; rc == 0 && n <= kids.last; n++)
        rc = ep_starter_expect(d->below.starter, n, d->config.launcher,
                               ep_boot_host(&d->config, n));
    return rc;
}

void ep_daemon_awaited(struct daemon *d)
{
    if (d->below.gate == NULL || --d->below.awaited > 0)
        return;
    ep_gate_close(d->below.gate);
    d->below.gate = NULL;
}

void ep_daemon_call_close(struct daemon *d)
{
    ep_caller_close(d->above.caller);
    ep_gate_close(d->below.gate);
    d->above.caller = NULL;
    d->below.gate = NULL;
}
