/* Orders of the launcher to all nodes: messages on stream 0.
 *
 * Orders leave in the sequence in which they were given, each as soon as there
 * is room for it. An order that is too long for a message leaves in several.
 * Callers bound how many orders wait: there is no limit here.
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

/* The carrier of the messages. Each function may be called from within one that
 * sends, and may itself call ep_run_orders_pump(). */
struct run_carrier {
    /* Returns how many messages it takes at present. */
    uint32_t (*room)(void *arg);
    /* Returns a buffer for a message behind OV_DOWN_HEAD_BYTES, which belong to
     * the carrier; NULL: none is free, and the message waits for the next
     * pump. */
    struct ov_buf *(*buf)(void *arg);
    /* Takes back a buffer with a message of len_bytes. */
    void (*send)(void *arg, struct ov_buf *buf, uint32_t len_bytes);
};

/* message_bytes is the longest message, head and all; the carrier is borrowed.
 * Returns 0 or OV_ENOMEM. */
int ep_run_orders_open(const struct run_carrier *carrier, void *arg,
                       uint32_t message_bytes, struct run_orders **out);
/* Forgets what still waits. NULL is allowed. */
void ep_run_orders_close(struct run_orders *orders);

/* Queues an order, of a kind of overlay/control.h or job/job.h, which leaves
 * with the next pump; the body is copied. O(len_bytes). */
void ep_run_orders_queue(struct run_orders *orders, uint8_t kind,
                         const void *body, uint32_t len_bytes);
/* Sends what was queued, as far as there is room. */
void ep_run_orders_pump(struct run_orders *orders);
/* Queues an order and sends what there is room for. */
void ep_run_orders_send(struct run_orders *orders, uint8_t kind,
                        const void *body, uint32_t len_bytes);
/* Tells whether everything was handed to the carrier. */
bool ep_run_orders_is_empty(const struct run_orders *orders);

/* Sends an order at once, as far as there is room. */
void ep_run_orders_give(struct run_orders *orders,
                        const struct job_order *order);
/* Adds a number to an order for many, which ascend. The order goes out in
 * parts, each as soon as it is full; ep_run_orders_rest() sends what is left,
 * if anything. */
void ep_run_orders_add(struct run_orders *orders, struct job_order *order,
                       uint32_t number);
void ep_run_orders_rest(struct run_orders *orders, struct job_order *order);

/* Sends a signal to the processes of these ranges of numbers; to all processes
 * when count is 0. O(count). */
void ep_run_orders_signal(struct run_orders *orders, int signo,
                          const struct topo_range *ranges, uint32_t count);
/* Asks for output from before, of at least one range. Returns the ticket of the
 * answers, which is not 0 and is used again after 65535 others. O(count). */
uint16_t ep_run_orders_replay(struct run_orders *orders,
                              const struct job_replay_wish *want);

#endif
