/* Daemons beneath this one that no shell on this host reaches.
 *
 * We ask our starter to start such a daemon instead of us, and it may ask its
 * own starter, up to the launcher. The tree stays as planned: the daemon dials
 * its parent there. So its starter must know where the daemons between the two
 * listen; the request carries these addresses.
 */
#include <stdio.h>
#include <string.h>

#include "endpoints/daemon/impl.h"
#include "overlay/base/err.h"

void ep_daemon_learn(struct daemon *d, const struct ep_boot_peer *peer)
{
    if (d->hub != NULL && ep_hub_peer(d->hub, peer))
        ep_daemon_error(d, ov_strerror(OV_ENOMEM));
}

static bool is_beneath(const struct daemon *d, uint32_t above, uint32_t node)
{
    const struct topo_tree *tree = &d->config.tree;

    return node < tree->nodes && above != node &&
           topo_tree_contains(tree, above, node);
}

/* Asks our starter, which knows where this daemon and all above it listen. */
static void ask_starter(struct daemon *d, uint32_t node, uint32_t time_ms,
                        const char *text)
{
    const struct topo_tree *tree = &d->config.tree;
    uint32_t above = topo_tree_parent(tree, node);
    struct ep_boot_up up = {.kind = EP_BOOT_PEER};

    for (; above != d->numbers[0]; above = topo_tree_parent(tree, above)) {
        const struct ep_boot_peer *peer = ep_hub_find(d->hub, above);

        if (peer == NULL)
            continue;
        up.peer = *peer;
        ep_boot_up_encode(&up, &d->above.said);
    }
    ep_daemon_words(d, EP_BOOT_START, node, time_ms, text);
}

void ep_daemon_on_unreached(void *arg, uint32_t index, uint32_t time_ms,
                            const char *text, const char *first)
{
    struct daemon *d = arg;

    if (d->end != DAEMON_STAYS)
        return;
    ep_daemon_note(d, d->numbers[0], text);
    ask_starter(d, index, time_ms, first != NULL ? first : text);
}

void ep_daemon_on_beneath(void *arg, uint32_t index,
                          const struct ep_boot_peer *peer)
{
    struct daemon *d = arg;

    if (is_beneath(d, index, peer->node))
        ep_daemon_learn(d, peer);
}

/* Sends all known addresses of the daemons above that node, its ancestors. */
static void tell_ancestors(struct daemon *d, uint32_t node)
{
    const struct topo_tree *tree = &d->config.tree;
    struct ep_boot_peer self;

    ep_hub_self(d->hub, &self);
    for (uint32_t above = node; above != 0;) {
        const struct ep_boot_peer *peer;

        above = topo_tree_parent(tree, above);
        peer = above == self.node ? &self : ep_hub_find(d->hub, above);
        if (peer != NULL)
            ep_starter_peer(d->below.starter, node, peer);
    }
}

void ep_daemon_on_start(void *arg, uint32_t index, uint32_t node,
                        uint32_t time_ms, const char *text)
{
    struct daemon *d = arg;
    char why[EP_BOOT_WHY_MAX], words[EP_BOOT_TEXT_MAX];

    if (d->end != DAEMON_STAYS || !is_beneath(d, index, node))
        return;
    if (ep_starter_take_over(d->below.starter, &d->config, node, time_ms, text,
                             why) != 0) {
        snprintf(words, sizeof(words), "%s; and then: %s", text, why);
        ep_daemon_error(d, words);
        return;
    }
    tell_ancestors(d, node);
}
