/* Orders to all nodes: a queue, and the contents of some of them. */
#include "endpoints/run/orders.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/client/requests.h"
#include "job/job.h"
#include "job/order.h"
#include "overlay/base/buf.h"
#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"

struct order {
    struct order *next;
    uint32_t len_bytes, sent_bytes;
    uint8_t kind;
    uint8_t body[];
};

struct run_orders {
    const struct run_carrier *carrier;
    void *arg;
    uint32_t body_bytes_max; /* the room that a message has after its head */
    uint16_t ticket;         /* the last ticket that was used; 0: none yet */
    struct order *first, **last;
};

int ep_run_orders_open(const struct run_carrier *carrier, void *arg,
                       uint32_t message_bytes, struct run_orders **out)
{
    struct run_orders *orders = calloc(1, sizeof(*orders));

    OV_ASSERT(message_bytes > OV_CONTROL_HEAD_BYTES);
    *out = orders;
    if (orders == NULL)
        return OV_ENOMEM;
    orders->carrier = carrier;
    orders->arg = arg;
    orders->body_bytes_max = message_bytes - OV_CONTROL_HEAD_BYTES;
    orders->last = &orders->first;
    return 0;
}

static void drop_first(struct run_orders *orders)
{
    struct order *order = orders->first;

    orders->first = order->next;
    if (orders->first == NULL)
        orders->last = &orders->first;
    free(order);
}

void ep_run_orders_close(struct run_orders *orders)
{
    while (orders != NULL && orders->first != NULL)
        drop_first(orders);
    free(orders);
}

/* --- the queue */

void ep_run_orders_queue(struct run_orders *orders, uint8_t kind,
                         const void *body, uint32_t len_bytes)
{
    struct order *order = malloc(sizeof(*order) + len_bytes);

    OV_ASSERT(order != NULL);
    *order = (struct order){.kind = kind, .len_bytes = len_bytes};
    if (len_bytes > 0)
        memcpy(order->body, body, len_bytes);
    *orders->last = order;
    orders->last = &order->next;
}

/* Writes the next message of the first order in the queue. The order is removed
 * with its last message. Returns the message's length. */
static uint32_t put_message(struct run_orders *orders, uint8_t *mem)
{
    struct order *order = orders->first;
    uint32_t left_bytes = order->len_bytes - order->sent_bytes;
    bool more = left_bytes > orders->body_bytes_max;
    uint32_t body_bytes = more ? orders->body_bytes_max : left_bytes;
    struct ov_wr wr = ov_wr_init(mem, OV_CONTROL_HEAD_BYTES + body_bytes);

    ov_control_encode(&wr, order->kind, more);
    ov_wr_bytes(&wr, order->body + order->sent_bytes, body_bytes);
    OV_ASSERT(!wr.bad);
    order->sent_bytes += body_bytes;
    if (!more)
        drop_first(orders);
    return OV_CONTROL_HEAD_BYTES + body_bytes;
}

void ep_run_orders_pump(struct run_orders *orders)
{
    while (orders->first != NULL && orders->carrier->room(orders->arg) > 0) {
        struct ov_buf *buf = orders->carrier->buf(orders->arg);
        uint32_t len_bytes;

        if (buf == NULL)
            return;
        len_bytes = put_message(orders, buf->mem + OV_DOWN_HEAD_BYTES);
        orders->carrier->send(orders->arg, buf, len_bytes);
    }
}

void ep_run_orders_send(struct run_orders *orders, uint8_t kind,
                        const void *body, uint32_t len_bytes)
{
    ep_run_orders_queue(orders, kind, body, len_bytes);
    ep_run_orders_pump(orders);
}

bool ep_run_orders_is_empty(const struct run_orders *orders)
{
    return orders->first == NULL;
}

/* --- orders of job/order.h */

static void queue_order(struct run_orders *orders,
                        const struct job_order *order)
{
    uint8_t body[JOB_ORDER_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(body, sizeof(body));

    job_order_encode(&wr, order);
    OV_ASSERT(!wr.bad);
    ep_run_orders_queue(orders, order->kind, body, (uint32_t)(wr.at - body));
}

void ep_run_orders_give(struct run_orders *orders,
                        const struct job_order *order)
{
    queue_order(orders, order);
    ep_run_orders_pump(orders);
}

void ep_run_orders_rest(struct run_orders *orders, struct job_order *order)
{
    if (order->ranges_count > 0)
        ep_run_orders_give(orders, order);
    order->ranges_count = 0;
}

void ep_run_orders_add(struct run_orders *orders, struct job_order *order,
                       uint32_t number)
{
    uint32_t count = order->ranges_count;

    if (count > 0 && order->ranges[count - 1].last + 1 == number) {
        order->ranges[count - 1].last = number;
        return;
    }
    if (count == JOB_ORDER_RANGES_MAX)
        ep_run_orders_rest(orders, order);
    order->ranges[order->ranges_count++] = (struct topo_range){number, number};
}

/* Sends the same order for all these ranges, in several parts if necessary. */
static void give_all(struct run_orders *orders, struct job_order *order,
                     const struct topo_range *ranges, uint32_t count)
{
    uint32_t at = 0;

    do {
        order->ranges_count = 0;
        while (at < count && order->ranges_count < JOB_ORDER_RANGES_MAX)
            order->ranges[order->ranges_count++] = ranges[at++];
        queue_order(orders, order);
    } while (at < count);
    ep_run_orders_pump(orders);
}

void ep_run_orders_signal(struct run_orders *orders, int signo,
                          const struct topo_range *ranges, uint32_t count)
{
    struct job_order order = {.kind = JOB_CONTROL_SIGNAL,
                              .number = (uint32_t)signo};

    give_all(orders, &order, ranges, count);
}

uint16_t ep_run_orders_replay(struct run_orders *orders,
                              const struct job_replay_wish *want)
{
    struct job_order order = {.kind = JOB_CONTROL_REPLAY,
                              .channels = want->channels,
                              .is_last = want->is_last,
                              .bytes = want->bytes};

    if (++orders->ticket == 0)
        orders->ticket = 1;
    order.ticket = orders->ticket;
    give_all(orders, &order, want->ranges, want->count);
    return order.ticket;
}
