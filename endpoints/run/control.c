/* Orders of a run: by its hub, while there is one; and a job for all nodes. */
#include "endpoints/run/control.h"

#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "job/order.h"
#include "overlay/base/err.h"

static uint32_t room(void *arg)
{
    const struct run *r = arg;

    if (r->hub == NULL || r->session.state == JOB_SESSION_OVER)
        return 0;
    return ep_hub_down_room(r->hub, 0);
}

static struct ov_buf *take_buf(void *arg)
{
    struct run *r = arg;

    return ep_hub_buf(r->hub);
}

static void send_down(void *arg, struct ov_buf *buf, uint32_t len_bytes)
{
    struct run *r = arg;

    ep_hub_down(r->hub, 0, buf, len_bytes, 0);
}

int ep_run_control_open(struct run *r)
{
    static const struct run_carrier carrier = {
        .room = room,
        .buf = take_buf,
        .send = send_down,
    };

    return ep_run_orders_open(&carrier, r,
                              r->plan.sizes.frame_bytes - OV_DOWN_HEAD_BYTES,
                              &r->orders);
}

int ep_run_control_job(struct run *r, const struct job *job)
{
    struct text_buf text = {0};

    job_encode(job, &text);
    if (text.bad || text.len_bytes > JOB_BYTES_MAX) {
        text_buf_fini(&text);
        return OV_EFULL;
    }
    ep_run_nodes_told(r->nodes, job);
    ep_run_orders_queue(r->orders, JOB_CONTROL_JOB, text.at,
                        (uint32_t)text.len_bytes);
    text_buf_fini(&text);
    return 0;
}
