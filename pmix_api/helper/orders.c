/* Sends signals that the tool asks for. */
#include "pmix_api/helper/orders.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/door.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/describer.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/scope.h"
#include "endpoints/client/table.h"

enum { HOST_BYTES = 256 };

struct order {
    struct order *next;
    const struct px_lib_control *asked;
    struct px_lib_name *names; /* owned */
    /* None of the names before the index `local` stands for this node's
     * processes. */
    size_t count, local;
    /* This order, and each order before it, was sent to the session. */
    bool is_said;
};

struct px_orders {
    const struct px_jobs *jobs;
    struct px_describer *describer;
    /* Asks for the table that the first unsent order needs. */
    struct px_describer_user user;
    bool is_asking; /* `user` waits for its answer */
    char here[HOST_BYTES];
    struct order *first; /* owned */
    uint32_t count;
};

/* --- the list */

static struct order **find_unsaid(struct px_orders *orders)
{
    struct order **at = &orders->first;

    while (*at != NULL && (*at)->is_said)
        at = &(*at)->next;
    return at;
}

static void remove_order(struct px_orders *orders, struct order **at)
{
    struct order *order = *at;

    *at = order->next;
    orders->count--;
    free(order->names);
    free(order);
}

static void answer(struct px_orders *orders, struct order **at,
                   enum px_lib_answer word)
{
    px_lib_answer((*at)->asked->call, word);
    remove_order(orders, at);
}

/* --- the processes of this node, one by one */

static uint32_t count_here(const struct px_orders *orders,
                           const struct ep_table *table)
{
    const struct ep_table_place *place;
    uint32_t count = 0;

    for (uint32_t i = 0; (place = ep_table_at(table, i)) != NULL; i++)
        count += strcmp(place->host, orders->here) == 0 ? place->count : 0;
    return count;
}

/* Replaces the name that stands for the processes of this node by a name for
 * each of these processes, and keeps the other names of the order. */
static void name_each(const struct px_orders *orders, struct order *order,
                      const struct ep_table *table, struct px_lib_name *out)
{
    const struct px_lib_name whole = order->names[order->local];
    const struct ep_table_place *place;
    size_t at = 0;

    for (uint32_t i = 0; (place = ep_table_at(table, i)) != NULL; i++) {
        if (strcmp(place->host, orders->here) != 0)
            continue;
        for (uint32_t k = 0; k < place->count; k++) {
            out[at] = whole;
            out[at++].rank = place->first + k;
        }
    }
}

static enum px_lib_answer expand(const struct px_orders *orders,
                                 struct order *order,
                                 const struct ep_table *table)
{
    const uint32_t here = count_here(orders, table);
    const size_t left = order->count - order->local - 1;
    struct px_lib_name *names;

    if (here == 0)
        return PX_LIB_NOT_FOUND;
    names = calloc(order->count + here, sizeof(*names));
    if (names == NULL)
        return PX_LIB_NO_RESOURCE;
    memcpy(names, order->names, order->local * sizeof(*names));
    name_each(orders, order, table, names + order->local);
    memcpy(names + order->local + here, order->names + order->local + 1,
           left * sizeof(*names));
    free(order->names);
    order->names = names;
    order->count += here - 1;
    order->local += here;
    return PX_LIB_YES;
}

/* --- sending an order */

static int compare(const void *a, const void *b)
{
    const struct px_scope *left = a, *right = b;

    return left->job.base < right->job.base ? -1
                                            : left->job.base > right->job.base;
}

/* Sends an order to the session. Its processes are named in ascending order
 * over all jobs. */
static enum px_lib_answer say_order(const struct px_orders *orders,
                                    const struct order *order)
{
    struct px_door *door = px_jobs_door(orders->jobs);
    struct px_scopes scopes;
    uint64_t ranges = 0;
    enum px_lib_answer word =
        px_scopes_find(orders->jobs, order->names, order->count, &scopes);

    if (word != PX_LIB_YES)
        return word;
    for (size_t i = 0; i < scopes.count; i++)
        ranges += scopes.at[i].ranks.count;
    if (ranges > PX_ORDERS_RANGES_MAX) {
        px_scopes_end(&scopes);
        return PX_LIB_NO_RESOURCE;
    }
    qsort(scopes.at, scopes.count, sizeof(*scopes.at), compare);
    for (size_t i = 0; i < scopes.count; i++)
        px_door_say_ranges(door, &scopes.at[i].ranks, scopes.at[i].job.base);
    px_scopes_end(&scopes);
    px_door_say(door, &(struct job_door){.kind = JOB_DOOR_SIGNAL,
                                         .status = order->asked->signo});
    return PX_LIB_YES;
}

/* Sends an order, refuses it, or asks for the table that it needs. */
static enum px_lib_answer go_on_with(struct px_orders *orders,
                                     struct order *order)
{
    const struct px_jobs_entry *job;

    while (order->local < order->count &&
           !px_scope_is_local(&order->names[order->local]))
        order->local++;
    if (order->local == order->count) {
        order->is_said = true;
        return say_order(orders, order);
    }
    job = px_jobs_find(orders->jobs, order->names[order->local].nspace);
    if (job == NULL)
        return PX_LIB_NOT_FOUND;
    orders->is_asking = true;
    px_describer_ask(orders->describer, &orders->user, job);
    return PX_LIB_YES;
}

static void go_on(struct px_orders *orders)
{
    struct order **at;

    while (!orders->is_asking && *(at = find_unsaid(orders)) != NULL) {
        enum px_lib_answer word = go_on_with(orders, *at);

        if (word != PX_LIB_YES)
            answer(orders, at, word);
    }
}

static void on_done(void *arg, enum px_lib_answer word, struct ep_table *table)
{
    struct px_orders *orders = arg;
    struct order **at = find_unsaid(orders);

    orders->is_asking = false;
    if (word == PX_LIB_YES)
        word = expand(orders, *at, table);
    ep_table_close(table);
    if (word != PX_LIB_YES)
        answer(orders, at, word);
    go_on(orders);
}

/* --- requests of the tool, answers of the session */

/* Copies the names of the targets. Without targets the order is for all
 * processes of the session's own job. */
static enum px_lib_answer copy_names(const struct px_orders *orders,
                                     struct order *order)
{
    const struct px_lib_control *asked = order->asked;
    const struct px_jobs_entry *own = px_jobs_find_of(orders->jobs, 0);

    if (asked->count == 0 && own == NULL)
        return PX_LIB_NOT_FOUND;
    order->names = calloc(asked->count + 1, sizeof(*order->names));
    if (order->names == NULL)
        return PX_LIB_NO_RESOURCE;
    order->count = asked->count;
    if (asked->count > 0) {
        memcpy(order->names, asked->targets,
               asked->count * sizeof(*order->names));
        return PX_LIB_YES;
    }
    order->count = 1;
    strcpy(order->names[0].nspace, own->name);
    order->names[0].rank = PX_LIB_ALL;
    return PX_LIB_YES;
}

void px_orders_on_control(struct px_orders *orders,
                          const struct px_lib_control *asked)
{
    struct order **at = &orders->first, *order = NULL;
    enum px_lib_answer word;

    if (orders->count < PX_ORDERS_MAX)
        order = calloc(1, sizeof(*order));
    if (order == NULL) {
        px_lib_answer(asked->call, PX_LIB_NO_RESOURCE);
        return;
    }
    order->asked = asked;
    word = copy_names(orders, order);
    while (*at != NULL)
        at = &(*at)->next;
    *at = order;
    orders->count++;
    if (word != PX_LIB_YES)
        answer(orders, at, word);
    else
        go_on(orders);
}

void px_orders_on_word(struct px_orders *orders, const struct job_door *msg)
{
    if (msg->kind == JOB_DOOR_SIGNALLED && orders->first != NULL &&
        orders->first->is_said)
        answer(orders, &orders->first,
               msg->is_over ? PX_LIB_NOT_NOW : PX_LIB_YES);
}

/* --- beginning and end */

int px_orders_open(const struct px_jobs *jobs, struct px_describer *describer,
                   struct px_orders **out)
{
    struct px_orders *orders = calloc(1, sizeof(*orders));

    *out = orders;
    if (orders == NULL)
        return OV_ENOMEM;
    orders->jobs = jobs;
    orders->describer = describer;
    orders->user =
        (struct px_describer_user){.on_done = on_done, .arg = orders};
    if (gethostname(orders->here, sizeof(orders->here) - 1) != 0)
        strcpy(orders->here, "localhost");
    return 0;
}

void px_orders_close(struct px_orders *orders)
{
    if (orders == NULL)
        return;
    while (orders->first != NULL)
        remove_order(orders, &orders->first);
    free(orders);
}
