/* The processes of a daemon's nodes: started, and signalled by number. */
#include <signal.h>
#include <stdlib.h>

#include "endpoints/daemon/impl.h"
#include "overlay/base/err.h"

struct daemon_node *ep_daemon_owner(struct daemon *d, uint32_t *proc)
{
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        struct daemon_node *node = &d->nodes[i];

        if (*proc >= node->proc_first &&
            *proc - node->proc_first < ep_local_procs(node->local)) {
            *proc -= node->proc_first;
            return node;
        }
    }
    return NULL;
}

/* --- pids */

/* In words of neighbours by rank. */
static void say_pids(struct daemon_node *node)
{
    uint32_t count = ep_local_procs(node->local);
    struct ep_state state = {.kind = EP_STATE_PIDS};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = ep_local_rank(node->local, i);

        if (state.value == 0)
            state.rank = rank;
        state.pids[state.value++] = node->pids[i];
        if (i + 1 == count || state.value == EP_STATE_PIDS_MAX ||
            ep_local_rank(node->local, i + 1) != rank + 1) {
            ep_local_say(node->local, &state);
            state.value = 0;
        }
    }
}

/* All are told at once, in the record that says that they run. */
void ep_daemon_started(struct daemon *d, uint32_t proc, int64_t pid)
{
    struct daemon_node *node = ep_daemon_owner(d, &proc);

    if (node == NULL)
        return;
    if (node->pids == NULL)
        node->pids = calloc(ep_local_procs(node->local), sizeof(*node->pids));
    OV_ASSERT(node->pids != NULL);
    node->pids[proc] = (uint32_t)pid;
    if (++node->pids_count == ep_local_procs(node->local)) {
        say_pids(node);
        free(node->pids);
        node->pids = NULL;
    }
    ep_local_started(node->local);
}

/* --- signals */

static bool is_in(uint32_t number, struct ov_rd ranges)
{
    while (ov_rd_left(&ranges) > 0 && !ranges.bad) {
        uint32_t first = ov_rd_u32(&ranges);
        uint32_t last = ov_rd_u32(&ranges);

        if (!ranges.bad && number >= first && number <= last)
            return true;
    }
    return false;
}

static void signal_some(struct daemon *d, struct daemon_node *node, int signo,
                        struct ov_rd ranges)
{
    for (uint32_t i = 0; i < ep_local_procs(node->local); i++) {
        if (is_in(ep_local_rank(node->local, i), ranges))
            ep_spawner_signal(d->spawner, node->proc_first + i, signo);
    }
}

void ep_daemon_signal(struct daemon *d, uint32_t index, struct ov_rd body)
{
    int signo = (int)ov_rd_u32(&body);
    struct daemon_node *node = &d->nodes[index];

    if (body.bad)
        return;
    if (ov_rd_left(&body) > 0) {
        signal_some(d, node, signo, body);
        return;
    }
    if (signo == SIGTSTP || signo == SIGSTOP || signo == SIGCONT)
        ep_local_pause(node->local, signo != SIGCONT);
    /* One word reaches all processes of the daemon. */
    if (index == 0)
        ep_spawner_signal_all(d->spawner, signo);
}
