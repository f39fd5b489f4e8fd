/* Orders of the launcher to all nodes: messages on stream 0 of the tree.
 *
 * Orders leave in the sequence in which they were queued, each as soon as there
 * is room for it. An order that is too long for one message leaves in several.
 * The queue has no limit, so callers limit how many orders they queue.
 */
#ifndef ENDPOINTS_RUN_ORDERS_H
#define ENDPOINTS_RUN_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/tree.h"

struct job_replay_wish;
struct job_order;
struct ov_buf;
struct run_orders;

/* What carries the messages. Each of these functions may be called from within
 * an ep_run_orders function that sends, and may itself call
 * ep_run_orders_pump(). */
struct run_carrier {
    /* Returns how many messages can be sent now. */
    uint32_t (*room)(void *arg);
    /* Returns a buffer for a message. The first OV_DOWN_HEAD_BYTES belong to
     * the carrier, and the message follows them. NULL: no buffer is free, and
     * the message waits for the next pump. */
    struct ov_buf *(*buf)(void *arg);
    /* Sends a message of len_bytes in a buffer that buf() has returned. */
    void (*send)(void *arg, struct ov_buf *buf, uint32_t len_bytes);
};

/* Opens an empty queue. message_bytes is the length of the longest message with
 * its head; the carrier is borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_orders_open(const struct run_carrier *carrier, void *arg,
                       uint32_t message_bytes, struct run_orders **out);
/* Drops the orders that still wait. NULL is allowed. */
void ep_run_orders_close(struct run_orders *orders);

/* Queues an order, which the next pump sends. Its kind is one of
 * overlay/control.h or job/job.h; the body is copied. O(len_bytes). */
void ep_run_orders_queue(struct run_orders *orders, uint8_t kind,
                         const void *body, uint32_t len_bytes);
/* Sends the orders that wait, as far as there is room. */
void ep_run_orders_pump(struct run_orders *orders);
/* Queues an order, and sends the orders that wait, as far as there is room. */
void ep_run_orders_send(struct run_orders *orders, uint8_t kind,
                        const void *body, uint32_t len_bytes);
/* Tells whether all orders were passed to the carrier. */
bool ep_run_orders_is_empty(const struct run_orders *orders);

/* Queues an order that is already complete, and sends as far as there is
 * room. */
void ep_run_orders_give(struct run_orders *orders,
                        const struct job_order *order);
/* Adds the number of a process to an order for many processes; numbers must
 * ascend. Each time the order is full, it is sent as a part. After the last
 * number, ep_run_orders_rest() sends the last part, if it is not empty. */
void ep_run_orders_add(struct run_orders *orders, struct job_order *order,
                       uint32_t number);
void ep_run_orders_rest(struct run_orders *orders, struct job_order *order);

/* Sends a signal to the processes whose numbers are in these ranges; to all
 * processes when count is 0. O(count). */
void ep_run_orders_signal(struct run_orders *orders, int signo,
                          const struct topo_range *ranges, uint32_t count);
/* Asks the nodes for earlier output, of the processes in one range at least.
 * Returns the ticket that marks the answers. It is not 0, and the same ticket
 * is used again after 65535 further requests. O(count). */
uint16_t ep_run_orders_replay(struct run_orders *orders,
                              const struct job_replay_wish *want);

#endif
