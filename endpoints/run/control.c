/* Stream 0: messages to all nodes, sent as there is room. */
#include "endpoints/run/control.h"

#include <stdlib.h>
#include <string.h>

#include "job/replay.h"
#include "endpoints/run/impl.h"
#include "overlay/base/err.h"
#include "overlay/control.h"

void ep_run_control_queue(struct run *r, uint8_t kind, bool more,
                          const void *body, uint32_t len_bytes)
{
    uint32_t total = OV_CONTROL_HEAD_BYTES + len_bytes;
    struct run_control *control = malloc(sizeof(*control) + total);
    struct ov_wr wr;

    OV_ASSERT(control != NULL);
    control->next = NULL;
    control->len_bytes = total;
    wr = ov_wr_init(control->mem, total);
    ov_control_encode(&wr, kind, more);
    ov_wr_bytes(&wr, body, len_bytes);
    *r->controls_last = control;
    r->controls_last = &control->next;
}

void ep_run_control_pump(struct run *r)
{
    if (r->hub == NULL || r->phase == RUN_OVER)
        return;
    while (r->controls != NULL && ep_hub_down_room(r->hub, 0) > 0) {
        struct run_control *control = r->controls;
        struct ov_buf *buf = ep_hub_buf(r->hub);

        if (buf == NULL)
            return;
        memcpy(buf->mem + OV_DOWN_HEAD_BYTES, control->mem, control->len_bytes);
        r->controls = control->next;
        if (r->controls == NULL)
            r->controls_last = &r->controls;
        ep_hub_down(r->hub, 0, buf, control->len_bytes, 0);
        free(control);
    }
}

int ep_run_control_job(struct run *r, const struct job *job)
{
    uint32_t piece =
        r->sizes.frame_bytes - OV_DOWN_HEAD_BYTES - OV_CONTROL_HEAD_BYTES;
    struct text_buf text = {0};

    job_encode(job, &text);
    if (text.bad || text.len_bytes > JOB_BYTES_MAX) {
        text_buf_fini(&text);
        return OV_EFULL;
    }
    for (uint32_t n = 1; n <= r->nodes_count; n++) {
        struct run_node *node = &r->nodes[n];

        if (job_on_node(job, n) == 0)
            continue;
        node->jobs++;
        if (node->is_final)
            r->finals--;
        node->is_final = false;
    }
    for (size_t at = 0; at < text.len_bytes; at += piece) {
        size_t left = text.len_bytes - at;
        bool more = left > piece;

        ep_run_control_queue(r, JOB_CONTROL_JOB, more, text.at + at,
                             (uint32_t)(more ? piece : left));
    }
    text_buf_fini(&text);
    return 0;
}

void ep_run_control(struct run *r, uint8_t kind, const void *body,
                    uint32_t len_bytes)
{
    ep_run_control_queue(r, kind, false, body, len_bytes);
    ep_run_control_pump(r);
}

void ep_run_signal_some(struct run *r, int signo,
                        const struct topo_range *ranges, uint32_t count)
{
    uint8_t body[4 + 8 * RUN_SIGNAL_RANGES_MAX];
    struct ov_wr wr = ov_wr_init(body, sizeof(body));

    OV_ASSERT(count <= RUN_SIGNAL_RANGES_MAX);
    ov_wr_u32(&wr, (uint32_t)signo);
    for (uint32_t i = 0; i < count; i++) {
        ov_wr_u32(&wr, ranges[i].first);
        ov_wr_u32(&wr, ranges[i].last);
    }
    ep_run_control(r, JOB_CONTROL_SIGNAL, body, (uint32_t)(wr.at - body));
}

void ep_run_signal(struct run *r, int signo)
{
    ep_run_signal_some(r, signo, NULL, 0);
}

static uint16_t next_ticket(struct run *r)
{
    return (uint16_t)(1 + r->tickets++ % UINT16_MAX);
}

uint16_t ep_run_replay(struct run *r, const struct ep_tap_replay *want)
{
    struct job_replay_order order = {.channels = want->channels,
                                     .is_last = want->is_last,
                                     .bytes = want->bytes};
    uint32_t at = 0;

    if (r->phase != RUN_RUNNING)
        return 0;
    order.ticket = next_ticket(r);
    while (at < want->count) {
        uint8_t body[JOB_REPLAY_ORDER_BYTES];
        struct ov_wr wr = ov_wr_init(body, sizeof(body));

        job_replay_order_encode(&wr, &order);
        for (unsigned i = 0; at < want->count && i < JOB_REPLAY_RANGES_MAX;
             i++, at++) {
            ov_wr_u32(&wr, want->ranges[at].first);
            ov_wr_u32(&wr, want->ranges[at].last);
        }
        ep_run_control(r, JOB_CONTROL_REPLAY, body, (uint32_t)(wr.at - body));
    }
    return order.ticket;
}
