/* Orders of the launcher to all nodes: messages on stream 0.
 *
 * They leave in the order in which they were given, each as soon as there is
 * room for it. One that is too long for a message leaves in several. Whoever
 * gives orders bounds how many wait: here is no limit.
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

/* What carries them. Each may be called from within a function that sends, and
 * may itself call ep_run_orders_pump(). */
struct run_carrier {
    /* How many messages it takes at present. */
    uint32_t (*room)(void *arg);
    /* A buffer for a message behind OV_DOWN_HEAD_BYTES that belong to the
     * carrier; NULL: none is free, the message waits for the next pump. */
    struct ov_buf *(*buf)(void *arg);
    /* Takes a buffer back, with a message of len_bytes in it. */
    void (*send)(void *arg, struct ov_buf *buf, uint32_t len_bytes);
};

/* message_bytes is the longest message, head and all; the carrier is borrowed.
 * Returns 0 or OV_ENOMEM. */
int ep_run_orders_open(const struct run_carrier *carrier, void *arg,
                       uint32_t message_bytes, struct run_orders **out);
/* What still waits is forgotten. NULL is allowed. */
void ep_run_orders_close(struct run_orders *orders);

/* One more, of a kind of overlay/control.h or job/job.h; the body is copied.
 * It leaves with the next pump. O(len_bytes). */
void ep_run_orders_queue(struct run_orders *orders, uint8_t kind,
                         const void *body, uint32_t len_bytes);
/* Sends what was queued, as far as there is room. */
void ep_run_orders_pump(struct run_orders *orders);
/* Both. */
void ep_run_orders_send(struct run_orders *orders, uint8_t kind,
                        const void *body, uint32_t len_bytes);
/* Has everything been handed to the carrier? */
bool ep_run_orders_is_empty(const struct run_orders *orders);

/* An order, at once. */
void ep_run_orders_give(struct run_orders *orders,
                        const struct job_order *order);
/* An order for many numbers, ascending, goes out in parts, each as soon as it
 * is full. The caller sends the rest, if there is any. */
void ep_run_orders_add(struct run_orders *orders, struct job_order *order,
                       uint32_t number);
void ep_run_orders_rest(struct run_orders *orders, struct job_order *order);

/* A signal to the processes of these ranges of numbers; to all, where count is
 * 0. O(count). */
void ep_run_orders_signal(struct run_orders *orders, int signo,
                          const struct topo_range *ranges, uint32_t count);
/* Asks for output from before, of one range at least. Returns the ticket of the
 * answers, which is not 0 and comes again after 65535 others. O(count). */
uint16_t ep_run_orders_replay(struct run_orders *orders,
                              const struct job_replay_wish *want);

#endif
