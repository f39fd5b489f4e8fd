/* Starts daemons: the table, the queue of the waiting, and their processes.
 * What goes on with each is in starter_daemon.c. */
#include "config.h"

#include "endpoints/boot/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/boot/starter_daemon.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

/* The host travels to the shell in a variable, so that one job of the
 * spawner serves all hosts; it is gone before the remote shell starts. */
#define HOST_VARIABLE "XYLEM_RSH_HOST"

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
    st = calloc(1, sizeof(*st));
    if (st == NULL)
        return OV_ENOMEM;
    st->base = cfg->base;
    st->spawner = cfg->spawner;
    st->events = cfg->events;
    st->arg = cfg->arg;
    st->timeout_ms = cfg->launch_timeout_ms;
    st->max_parallel =
        cfg->max_parallel == 0 ? EP_STARTER_PARALLEL : cfg->max_parallel;
    st->proc_first = cfg->proc_first;
    st->job_first = cfg->job_first;
    st->pump = event_new(st->base, -1, 0, on_pump, st);
    if (st->pump == NULL || ep_boot_set(&st->xylemd, cfg->xylemd) != 0 ||
        ep_boot_set(&st->rsh, cfg->rsh) != 0) {
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

static struct ep_daemon *find(const struct ep_starter *st, uint32_t index)
{
    return index < st->cap ? st->daemons[index] : NULL;
}

static int grow(struct ep_starter *st, uint32_t index)
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

int ep_starter_add(struct ep_starter *st, uint32_t index,
                   enum ep_launcher launcher, const char *host,
                   struct ep_text *text)
{
    struct ep_daemon *d;

    if (st->is_leaving)
        return OV_ECLOSED;
    if (index >= EP_STARTER_MAX || find(st, index) != NULL)
        return OV_EINVAL;
    if (launcher == EP_LAUNCHER_SSH &&
        (st->rsh == NULL || host == NULL || !ep_boot_host_is_fit(host)))
        return OV_EINVAL;
    d = grow(st, index) == 0 ? ep_daemon_new(st, index, launcher, host) : NULL;
    if (d == NULL)
        return OV_ENOMEM;
    d->input = *text;
    *text = (struct ep_text){0};
    st->daemons[index] = d;
    if (st->first == NULL)
        st->first = d;
    else
        st->last->after = d;
    st->last = d;
    ep_starter_wake(st);
    return 0;
}

int ep_starter_add_config(struct ep_starter *st, uint32_t index,
                          const struct ep_boot_config *config, const char *host,
                          char *why)
{
    struct ep_text text = {0};
    int rc;

    strcpy(why, "out of memory");
    rc = ep_boot_encode(config, &text, why);
    if (rc == 0)
        rc = ep_starter_add(st, index, config->launcher, host, &text);
    ep_text_fini(&text);
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

static int announce_local(struct ep_starter *st)
{
    const char *argv[] = {st->xylemd, "--boot", NULL};
    struct ep_spawn_job job = {
        .argv = argv, .env = (const char *const *)environ, .new_session = true};

    return ep_spawner_job(st->spawner, st->job_first + EP_LAUNCHER_LOCAL, &job);
}

/* A session of its own: no terminal to ask for a password on, which would
 * stop it in the background, and no SIGINT from there. */
static int announce_ssh(struct ep_starter *st)
{
    struct ep_text script = {0}, line = {0};
    int rc = OV_ENOMEM;

    ep_text_printf(&script,
                   "h=$" HOST_VARIABLE "; unset " HOST_VARIABLE
                   "; exec %s \"$h\" \"$1\"",
                   st->rsh);
    ep_text_puts(&line, "exec ");
    ep_text_shell_word(&line, st->xylemd);
    ep_text_puts(&line, " --boot");
    if (!script.bad && !line.bad) {
        const char *argv[] = {"/bin/sh", "-c", script.at, "sh", line.at, NULL};
        struct ep_spawn_job job = {.argv = argv,
                                   .env = (const char *const *)environ,
                                   .new_session = true};

        rc = ep_spawner_job(st->spawner, st->job_first + EP_LAUNCHER_SSH, &job);
    }
    ep_text_fini(&script);
    ep_text_fini(&line);
    return rc;
}

static int announce(struct ep_starter *st, enum ep_launcher launcher)
{
    int rc;

    if (st->job_known[launcher])
        return 0;
    rc = launcher == EP_LAUNCHER_LOCAL ? announce_local(st) : announce_ssh(st);
    st->job_known[launcher] = rc == 0;
    return rc;
}

static void close_both(int ends[2])
{
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

/* Three pipes; ours never block. Leaves none open on error. */
static int open_pipes(int ours[3], int theirs[3])
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};

    for (unsigned i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            goto fail;
        ours[i] = pipes[i][i == 0 ? 1 : 0];
        theirs[i] = pipes[i][i == 0 ? 0 : 1];
        if (fcntl(ours[i], F_SETFL, O_NONBLOCK) != 0)
            goto fail;
    }
    return 0;

fail:
    for (unsigned i = 0; i < 3; i++) {
        int err = errno;

        close_both(pipes[i]);
        errno = err;
    }
    return OV_ESYS;
}

static int spawn(struct ep_daemon *d, const int theirs[3])
{
    struct ep_starter *st = d->st;
    struct ep_text host = {0};
    const char *env[] = {NULL, NULL};
    struct ep_spawn_proc proc = {
        .job = st->job_first + d->launcher,
        .proc = st->proc_first + d->index,
        .env = env,
        .stdio = {theirs[0], theirs[1], theirs[2]},
    };
    int rc = announce(st, (enum ep_launcher)d->launcher);

    if (rc == 0 && d->launcher == EP_LAUNCHER_SSH) {
        ep_text_printf(&host, HOST_VARIABLE "=%s", d->host);
        env[0] = host.at;
        rc = host.bad ? OV_ENOMEM : 0;
    }
    if (rc == 0)
        rc = ep_spawner_start(st->spawner, &proc);
    ep_text_fini(&host);
    return rc;
}

static void fail_to_start(struct ep_daemon *d, const char *step, int err)
{
    struct ep_starter_who who = ep_daemon_who(d);

    ep_text_clear(&d->words);
    ep_starter_words_failed(&d->words, &who, step, err);
    ep_daemon_fail(d);
}

/* The errno that says best what a call of ours could not do. */
static int errno_of(int rc)
{
    if (rc == OV_ENOMEM)
        return ENOMEM;
    if (rc == OV_ECLOSED)
        return EPIPE;
    return rc == OV_ESYS && errno != 0 ? errno : EINVAL;
}

static void start(struct ep_daemon *d)
{
    int ours[3], theirs[3], rc;

    if (open_pipes(ours, theirs) != 0) {
        fail_to_start(d, "pipe", errno);
        return;
    }
    rc = ep_daemon_begin(d, ours);
    if (rc == 0)
        rc = spawn(d, theirs);
    if (rc != 0)
        fail_to_start(d, "spawner", errno_of(rc));
    for (unsigned i = 0; i < 3; i++)
        close(theirs[i]);
}

static void on_pump(evutil_socket_t fd, short what, void *arg)
{
    struct ep_starter *st = arg;

    (void)fd;
    (void)what;
    st->is_calling = true;
    while (st->first != NULL && st->starting < st->max_parallel) {
        struct ep_daemon *d = st->first;

        st->first = d->after;
        d->after = NULL;
        start(d);
    }
    st->is_calling = false;
}

int ep_starter_peer(struct ep_starter *st, uint32_t index,
                    const struct ep_boot_peer *peer)
{
    struct ep_daemon *d = find(st, index);
    struct ep_text line = {0};
    bool is_added;

    if (d == NULL)
        return OV_ENOENT;
    if (d->state == EP_DAEMON_OVER ||
        (d->state != EP_DAEMON_WAITING && d->fds[0] < 0))
        return OV_ECLOSED;
    ep_boot_peer_encode(peer, &line);
    if (!line.bad)
        ep_text_add(&d->input, line.at, line.len_bytes);
    is_added = !line.bad && !d->input.bad;
    d->input.bad = false; /* what was there before is whole */
    ep_text_fini(&line);
    if (!is_added)
        return OV_ENOMEM;
    ep_daemon_feed(d);
    return 0;
}

static struct ep_daemon *of_proc(const struct ep_starter *st, uint32_t proc)
{
    return proc < st->proc_first ? NULL : find(st, proc - st->proc_first);
}

bool ep_starter_failed(struct ep_starter *st, uint32_t proc, const char *step,
                       int err)
{
    struct ep_daemon *d = of_proc(st, proc);

    if (d == NULL)
        return false;
    st->is_calling = true;
    if (d->state == EP_DAEMON_STARTING)
        fail_to_start(d, step, err);
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

/* --- a spawner of our own
 * */

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

static void on_exited(void *arg, uint32_t proc, int status)
{
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

void ep_starter_leave(struct ep_starter *st)
{
    st->is_leaving = true;
    st->first = st->last = NULL;
    for (uint32_t i = 0; i < st->cap; i++) {
        struct ep_daemon *d = st->daemons[i];

        if (d == NULL || d->state == EP_DAEMON_OVER)
            continue;
        if (d->state == EP_DAEMON_WAITING)
            ep_daemon_forget(d);
        else
            ep_daemon_shut_stdin(d);
    }
}

int ep_starter_beside(const char *name, char *path, size_t size_bytes)
{
    char self[PATH_MAX];
    ssize_t got = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;
    int len;

    if (got < 0)
        return OV_ESYS;
    self[got] = '\0';
    slash = strrchr(self, '/');
    if (slash == NULL)
        return OV_ESYS;
    slash[1] = '\0';
    len = snprintf(path, size_bytes, "%s%s", self, name);
    return len >= 0 && (size_t)len < size_bytes ? 0 : OV_EINVAL;
}
