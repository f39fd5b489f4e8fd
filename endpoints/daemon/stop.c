/* A daemon's words to its starter, and its end. */
#include <errno.h>
#include <unistd.h>

#include "endpoints/daemon/impl.h"
#include "overlay/base/err.h"

/* Leaving waits so long for processes and daemons beneath to be gone. */
enum { FAREWELL_S = 3 };

/* --- words
 * */

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    ssize_t n = write(fd, d->said.at, d->said.len_bytes);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        n = 0;
    else if (n < 0) /* nobody listens */
        n = (ssize_t)d->said.len_bytes;
    ep_text_cut(&d->said, (size_t)n);
    if (d->said.len_bytes > 0)
        event_add(d->output, NULL);
}

static void flush_said(struct daemon *d)
{
    if (d->said.len_bytes > 0)
        on_output(STDOUT_FILENO, EV_WRITE, d);
}

void ep_daemon_error(struct daemon *d, const char *words)
{
    ep_boot_error_encode(words, &d->said);
    flush_said(d);
}

void ep_daemon_note(struct daemon *d, uint32_t node, const char *words)
{
    if (!d->config.verbose)
        return;
    ep_boot_note_encode(node, words, &d->said);
    flush_said(d);
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
    if (d->is_ending && d->is_bare && d->beneath == 0)
        event_base_loopbreak(d->base);
}

void ep_daemon_stop(struct daemon *d, int exit_code)
{
    struct timeval wait = {FAREWELL_S, 0};

    if (d->is_ending)
        return;
    d->is_ending = true;
    d->exit_code = exit_code;
    if (d->starter != NULL)
        ep_starter_leave(d->starter);
    evtimer_add(d->farewell, &wait);
    d->is_bare = ep_spawner_end(d->spawner) != 0;
    ep_daemon_check_gone(d);
}

int ep_daemon_stop_open(struct daemon *d)
{
    d->output = event_new(d->base, STDOUT_FILENO, EV_WRITE, on_output, d);
    d->farewell = evtimer_new(d->base, on_farewell, d);
    return d->output == NULL || d->farewell == NULL ? OV_ENOMEM : 0;
}
