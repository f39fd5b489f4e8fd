/* Carries out the actions that a step of a node asks for. */
#include <string.h>

#include "endpoints/hub/impl.h"
#include "overlay/base/err.h"

/* Frames up to this size are copied into one buffer; larger ones are
 * gathered. */
enum { COPY_BYTES = 2048 };

static uint32_t total_bytes(const struct ov_act *act,
                            const struct ov_slice *slice)
{
    uint32_t total = act->head_bytes;

    for (unsigned i = 0; i < act->slices; i++)
        total += slice[i].len_bytes;
    return total;
}

static void put_slices(struct ep_hub *hub, const struct ov_act *act,
                       const struct ov_slice *slice)
{
    for (unsigned i = 0; i < act->slices; i++)
        ep_hub_put(hub, slice[i].buf);
}

/* Makes slices of registered buffers for the frame: as it came, gathered from
 * few pieces, or copied into a new buffer. Returns the number of slices, 0 when
 * memory is out. part[0].buf is new when the action has head bytes. */
static unsigned gather(struct ep_hub *hub, const struct ov_act *act,
                       const struct ov_out *out, struct ep_slice *part)
{
    const struct ov_slice *slice = &out->slice[act->slice_first];
    uint32_t total = total_bytes(act, slice);
    bool is_copied = total <= COPY_BYTES || act->slices >= EP_SEND_SLICES_MAX;
    struct ov_buf *head;

    if (act->head_bytes == 0 && act->slices == 1) {
        part[0] =
            (struct ep_slice){slice->buf, slice->off_bytes, slice->len_bytes};
        return 1;
    }
    head = ep_hub_buf(hub);
    if (head == NULL)
        return 0;
    memcpy(head->mem, out->head + act->head_first, act->head_bytes);
    head->len_bytes = act->head_bytes;
    part[0] = (struct ep_slice){head, 0, act->head_bytes};
    for (unsigned i = 0; i < act->slices; i++) {
        if (is_copied) {
            memcpy(head->mem + head->len_bytes,
                   slice[i].buf->mem + slice[i].off_bytes, slice[i].len_bytes);
            head->len_bytes += slice[i].len_bytes;
            part[0].len_bytes = head->len_bytes;
        } else {
            part[i + 1] = (struct ep_slice){slice[i].buf, slice[i].off_bytes,
                                            slice[i].len_bytes};
        }
    }
    return is_copied ? 1 : act->slices + 1u;
}

static void do_send(struct hub_node *node, const struct ov_act *act,
                    const struct ov_out *out)
{
    struct ep_hub *hub = node->hub;
    const struct ov_slice *slice = &out->slice[act->slice_first];
    struct hub_link *link = node->links[act->link];
    struct ep_slice part[EP_SEND_SLICES_MAX];
    unsigned count = 0;
    uint8_t type = act->head_bytes > 0 ? out->head[act->head_first]
                                       : slice->buf->mem[slice->off_bytes];

    /* NULL: the link has ended, and its LINK_DOWN is in the queue already. */
    if (link != NULL) {
        count = gather(hub, act, out, part);
        OV_ASSERT(count > 0);
        hub->frames_up += ov_frame_is_up(type);
        hub->frames_down += type == OV_FRAME_DOWN;
        if (hub->cfg.ops->send(link->conn, part, count) == OV_EFULL)
            OV_IMPOSSIBLE("the node counts its sends");
        if (act->head_bytes > 0)
            ep_hub_put(hub, part[0].buf);
    }
    put_slices(hub, act, slice);
}

static void do_read(struct hub_node *node, const struct ov_act *act)
{
    struct ep_hub *hub = node->hub;
    struct ov_event ev = {.kind = OV_EV_READ,
                          .input = act->input,
                          .read.records_max = act->records_max};

    hub->cfg.events->on_read(hub->cfg.arg, node->index, act->input,
                             act->max_bytes, &ev.read);
    ep_hub_queue_put(hub, node->index, &ev);
}

/* Keeps the address of a child. When it does not decode, other nodes cannot get
 * it; nothing worse follows. */
static void do_address(struct ep_hub *hub, const struct ov_act *act,
                       const struct ov_slice *slice)
{
    struct ep_boot_peer peer = {.node = act->node};

    if (ep_book_decode(slice->buf->mem + slice->off_bytes, slice->len_bytes,
                       &peer) == 0)
        (void)ep_book_put(&hub->book, &peer);
    ep_hub_put(hub, slice->buf);
}

static void do_act(struct hub_node *node, const struct ov_act *act,
                   const struct ov_out *out)
{
    const struct ep_hub_events *events = node->hub->cfg.events;
    const struct ov_slice *slice = &out->slice[act->slice_first];
    void *arg = node->hub->cfg.arg;

    switch (act->kind) {
    case OV_ACT_DIAL:
        ep_hub_dial(node, act->node, act->attach);
        break;
    case OV_ACT_CLOSE:
        ep_hub_close_link(node, act->link);
        break;
    case OV_ACT_SEND:
        do_send(node, act, out);
        break;
    case OV_ACT_READ:
        do_read(node, act);
        break;
    case OV_ACT_CONSUME:
        events->on_consume(arg, node->index, act, slice);
        break;
    case OV_ACT_RECORD:
        events->on_record(arg, act, slice);
        break;
    case OV_ACT_JOINED:
        events->on_joined(arg);
        break;
    case OV_ACT_LOST:
        events->on_lost(arg, act->node);
        break;
    case OV_ACT_STALL:
        events->on_stall(arg, act->stream, act->node, act->rank);
        break;
    case OV_ACT_LEAVE:
        events->on_leave(arg, node->index);
        break;
    case OV_ACT_PROBE:
        ep_hub_probe(node, act);
        break;
    case OV_ACT_ADDRESS:
        do_address(node->hub, act, slice);
        break;
    case OV_ACT_ORPHAN:
        if (events->on_orphan != NULL)
            events->on_orphan(arg, node->index, act->node);
        break;
    case OV_ACT_ADOPTED: /* the root is there, because it has let the node in */
        ep_hub_inquiry_dismiss(node->hub);
        if (events->on_adopted != NULL)
            events->on_adopted(arg, node->index, act->node);
        break;
    case OV_ACT_END:
        ep_hub_end_node(node);
        events->on_end(arg, node->index, (enum ov_end)act->flags);
        break;
    case OV_ACT_KINDS:
        break;
    }
}

void ep_hub_act(struct hub_node *node, const struct ov_out *out)
{
    for (uint32_t i = 0; i < out->acts_count; i++)
        do_act(node, &out->acts[i], out);
}
