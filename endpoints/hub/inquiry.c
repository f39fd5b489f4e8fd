/* Decides whether the root is gone.
 *
 * A refusal that this process alone has received is only a hint. So it asks
 * other nodes, ancestors first, whether they have the root: each of these dials
 * the root itself and answers with the result. When one has the root, the hint
 * is ignored, and the inquiry starts again after a while. When all answer that
 * the root refuses them, too, or when none answers for some time that it has
 * the root, the root is gone. A peer that is asked and then refused asks others
 * as well: after the end of a session all nodes know it within one round.
 */
#include <stdlib.h>
#include <string.h>

#include "endpoints/hub/impl.h"

enum { ASKED_MAX = 16, WAIT_S = 3, GRACE_S = 1 };

/* A peer's question whether we have the root. */
struct hub_question {
    LIST_ENTRY(hub_question) entry;
    struct ep_request *req;
    uint8_t hello[EP_AUTH_HELLO_BYTES];
};

/* True when a node of this process has the root as its parent. */
static bool has_root(const struct ep_hub *hub)
{
    for (uint32_t i = 0; i < hub->cfg.nodes_count; i++) {
        const struct hub_node *node = &hub->nodes[i];

        for (uint32_t slot = 0; slot < node->links_room; slot++) {
            if (node->links[slot] != NULL && node->links[slot]->peer == 0)
                return true;
        }
    }
    return false;
}

static void wait_for(struct event *event, time_t seconds)
{
    struct timeval wait = {seconds, 0};

    (void)evtimer_add(event, &wait);
}

/* --- being asked */

static void answer_all(struct ep_hub *hub, unsigned reason)
{
    struct hub_question *question;

    while ((question = LIST_FIRST(&hub->inquiry.questions)) != NULL) {
        LIST_REMOVE(question, entry);
        ep_hub_reject(hub, question->req, question->hello, reason);
        free(question);
    }
}

/* Runs after the root has refused us. When a process ends, its links end a
 * moment after its listener. */
static void on_grace_over(evutil_socket_t fd, short what, void *arg)
{
    struct ep_hub *hub = arg;

    (void)fd;
    (void)what;
    answer_all(hub, has_root(hub) ? EP_AUTH_HAS_ROOT : EP_AUTH_NO_ROOT);
}

bool ep_hub_inquiry_put(struct ep_hub *hub, struct ep_request *req,
                        const uint8_t *hello)
{
    struct hub_question *question = calloc(1, sizeof(*question));

    if (question == NULL)
        return false;
    question->req = req;
    memcpy(question->hello, hello, sizeof(question->hello));
    LIST_INSERT_HEAD(&hub->inquiry.questions, question, entry);
    if (hub->inquiry.is_on)
        answer_all(hub, EP_AUTH_NO_ROOT);
    else
        ep_hub_ask(hub, 0, ep_hub_inquiry_on_root);
    return true;
}

/* --- asking */

static void conclude(struct ep_hub *hub)
{
    hub->inquiry.is_on = false;
    evtimer_del(hub->inquiry.limit);
    if (hub->is_root_gone)
        return;
    hub->is_root_gone = true;
    hub->cfg.events->on_root_gone(hub->cfg.arg);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct ep_hub *hub = arg;

    (void)fd;
    (void)what;
    if (hub->inquiry.is_on)
        conclude(hub);
    else /* another node has the root: ask again later */
        ep_hub_ask(hub, 0, ep_hub_inquiry_on_root);
}

void ep_hub_inquiry_dismiss(struct ep_hub *hub)
{
    if (!hub->inquiry.is_on)
        return;
    hub->inquiry.is_on = false;
    wait_for(hub->inquiry.limit, WAIT_S);
}

static void on_answer(struct ep_hub *hub, uint32_t peer, enum hub_answer answer)
{
    struct hub_inquiry *inquiry = &hub->inquiry;

    (void)peer;
    if (!inquiry->is_on)
        return;
    inquiry->waiting--;
    inquiry->has_doubt |= answer == HUB_SILENT || answer == HUB_THERE;
    if (answer == HUB_HAS_ROOT)
        ep_hub_inquiry_dismiss(hub);
    else if (inquiry->waiting == 0 && !inquiry->has_doubt)
        conclude(hub);
}

/* True when the daemon at this address was asked already: a daemon that hosts
 * several nodes is asked only once. */
static bool is_known(const struct ep_hub *hub, uint32_t place)
{
    const struct ep_boot_peer *peer = &hub->book.at[place];

    if (peer->node == 0 ||
        strcmp(peer->address, hub->cfg.ops->address(hub->transport)) == 0)
        return true;
    for (uint32_t i = 0; i < place; i++) {
        if (strcmp(hub->book.at[i].address, peer->address) == 0)
            return true;
    }
    return false;
}

/* Asks all known nodes. Numbers ascend from the root on, so ancestors are asked
 * before children. */
static void ask_others(struct ep_hub *hub)
{
    struct hub_inquiry *inquiry = &hub->inquiry;
    uint32_t asked[ASKED_MAX];
    unsigned count = 0;

    for (uint32_t i = 0; i < hub->book.count && count < ASKED_MAX; i++) {
        if (!is_known(hub, i))
            asked[count++] = hub->book.at[i].node;
    }
    inquiry->waiting = count;
    for (unsigned i = 0; i < count && inquiry->is_on; i++)
        ep_hub_ask(hub, asked[i], on_answer);
    if (count == 0)
        conclude(hub);
}

/* Handles a refusal by the root. A link to the root that still exists proves
 * more than the refusal. */
static void on_refused(struct ep_hub *hub)
{
    if (has_root(hub)) {
        if (!LIST_EMPTY(&hub->inquiry.questions))
            wait_for(hub->inquiry.grace, GRACE_S);
        return;
    }
    answer_all(hub, EP_AUTH_NO_ROOT);
    if (!hub->nodes[0].was_linked || hub->inquiry.is_on ||
        evtimer_pending(hub->inquiry.limit, NULL))
        return;
    hub->inquiry.is_on = true;
    hub->inquiry.has_doubt = false;
    wait_for(hub->inquiry.limit, WAIT_S);
    ask_others(hub);
}

void ep_hub_inquiry_on_root(struct ep_hub *hub, uint32_t peer,
                            enum hub_answer answer)
{
    (void)peer;
    if (answer == HUB_NOBODY)
        on_refused(hub);
    else if (answer == HUB_OVER)
        conclude(hub);
    else if (answer == HUB_THERE)
        answer_all(hub, EP_AUTH_HAS_ROOT);
    else
        answer_all(hub, EP_AUTH_ALIVE);
}

/* --- opening and closing */

bool ep_hub_inquiry_init(struct ep_hub *hub)
{
    hub->inquiry.limit = evtimer_new(hub->cfg.base, on_limit, hub);
    hub->inquiry.grace = evtimer_new(hub->cfg.base, on_grace_over, hub);
    return hub->inquiry.limit != NULL && hub->inquiry.grace != NULL;
}

void ep_hub_inquiry_stop(struct ep_hub *hub)
{
    hub->inquiry.is_on = false;
    answer_all(hub, EP_AUTH_OVER);
    if (hub->inquiry.limit != NULL)
        evtimer_del(hub->inquiry.limit);
    if (hub->inquiry.grace != NULL)
        evtimer_del(hub->inquiry.grace);
}

void ep_hub_inquiry_fini(struct ep_hub *hub)
{
    if (hub->inquiry.limit != NULL)
        event_free(hub->inquiry.limit);
    if (hub->inquiry.grace != NULL)
        event_free(hub->inquiry.grace);
}
