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

void ep_daemon_say(struct daemon *d)
{
    if (d->said.len_bytes > 0 && !d->is_calling)
        on_output(STDOUT_FILENO, EV_WRITE, d);
}

void ep_daemon_error(struct daemon *d, const char *words)
{
    ep_boot_error_encode(words, &d->said);
    ep_daemon_say(d);
}

void ep_daemon_note(struct daemon *d, uint32_t node, const char *words)
{
    if (!d->config.verbose)
        return;
    ep_boot_note_encode(node, words, &d->said);
    ep_daemon_say(d);
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
    /* Why we go is to be heard. */
    if (d->end != DAEMON_STAYS && d->is_bare && !d->is_calling &&
        (d->beneath == 0 || d->end == DAEMON_FAILS))
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
    /* Whoever is beneath is to know at once; and where the job is over, a link
     * that ends acknowledges the peer's last words, for which it waits. */
    if (d->hub != NULL)
        ep_hub_leave(d->hub);
    if (end != DAEMON_FAILS && d->starter != NULL)
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
