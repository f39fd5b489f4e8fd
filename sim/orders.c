/* Keeps the launcher's orders until there is room for them. */
#include "sim/orders.h"

#include "sim/buffer.h"

/* How many bytes of a frame precede the body of the message. */
enum { HEAD_BYTES = OV_DOWN_HEAD_BYTES + OV_CONTROL_HEAD_BYTES };

void sim_orders_plan(struct sim_world *w, uint8_t kind, const uint8_t *body,
                     uint32_t len_bytes)
{
    struct sim_launcher *l = w->launcher;
    uint32_t max = HEAD_BYTES + len_bytes;
    struct sim_load *load = sim_load_new(&w->store, max, 0);
    struct ov_wr wr =
        ov_wr_init(load->head + OV_DOWN_HEAD_BYTES, max - OV_DOWN_HEAD_BYTES);

    OV_ASSERT(l->orders_count < SIM_ORDERS_MAX);
    ov_control_encode(&wr, kind, false);
    for (uint32_t i = 0; i < len_bytes; i++)
        ov_wr_u8(&wr, body[i]);
    load->head_bytes = load->len_bytes = max;
    l->orders[l->orders_count++] = load;
}

void sim_orders_plan_job(struct sim_world *w, uint8_t kind, uint32_t job)
{
    uint8_t body[4];
    struct ov_wr wr = ov_wr_init(body, sizeof(body));

    ov_wr_u32(&wr, job);
    sim_orders_plan(w, kind, body, job == SIM_JOBS_ALL ? 0 : sizeof(body));
}

void sim_orders_drop(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    while (l->orders_count > 0)
        sim_load_put(&w->store, l->orders[--l->orders_count]);
}

bool sim_orders_next(struct sim_world *w, struct ov_event *ev)
{
    struct sim_launcher *l = w->launcher;
    struct sim_view *view;

    if (l->orders_count == 0 || !sim_host_runs(w, 0) ||
        ov_node_down_room(sim_node(w, 0), 0) == 0)
        return false;
    view = sim_buffer_fed(w, 0, l->orders[0]);
    l->orders_count--;
    for (unsigned i = 0; i < l->orders_count; i++)
        l->orders[i] = l->orders[i + 1];
    *ev = (struct ov_event){.kind = OV_EV_DOWN,
                            .buf = &view->buf,
                            .len_bytes =
                                view->load->len_bytes - OV_DOWN_HEAD_BYTES};
    return true;
}
