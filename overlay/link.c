/* Changes the state of one end of a link, and counts its frames. */
#include "overlay/link.h"

#include "overlay/base/panic.h"

#define TO(state) (1u << OV_LINK_##state)

static const struct {
    const char *name;
    uint32_t next;
} link_rules[OV_LINK_STATES] = {
    [OV_LINK_FREE] = {"free", TO(OPEN)},
    [OV_LINK_OPEN] = {"open", TO(JOINING) | TO(FREE)},
    [OV_LINK_JOINING] = {"joining", TO(UP) | TO(FREE)},
    [OV_LINK_UP] = {"up", TO(FREE)},
};

void ov_link_move(struct ov_link *link, enum ov_link_state next)
{
    OV_ASSERT((link_rules[link->state].next & (1u << next)) != 0);
    link->state = (uint8_t)next;
}

void ov_link_open(struct ov_link *link, uint32_t peer, uint16_t place,
                  uint64_t now_ns)
{
    ov_link_move(link, OV_LINK_OPEN);
    link->heard_ns = now_ns;
    link->spoke_ns = now_ns;
    link->attach = 0;
    link->peer = peer;
    link->place = place;
    link->data_bits = 0;
    link->refuse = 0;
    link->is_ending = false;
    link->is_paused = false;
    link->is_pausing = false;
    link->is_pause_due = false;
    link->in_flight = 0;
    link->data_in_flight = 0;
}

bool ov_link_can_send(const struct ov_link *link, const struct ov_cfg *cfg,
                      bool is_data)
{
    if (link->state == OV_LINK_FREE || link->in_flight >= cfg->send_slots)
        return false;
    /* Messages between neighbours have slots of their own. They allow the other
     * side to send data, so they must never wait for data frames. */
    return !is_data || link->data_in_flight < cfg->data_slots;
}

void ov_link_on_send(struct ov_link *link, bool is_data, uint64_t now_ns)
{
    OV_ASSERT(link->in_flight < OV_SEND_SLOTS_MAX);
    if (is_data) {
        link->data_bits |= 1u << link->in_flight;
        link->data_in_flight++;
    }
    link->in_flight++;
    link->spoke_ns = now_ns;
}

bool ov_link_on_sent(struct ov_link *link, unsigned count)
{
    if (count > link->in_flight)
        return false;
    for (; count > 0; count--) {
        link->data_in_flight =
            (uint8_t)(link->data_in_flight - (link->data_bits & 1u));
        link->data_bits >>= 1;
        link->in_flight--;
    }
    return true;
}
