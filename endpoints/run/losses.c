/* Messages about lost nodes. */
#include "endpoints/run/losses.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/run/plan.h"
#include "overlay/base/err.h"
#include "topo/ranges.h"

enum { LOSSES_MS = 200, HOSTS_BYTES = 400, NUMBERS_BYTES = 200 };

struct run_losses {
    const struct run_plan *plan;
    /* owned, [room]: nodes whose loss is not reported yet; the two flags below
     * hold for all of them */
    uint32_t *nodes;
    uint32_t count, room;
    bool goes_on; /* whether the job goes on without them */
    bool is_news; /* whether the job had not ended before */
    struct event *timer;
};

struct numbers {
    struct topo_ranges set;
    char text[NUMBERS_BYTES];
};

static bool numbers_init(struct numbers *numbers, size_t ranges)
{
    struct topo_range *items = calloc(ranges + 1, sizeof(*items));

    if (items == NULL)
        return false;
    topo_ranges_init(&numbers->set, items, (uint32_t)ranges);
    return true;
}

/* Returns the text, which ends in dots when it was cut. */
static const char *numbers_text(struct numbers *numbers)
{
    size_t len = topo_ranges_format(&numbers->set, numbers->text,
                                    sizeof(numbers->text) - 3);

    if (len >= sizeof(numbers->text) - 3)
        memcpy(numbers->text + sizeof(numbers->text) - 4, "...", 4);
    return numbers->text;
}

static void add_ranks(const struct run_plan *plan, uint32_t node,
                      struct numbers *ranks)
{
    struct job_part part = {0};

    /* In a dvm, the processes are the daemons themselves, and are not
     * listed. */
    while (!plan->options->is_dvm && job_next_on_node(plan->job, node, &part))
        (void)topo_ranges_add(
            &ranks->set, (struct topo_range){part.first_rank,
                                             part.first_rank + part.count - 1});
}

/* Nodes, in the form in which a message names them. */
struct named {
    struct numbers nodes, ranks;
    char *hosts; /* owned: the names of these nodes' hosts */
    bool many;
};

static void named_fini(struct named *named)
{
    free(named->nodes.set.items);
    free(named->ranks.set.items);
    free(named->hosts);
}

static bool named_init(const struct run_plan *plan, const uint32_t *nodes,
                       uint32_t count, struct named *named)
{
    struct topo_hosts hosts;

    *named = (struct named){.many = count > 1};
    if (!numbers_init(&named->nodes, count) ||
        !numbers_init(&named->ranks, (size_t)count * JOB_APPS_MAX)) {
        named_fini(named);
        return false;
    }
    topo_hosts_init(&hosts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = ep_run_place(plan, nodes[i]);
        const char *host = ep_run_host(plan, nodes[i]);

        (void)topo_ranges_add(&named->nodes.set,
                              (struct topo_range){place, place});
        add_ranks(plan, nodes[i], &named->ranks);
        if (topo_hosts_find(&hosts, host, strlen(host)) == TOPO_NONE)
            (void)topo_hosts_add(&hosts, host, strlen(host), 0);
    }
    named->hosts = topo_hosts_fold_short(&hosts, HOSTS_BYTES);
    topo_hosts_fini(&hosts);
    return true;
}

static const char *named_hosts(const struct named *named)
{
    return named->hosts == NULL ? "" : named->hosts;
}

/* Returns the words before the numbers of ranks. */
static const char *with_ranks(const struct named *named)
{
    uint32_t procs = topo_ranges_size(&named->ranks.set);

    return procs == 0 ? "" : procs == 1 ? ", with rank " : ", with ranks ";
}

static void tell_nodes(const struct run_losses *losses)
{
    const struct run_plan *plan = losses->plan;
    struct named named;

    if (!named_init(plan, losses->nodes, losses->count, &named))
        return;
    (losses->is_news ? ep_voice_say : ep_voice_note)(
        plan->voice, "the daemon%s of node%s %s on %s %s lost%s%s; the %s %s",
        named.many ? "s" : "", named.many ? "s" : "",
        numbers_text(&named.nodes), named_hosts(&named),
        named.many ? "are" : "is", with_ranks(&named),
        numbers_text(&named.ranks), plan->options->is_dvm ? "tree" : "job",
        !losses->goes_on ? "ends"
        : named.many     ? "goes on without them"
                         : "goes on without it");
    named_fini(&named);
}

void ep_run_losses_failed(const struct run_plan *plan, const uint32_t *nodes,
                          uint32_t count, const char *text)
{
    struct named named;

    if (count == 0 || !named_init(plan, nodes, count, &named)) {
        ep_voice_say(plan->voice, "a daemon has failed: %s", text);
        return;
    }
    ep_voice_say(plan->voice, "the daemon of node%s %s on %s%s%s%s failed: %s",
                 named.many ? "s" : "", numbers_text(&named.nodes),
                 named_hosts(&named), with_ranks(&named),
                 numbers_text(&named.ranks),
                 with_ranks(&named)[0] == '\0' ? " has" : ", has", text);
    named_fini(&named);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void ep_run_losses_tell(struct run_losses *losses)
{
    if (losses == NULL || losses->count == 0)
        return;
    event_del(losses->timer);
    qsort(losses->nodes, losses->count, sizeof(*losses->nodes), by_number);
    tell_nodes(losses);
    losses->count = 0;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_run_losses_tell(arg);
}

int ep_run_losses_open(const struct run_plan *plan, struct event_base *base,
                       struct run_losses **out)
{
    struct run_losses *losses = calloc(1, sizeof(*losses));

    if (losses == NULL)
        return OV_ENOMEM;
    losses->plan = plan;
    losses->timer = evtimer_new(base, on_timer, losses);
    if (losses->timer == NULL) {
        free(losses);
        return OV_ENOMEM;
    }
    *out = losses;
    return 0;
}

void ep_run_losses_close(struct run_losses *losses)
{
    if (losses == NULL)
        return;
    event_free(losses->timer);
    free(losses->nodes);
    free(losses);
}

static bool grow_nodes(struct run_losses *losses)
{
    uint32_t room = losses->room == 0 ? 16 : 2 * losses->room;
    uint32_t *nodes;

    if (losses->count < losses->room)
        return true;
    nodes = reallocarray(losses->nodes, room, sizeof(*nodes));
    if (nodes == NULL)
        return false;
    losses->nodes = nodes;
    losses->room = room;
    return true;
}

void ep_run_losses_add(struct run_losses *losses, uint32_t node, bool goes_on,
                       bool is_news)
{
    static const struct timeval wait = {.tv_usec = LOSSES_MS * 1000};
    bool is_first, is_late = goes_on || !is_news;

    if (losses->goes_on != goes_on || losses->is_news != is_news)
        ep_run_losses_tell(losses);
    is_first = losses->count == 0;
    if (!grow_nodes(losses)) {
        ep_voice_say(losses->plan->voice, "the daemon of node %u on %s is lost",
                     ep_run_place(losses->plan, node),
                     ep_run_host(losses->plan, node));
        return;
    }
    losses->goes_on = goes_on;
    losses->is_news = is_news;
    losses->nodes[losses->count++] = node;
    if (!is_late || (is_first && evtimer_add(losses->timer, &wait) != 0))
        ep_run_losses_tell(losses);
}
