/* Transports in one process on one event base, for tests.
 *
 * A rig has sides. Each side is a transport that records what happens to it and
 * answers requests as its test has set. XYLEM_TEST_PROVIDER names the provider;
 * without it the provider is tcp.
 */
#ifndef TESTS_UNIT_FABRIC_RIG_H
#define TESTS_UNIT_FABRIC_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "endpoints/fabric/transport.h"

enum { RIG_SIDES = 2, RIG_CONNS = 512, RIG_HELD = 64 };

enum rig_answer { RIG_ACCEPT, RIG_REJECT, RIG_HOLD };

struct rig_side {
    struct ep_transport *t;
    struct rig *rig;
    struct ep_conn *conns[RIG_CONNS]; /* the links that are up */
    unsigned conns_count;
    struct ep_request *held[RIG_HELD];
    unsigned held_count;
    enum rig_answer answer;
    uint8_t cm[EP_CM_MAX]; /* the private data with which this side answers */
    size_t cm_bytes;
    uint8_t got[EP_CM_MAX]; /* private data of the last request, acceptance or
                             * refusal */
    size_t got_bytes;
    unsigned requests, ups, refusals, downs, frames, sent, idles;
    enum ep_down_why why; /* the reason that the last on_down gave */
    uint64_t bytes;
    /* When set, this is called instead of counting the frame and giving the
     * buffer back. */
    void (*on_frame)(struct rig_side *side, struct ep_conn *conn,
                     struct ov_buf *buf);
    void (*on_up)(struct rig_side *side, struct ep_conn *conn);
    void (*on_sent)(struct rig_side *side, struct ep_conn *conn);
    void (*on_idle)(struct rig_side *side);
    void *arg;
};

struct rig {
    const struct ep_transport_ops *ops;
    struct event_base *base;
    struct rig_side sides[RIG_SIDES];
    char why[EP_WHY_MAX];
};

/* Returns the module, and a configuration that tests may change: loopback,
 * frames of 4096 bytes, 4 receives, 8 sends. */
const struct ep_transport_ops *rig_load(void);
struct ep_transport_cfg rig_cfg(struct rig *rig, unsigned side);

/* Opens one side for each configuration in `cfgs`. */
void rig_open(struct rig *rig, const struct ep_transport_cfg *cfgs,
              unsigned count);
void rig_open_pair(struct rig *rig);

/* Closes all sides; fails the test when a buffer was not given back. */
void rig_close(struct rig *rig);

/* Fixtures for cmocka: *state is a zeroed rig, which is closed after the
 * test. */
int rig_set_up(void **state);
int rig_tear_down(void **state);

/* Runs the loop until is_done; fails the test after 60 s. */
void rig_until(struct rig *rig, bool (*is_done)(struct rig *rig));

/* Runs the loop until *counter is at least `least`. */
void rig_wait(struct rig *rig, const unsigned *counter, unsigned least);

/* Runs the loop until each side has no more buffers than its links need. */
void rig_settle(struct rig *rig);

/* Makes a link from side 0 to side 1 that is up on both; returns the dialler's
 * end. */
struct ep_conn *rig_link(struct rig *rig);

/* Sends len_bytes made from `number`. Returns what send() returns. */
int rig_send(struct rig_side *side, struct ep_conn *conn, uint32_t number,
             uint32_t len_bytes);

/* Fails the test unless buf holds what rig_send() made of number. */
void rig_check(const struct ov_buf *buf, uint32_t number, uint32_t len_bytes);

/* An on_frame that checks that frames 0, 1, 2 ... of rig_send() come in their
 * order; side->arg is its struct rig_order.
 */
struct rig_order {
    unsigned seen;
    uint32_t (*len)(unsigned number);
};
void rig_on_ordered(struct rig_side *side, struct ep_conn *conn,
                    struct ov_buf *buf);

/* Lengths of frames for a rig_order: 1, 2, 3 ... */
uint32_t rig_len_counting(unsigned number);

/* Sends frames 0, 1 and 2, of 100 bytes. */
void rig_send_three(struct rig_side *side, struct ep_conn *conn);

void rig_put(struct rig_side *side, struct ov_buf *buf);

/* The number of descriptors that this process has. */
unsigned rig_fds(void);

#endif
