/* The stderr of a daemon's process. Before the daemon is ready, the last lines
 * are held back: they may tell why it does not get ready. */
#include "config.h"

#include <string.h>

#include "endpoints/boot/starter_daemon.h"

enum { LAST_MAX = 8 << 10 };

void ep_daemon_tell(struct ep_daemon *d, const char *line)
{
    d->st->events->on_stderr(d->st->arg, d->index, d->host, line);
}

/* Reports the first line that was held back. */
static void tell_first_held(struct ep_daemon *d)
{
    char *end = memchr(d->last.at, '\n', d->last.len_bytes);

    *end = '\0'; /* each line that is held back ends with a newline */
    ep_daemon_tell(d, d->last.at);
    text_buf_cut(&d->last, (size_t)(end - d->last.at) + 1);
}

void ep_daemon_tell_held(struct ep_daemon *d)
{
    while (d->last.len_bytes > 0)
        tell_first_held(d);
}

static void on_task_end(void *arg, const char *host, enum ep_srun_end end,
                        const char *text)
{
    struct ep_daemon *d = arg;
    struct ep_starter *st = d->st;

    if (st->events->on_missing != NULL && !st->is_leaving)
        st->events->on_missing(st->arg, d->index, host, end, text);
}

/* True for a line that srun prints where --cpu-bind=none has no effect; it
 * means nothing. */
static bool is_idle_talk(const struct ep_daemon *d, const char *line)
{
    return d->hosts != NULL &&
           strcmp(line, "srun: cluster configuration lacks support for cpu "
                        "binding") == 0;
}

void ep_daemon_err_line(struct ep_daemon *d, char *line, size_t len_bytes)
{
    for (size_t i = 0; i < len_bytes; i++) {
        if (line[i] == '\0')
            line[i] = ' ';
    }
    if (is_idle_talk(d, line))
        return;
    if (d->state != EP_DAEMON_STARTING) {
        ep_daemon_tell(d, line);
        return;
    }
    text_buf_add(&d->last, line, len_bytes);
    text_buf_add(&d->last, "\n", 1);
    if (d->last.bad)
        text_buf_clear(&d->last);
    while (d->last.len_bytes > LAST_MAX)
        tell_first_held(d);
    if (d->hosts != NULL)
        ep_srun_line(&d->srun, line, d->st->xylemd, on_task_end, d);
}
