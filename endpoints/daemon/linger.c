/* How long the output of a process is read after its exit: other processes may
 * keep its pipes open. */
#include "config.h"

#include <event2/event.h>

#include "endpoints/daemon/channel.h"
#include "endpoints/daemon/processes_impl.h"

void ep_linger_restart(struct proc *proc)
{
    const uint32_t ms = proc->node_job->job->linger_ms;
    const struct timeval wait = {(time_t)(ms / 1000),
                                 (suseconds_t)(ms % 1000 * 1000)};

    if (proc->linger != NULL)
        evtimer_add(proc->linger, &wait);
}

/* True when silence does not mean that no output is left: some of it was not
 * read in this time, because the tree had no room for it or nobody wants it. */
static bool is_held_up(const struct proc *proc)
{
    const bool is_timed = proc->node_job->job->linger_ms > 0;
    bool is_held = false;

    for (unsigned i = 0; i < OUTPUTS; i++) {
        const struct output *out = &proc->outputs[i];

        is_held |= out->is_held_back || (is_timed && out->channel != NULL &&
                                         ep_channel_unread(out->channel) > 0);
    }
    return is_held;
}

static void on_linger(evutil_socket_t fd, short what, void *arg)
{
    struct proc *proc = arg;

    (void)fd;
    (void)what;
    if (proc->is_over) /* its job may be freed already */
        return;
    if (is_held_up(proc)) { /* its last bytes may not be read yet */
        ep_linger_restart(proc);
        return;
    }
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (proc->outputs[i].channel != NULL)
            ep_channel_expire(proc->outputs[i].channel);
    }
}

void ep_linger_start(struct proc *proc, struct event_base *base)
{
    proc->linger = evtimer_new(base, on_linger, proc);
    ep_linger_restart(proc);
}
