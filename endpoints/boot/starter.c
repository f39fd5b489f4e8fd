/* Starts daemons: the table, and the queue of daemons that wait to be started.
 * starter_daemon.c follows each daemon, starter_process.c its process. */
#include "config.h"

#include "endpoints/boot/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/boot/starter_daemon.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "topo/hosts.h"

/* A list of hosts that is longer is written in short form, because it is one
 * argument of a program. */
enum { LIST_LONG_BYTES = 64 << 10 };

static bool is_blank(const char *string)
{
    return string[strspn(string, " \t\n")] == '\0';
}

static bool sigpipe_is_ignored(void)
{
    struct sigaction now;

    return sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void on_pump(evutil_socket_t fd, short what, void *arg);

int ep_starter_open(const struct ep_starter_cfg *cfg, struct ep_starter **out)
{
    struct ep_starter *st;

    OV_ASSERT(sigpipe_is_ignored());
    *out = NULL;
    if (cfg->xylemd == NULL || is_blank(cfg->xylemd) ||
        cfg->launch_timeout_ms == 0 || (cfg->rsh && is_blank(cfg->rsh)))
        return OV_EINVAL;
    st = malloc(sizeof(*st));
    if (st == NULL)
        return OV_ENOMEM;
    memset(st, 0, offsetof(struct ep_starter, chunk));
    st->base = cfg->base;
    st->spawner = cfg->spawner;
    st->events = cfg->events;
    st->arg = cfg->arg;
    st->timeout_ms = cfg->launch_timeout_ms;
    st->is_not_last = cfg->is_not_last;
    st->max_parallel =
        cfg->max_parallel == 0 ? EP_STARTER_PARALLEL : cfg->max_parallel;
    st->proc_first = cfg->proc_first;
    st->job_first = cfg->job_first;
    st->pump = event_new(st->base, -1, 0, on_pump, st);
    if (st->pump == NULL || job_set_string(&st->xylemd, cfg->xylemd) != 0 ||
        job_set_string(&st->rsh, cfg->rsh) != 0) {
        ep_starter_close(st);
        return OV_ENOMEM;
    }
    *out = st;
    return 0;
}

void ep_starter_close(struct ep_starter *st)
{
    if (st == NULL)
        return;
    OV_ASSERT(!st->is_calling);
    for (uint32_t i = 0; i < st->cap; i++)
        ep_daemon_free(st->daemons[i]);
    free(st->daemons);
    if (st->pump != NULL)
        event_free(st->pump);
    free(st->xylemd);
    free(st->rsh);
    free(st);
}

static struct ep_daemon *find_daemon(const struct ep_starter *st,
                                     uint32_t index)
{
    return index < st->cap ? st->daemons[index] : NULL;
}

static int grow_table(struct ep_starter *st, uint32_t index)
{
    uint32_t cap = st->cap == 0 ? 16 : st->cap;
    struct ep_daemon **table;

    while (cap <= index)
        cap *= 2;
    if (cap == st->cap)
        return 0;
    table = reallocarray(st->daemons, cap, sizeof(*table));
    if (table == NULL)
        return OV_ENOMEM;
    memset(table + st->cap, 0, (cap - st->cap) * sizeof(*table));
    st->daemons = table;
    st->cap = cap;
    return 0;
}

/* Adds a daemon to the table. Returns NULL with an error in *rc. */
static struct ep_daemon *add_daemon(struct ep_starter *st, uint32_t index,
                                    enum ep_launcher launcher, const char *host,
                                    int *rc)
{
    struct ep_daemon *d;

    *rc = OV_ECLOSED;
    if (st->is_leaving)
        return NULL;
    *rc = OV_EINVAL;
    if (index >= EP_STARTER_MAX || find_daemon(st, index) != NULL)
        return NULL;
    *rc = OV_ENOMEM;
    d = grow_table(st, index) == 0 ? ep_daemon_new(st, index, launcher, host)
                                   : NULL;
    if (d == NULL)
        return NULL;
    *rc = 0;
    st->daemons[index] = d;
    return d;
}

static void enqueue(struct ep_daemon *d, struct text_buf *text)
{
    struct ep_starter *st = d->st;

    d->input = *text;
    *text = (struct text_buf){0};
    if (st->first == NULL)
        st->first = d;
    else
        st->last->after = d;
    st->last = d;
    ep_starter_wake(st);
}

int ep_starter_add(struct ep_starter *st, uint32_t index,
                   enum ep_launcher launcher, const char *host,
                   struct text_buf *text)
{
    struct ep_daemon *d;
    int rc;

    if (!st->is_leaving && ep_launcher_ops(launcher)->is_shell &&
        (st->rsh == NULL || host == NULL || !ep_boot_host_is_fit(host)))
        return OV_EINVAL;
    d = add_daemon(st, index, launcher, host, &rc);
    if (d != NULL)
        enqueue(d, text);
    return rc;
}

/* Writes all hosts of a configuration, separated by commas or, when that is
 * long, in short form. The caller frees the text. */
static char *list_hosts(const struct ep_boot_config *config)
{
    struct topo_hosts hosts;
    struct text_buf list = {0};
    char *text = NULL;
    int rc = 0;

    topo_hosts_init(&hosts);
    for (uint32_t i = 0; rc == 0 && i < config->hosts_count; i++) {
        const char *name = config->hosts[i].name;

        text_buf_printf(&list, "%s%s", i > 0 ? "," : "", name);
        rc = topo_hosts_add(&hosts, name, strlen(name), 0);
    }
    if (rc == 0 && !list.bad)
        text = list.len_bytes < LIST_LONG_BYTES
                   ? strdup(list.at)
                   : topo_hosts_fold(&hosts, hosts.count);
    text_buf_fini(&list);
    topo_hosts_fini(&hosts);
    return text;
}

int ep_starter_add_all(struct ep_starter *st, uint32_t index,
                       const struct ep_boot_config *config, char *why)
{
    struct text_buf text = {0};
    struct ep_daemon *d = NULL;
    int rc;

    strcpy(why, "out of memory");
    rc = ep_boot_encode(config, &text, why);
    if (rc == 0)
        d = add_daemon(st, index, config->launcher, NULL, &rc);
    if (d != NULL) {
        d->hosts = list_hosts(config);
        d->hosts_count = config->hosts_count;
        d->srun.count = config->hosts_count;
        enqueue(d, &text);
    }
    text_buf_fini(&text);
    return rc == 0 && d->hosts == NULL ? OV_ENOMEM : rc;
}

int ep_starter_expect(struct ep_starter *st, uint32_t index,
                      enum ep_launcher launcher, const char *host)
{
    struct ep_daemon *d;
    int rc;

    d = add_daemon(st, index, launcher, host, &rc);
    if (d == NULL)
        return rc;
    d->is_expected = true;
    return ep_daemon_expect(d);
}

int ep_starter_called(struct ep_starter *st, uint32_t index, int fd)
{
    struct ep_daemon *d = find_daemon(st, index);
    int fds[3] = {-1, fd, -1};
    int rc = OV_ENOENT;

    if (st->is_leaving)
        rc = OV_ECLOSED;
    else if (d != NULL && d->is_expected && d->fds[1] < 0 &&
             d->state == EP_DAEMON_STARTING)
        rc = 0;
    if (rc == 0) {
        fds[0] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        rc = fds[0] < 0 ? OV_ESYS : ep_daemon_open(d, fds);
    } else {
        close(fd);
    }
    return rc;
}

void ep_starter_arrived(struct ep_starter *st, uint32_t index)
{
    struct ep_daemon *d = find_daemon(st, index);

    if (d != NULL && d->state == EP_DAEMON_STARTING)
        ep_daemon_arrive(d);
}

int ep_starter_add_config(struct ep_starter *st, uint32_t index,
                          const struct ep_boot_config *config, const char *host,
                          char *why)
{
    struct text_buf text = {0};
    int rc;

    strcpy(why, "out of memory");
    rc = ep_boot_encode(config, &text, why);
    if (rc == 0)
        rc = ep_starter_add(st, index, config->launcher, host, &text);
    text_buf_fini(&text);
    return rc;
}

int ep_starter_take_over(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t node,
                         uint32_t time_ms, const char *words, char *why)
{
    char *copy = strdup(words);
    int rc =
        copy == NULL ? OV_ENOMEM : ep_starter_add_child(st, own, node, why);

    if (rc == 0) {
        st->daemons[node]->time_ms = time_ms;
        st->daemons[node]->first_words = copy;
        copy = NULL;
    }
    free(copy);
    return rc;
}

int ep_starter_add_child(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t child,
                         char *why)
{
    const char *host = ep_boot_host(own, child);
    struct ep_boot_config config = {0};
    int rc = OV_EINVAL;

    strcpy(why, "out of memory, or a host is missing");
    if (host != NULL)
        rc = ep_boot_config_child(own, child, &config);
    if (rc == 0)
        rc = ep_starter_add_config(st, child, &config, host, why);
    ep_boot_config_fini(&config);
    return rc;
}

static struct ep_daemon *take_first(struct ep_starter *st)
{
    struct ep_daemon *d = st->first;

    st->first = d->after;
    d->after = NULL;
    return d;
}

static void on_pump(evutil_socket_t fd, short what, void *arg)
{
    struct ep_starter *st = arg;

    (void)fd;
    (void)what;
    /* The time of these daemons begins now, because nothing was sent to them
     * before the loop. */
    for (uint32_t i = 0; st->is_begun && i < st->cap; i++) {
        if (st->daemons[i] != NULL)
            ep_daemon_rewind(st->daemons[i]);
    }
    st->is_begun = false;
    st->is_calling = true;
    while (st->first != NULL && st->starting < st->max_parallel) {
        struct ep_daemon *d = take_first(st);
        int err = ep_daemon_start(d);

        if (err != 0)
            ep_daemon_fail_start(d, "pipe", err);
    }
    st->is_calling = false;
}

void ep_starter_begin(struct ep_starter *st)
{
    st->is_begun = true;
    event_active(st->pump, EV_TIMEOUT, 0);
    st->is_calling = true;
    while (st->first != NULL && st->starting < st->max_parallel) {
        struct ep_daemon *d = take_first(st);

        if (ep_daemon_start(d) == 0)
            continue;
        d->after = st->first;
        st->first = d;
        break;
    }
    st->is_calling = false;
}

int ep_starter_peer(struct ep_starter *st, uint32_t index,
                    const struct ep_boot_peer *peer)
{
    struct ep_daemon *d = find_daemon(st, index);
    struct text_buf line = {0};
    bool is_added, will_hear;

    if (d == NULL)
        return OV_ENOENT;
    will_hear = d->fds[0] >= 0 || d->state == EP_DAEMON_WAITING ||
                (d->is_expected && d->fds[1] < 0);
    if (d->state == EP_DAEMON_OVER || !will_hear)
        return OV_ECLOSED;
    ep_boot_peer_encode(peer, &line);
    if (!line.bad)
        text_buf_add(&d->input, line.at, line.len_bytes);
    is_added = !line.bad && !d->input.bad;
    d->input.bad = false; /* The text that was in it before is complete. */
    text_buf_fini(&line);
    if (!is_added)
        return OV_ENOMEM;
    ep_daemon_feed(d);
    return 0;
}

void ep_starter_peer_all(struct ep_starter *st, const struct ep_boot_peer *peer)
{
    for (uint32_t i = 0; i < st->cap; i++) {
        if (st->daemons[i] != NULL)
            (void)ep_starter_peer(st, i, peer);
    }
}

static struct ep_daemon *of_proc(const struct ep_starter *st, uint32_t proc)
{
    return proc < st->proc_first ? NULL
                                 : find_daemon(st, proc - st->proc_first);
}

bool ep_starter_failed(struct ep_starter *st, uint32_t proc, const char *step,
                       int err)
{
    struct ep_daemon *d = of_proc(st, proc);

    if (d == NULL)
        return false;
    st->is_calling = true;
    if (d->state == EP_DAEMON_STARTING)
        ep_daemon_fail_start(d, step, err);
    st->is_calling = false;
    return true;
}

bool ep_starter_exited(struct ep_starter *st, uint32_t proc, int status)
{
    struct ep_daemon *d = of_proc(st, proc);

    if (d == NULL)
        return false;
    st->is_calling = true;
    ep_daemon_end(d, status);
    st->is_calling = false;
    return true;
}

/* --- with a spawner of our own */

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    (void)arg;
    (void)proc;
    (void)pid;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    ep_starter_failed(arg, proc, step, err);
}

static void on_exited(void *arg, uint32_t proc, int status, uint64_t at_ns)
{
    (void)at_ns;
    ep_starter_exited(arg, proc, status);
}

static void on_ended(void *arg)
{
    (void)arg;
}

static void on_lost(void *arg)
{
    struct ep_starter *st = arg;

    st->events->on_lost(st->arg);
}

int ep_starter_attach(struct ep_starter *st)
{
    static const struct ep_spawner_events events = {
        .on_started = on_started,
        .on_failed = on_failed,
        .on_exit = on_exited,
        .on_ended = on_ended,
        .on_lost = on_lost,
    };

    return ep_spawner_attach(st->spawner, st->base, &events, st);
}

/* Ends the command for all daemons, which has no stdin that could be closed. */
static void recall(struct ep_daemon *d)
{
    struct ep_starter *st = d->st;

    ep_daemon_arrive(d);
    ep_spawner_signal(st->spawner, st->proc_first + d->index, SIGTERM);
}

void ep_starter_leave(struct ep_starter *st)
{
    st->is_leaving = true;
    st->first = st->last = NULL;
    for (uint32_t i = 0; i < st->cap; i++) {
        struct ep_daemon *d = st->daemons[i];

        if (d == NULL || d->state == EP_DAEMON_OVER)
            continue;
        if (d->state == EP_DAEMON_WAITING || (d->is_expected && d->fds[1] < 0))
            ep_daemon_forget(d);
        else
            ep_daemon_shut_stdin(d);
        if (d->hosts != NULL && d->state == EP_DAEMON_STARTING)
            recall(d);
    }
}
