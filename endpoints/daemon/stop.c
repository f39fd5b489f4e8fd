/* The lines of a daemon to its starter, and the daemon's end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoints/daemon/daemon.h"
#include "endpoints/daemon/impl.h"
#include "endpoints/spawn/leftover.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum {
    /* How long leaving waits until processes and the daemons beneath have
     * ended. */
    FAREWELL_S = 3,
    LOOK_MS = 20, /* time between two searches for what the spawner has left */
    /* How long these searches go on: processes that still live cannot be ended,
     * such as those of other users (setuid). */
    REMAINS_MS = 2000
};

/* --- lines to the starter */

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    ssize_t n = write(fd, d->above.said.at, d->above.said.len_bytes);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        n = 0;
    else if (n < 0) /* no process reads it */
        n = (ssize_t)d->above.said.len_bytes;
    text_buf_cut(&d->above.said, (size_t)n);
    if (d->above.said.len_bytes > 0)
        event_add(d->above.output, NULL);
}

void ep_daemon_say(struct daemon *d)
{
    if (d->above.said.len_bytes > 0 && !d->above.is_calling)
        on_output(STDOUT_FILENO, EV_WRITE, d);
}

void ep_daemon_words(struct daemon *d, enum ep_boot_up_kind kind, uint32_t node,
                     uint32_t time_ms, const char *words)
{
    struct ep_boot_up up = {
        .kind = kind, .peer.node = node, .time_ms = time_ms};

    snprintf(up.text, sizeof(up.text), "%s", words);
    ep_boot_up_encode(&up, &d->above.said);
    ep_daemon_say(d);
}

void ep_daemon_error(struct daemon *d, const char *words)
{
    ep_daemon_words(d, EP_BOOT_ERROR, 0, 0, words);
}

void ep_daemon_note(struct daemon *d, uint32_t node, const char *words)
{
    if (d->config.verbose)
        ep_daemon_words(d, EP_BOOT_NOTE, node, 0, words);
}

/* --- what a spawner that was killed has left
 *
 * The daemon is a subreaper, too: processes whose parent was the spawner, and
 * orphans that the spawner would have adopted, are then children of the daemon.
 * So everything below the daemon is killed, whatever it has done to its
 * environment, except the other spawner and the daemons beneath, which go on.
 * If that spawner has died as well, parents no longer tell the processes from
 * the daemons beneath, and marks decide. */

static struct ep_leftover remains_of(const struct daemon *d)
{
    return (struct ep_leftover){
        .of = &d->mark.is,
        .is_below = !d->below.is_lost,
        .spare = d->below.shells == NULL
                     ? 0
                     : (pid_t)ep_spawner_pid(d->below.shells),
    };
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    struct ep_leftover of = remains_of(d);
    struct timeval wait = {.tv_usec = LOOK_MS * 1000};
    struct ep_procs_killed found;
    bool is_quiet =
        ep_leftover_kill(&of, &found) != 0 || found.alive + found.denied == 0;
    bool is_over = (is_quiet && d->remains.is_quiet) ||
                   ep_clock_ms() >= d->remains.until_ms;

    (void)fd;
    (void)what;
    d->remains.is_quiet = is_quiet;
    if (!is_over && evtimer_add(d->remains.look, &wait) == 0)
        return;
    d->is_bare = true;
    ep_daemon_check_gone(d);
}

void ep_daemon_remains(struct daemon *d)
{
    if (d->remains.until_ms != 0)
        return;
    d->remains.until_ms = ep_clock_ms() + REMAINS_MS;
    d->remains.is_quiet = true;
    d->is_bare = false;
    on_look(-1, 0, d);
}

/* Reaps orphans and the spawners; a reaped spawner must not be waited for
 * again. */
static void on_children(evutil_socket_t signo, short what, void *arg)
{
    struct daemon *d = arg;
    int status;
    pid_t pid;

    (void)signo;
    (void)what;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        ep_spawner_reaped(d->spawner, pid, status);
        ep_spawner_reaped(d->below.shells, pid, status);
    }
}

/* --- the end
 * */

static void on_farewell(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(d->base);
}

void ep_daemon_check_gone(struct daemon *d)
{
    /* The reason of our end has to reach the starter first. */
    if (d->end != DAEMON_STAYS && d->is_bare && !d->above.is_calling &&
        (d->below.count == 0 || d->end == DAEMON_FAILS))
        event_base_loopbreak(d->base);
}

bool ep_daemon_has_joined(const struct daemon *d)
{
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        if (!d->nodes[i].has_joined)
            return false;
    }
    return d->nodes_count > 0;
}

void ep_daemon_stop(struct daemon *d, enum daemon_end end)
{
    struct timeval wait = {FAREWELL_S, 0};

    if (d->end != DAEMON_STAYS)
        return;
    if (end == DAEMON_FAILS && !ep_daemon_has_joined(d))
        end = DAEMON_QUITS;
    d->end = (uint8_t)end;
    /* The daemons beneath have to know at once. Where the job is over, the end
     * of a link also acknowledges the peer's last message, for which it waits.
     */
    if (d->hub != NULL)
        ep_hub_leave(d->hub);
    if (end != DAEMON_FAILS && d->below.starter != NULL)
        ep_starter_leave(d->below.starter);
    evtimer_add(d->farewell, &wait);
    if (ep_spawner_end(d->spawner) != 0)
        ep_daemon_remains(d);
    ep_daemon_check_gone(d);
}

void ep_daemon_adopt(void)
{
    /* This may fail: most processes are found by their marks. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int ep_daemon_stop_open(struct daemon *d)
{
    d->above.output = event_new(d->base, STDOUT_FILENO, EV_WRITE, on_output, d);
    d->farewell = evtimer_new(d->base, on_farewell, d);
    d->remains.look = evtimer_new(d->base, on_look, d);
    d->children = evsignal_new(d->base, SIGCHLD, on_children, d);
    if (d->above.output == NULL || d->farewell == NULL ||
        d->remains.look == NULL || d->children == NULL ||
        event_add(d->children, NULL) != 0)
        return OV_ENOMEM;
    return 0;
}

void ep_daemon_stop_close(struct daemon *d)
{
    struct ep_leftover of = remains_of(d);
    bool has_left = ep_spawner_close(d->spawner);

    if (!has_left && !d->is_bare)
        (void)ep_leftover_end(&of, REMAINS_MS);
    if (d->below.count > 0 && d->end != DAEMON_FAILS)
        (void)ep_spawner_close(d->below.shells);
    else
        ep_spawner_leave(d->below.shells);
}
