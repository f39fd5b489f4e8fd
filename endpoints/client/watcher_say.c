/* Sends messages to a client that watches. */
#include <event2/event.h>

#include "endpoints/client/watcher_impl.h"
#include "overlay/base/panic.h"

/* Enough bytes for a head, a host and a text. */
enum { WORD_BYTES = JOB_DOOR_HEAD_MAX + 1024 + JOB_DOOR_TEXT_MAX };

void ep_watcher_say(struct ep_watcher *watcher, const struct job_door *msg)
{
    struct job_door head = *msg;
    uint8_t mem[WORD_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    if (watcher->box == NULL || watcher->is_full)
        return;
    head.rest = (struct ov_rd){.at = NULL};
    job_door_encode(&wr, &head);
    OV_ASSERT(!wr.bad);
    if (ep_outbox_put(watcher->box, mem, (uint32_t)(wr.at - mem), msg->rest.at,
                      (uint32_t)ov_rd_left(&msg->rest)) == 0)
        return;
    watcher->is_full = true;
    event_active(watcher->all->soon, 0, 0);
}
