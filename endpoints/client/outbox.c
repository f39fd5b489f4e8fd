/* Packets on their way to one client. */
#include "endpoints/client/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <event2/event.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct packet {
    struct packet *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

struct ep_outbox {
    struct ep_outbox_cfg cfg;
    struct event *writes;         /* owned */
    struct packet *first, **last; /* owned */
    uint64_t used_bytes;
};

static uint64_t cost_of(uint32_t len_bytes)
{
    return sizeof(struct packet) + len_bytes;
}

/* Sends a packet. Returns false when the socket has no room. Any other failure
 * means that the client has left, and counts as sent. */
static bool send_now(const struct ep_outbox *box, const void *head,
                     uint32_t head_bytes, const void *mem, uint32_t len_bytes)
{
    struct iovec parts[] = {
        {.iov_base = (void *)(uintptr_t)head, .iov_len = head_bytes},
        {.iov_base = (void *)(uintptr_t)mem, .iov_len = len_bytes},
    };
    const struct msghdr msg = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent;

    do {
        sent = sendmsg(box->cfg.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0 ||
           (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM);
}

static void drop_first(struct ep_outbox *box)
{
    struct packet *packet = box->first;

    box->first = packet->next;
    if (box->first == NULL)
        box->last = &box->first;
    box->used_bytes -= cost_of(packet->len_bytes);
    box->cfg.pool->used_bytes -= cost_of(packet->len_bytes);
    free(packet);
}

static void send_kept(struct ep_outbox *box)
{
    while (box->first != NULL &&
           send_now(box, box->first->mem, box->first->len_bytes, NULL, 0)) {
        drop_first(box);
        box->cfg.pool->sent++;
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ep_outbox *box = arg;

    (void)fd;
    (void)what;
    send_kept(box);
    if (box->first != NULL)
        return;
    event_del(box->writes);
    box->cfg.on_empty(box->cfg.arg);
}

static bool has_room(const struct ep_outbox *box, uint64_t cost)
{
    const struct ep_outbox_pool *pool = box->cfg.pool;

    return box->used_bytes + cost <= EP_OUTBOX_LEAST_BYTES ||
           (box->used_bytes + cost <= box->cfg.limit_bytes &&
            pool->used_bytes + cost <= pool->limit_bytes);
}

/* Keeps a packet. beyond_bytes raises the limit, and is 0 for output. */
static int keep_packet(struct ep_outbox *box, uint64_t beyond_bytes,
                       const void *head, uint32_t head_bytes, const void *mem,
                       uint32_t len_bytes)
{
    uint64_t cost = cost_of(head_bytes + len_bytes);
    struct packet *packet = NULL;

    if (beyond_bytes > 0
            ? box->used_bytes + cost <= box->cfg.limit_bytes + beyond_bytes
            : has_room(box, cost))
        packet = malloc(cost);
    if (packet == NULL)
        return OV_EFULL;
    *packet = (struct packet){.len_bytes = head_bytes + len_bytes};
    memcpy(packet->mem, head, head_bytes);
    if (len_bytes > 0)
        memcpy(packet->mem + head_bytes, mem, len_bytes);
    if (box->first == NULL)
        event_add(box->writes, NULL);
    *box->last = packet;
    box->last = &packet->next;
    box->used_bytes += cost;
    box->cfg.pool->used_bytes += cost;
    return 0;
}

int ep_outbox_put(struct ep_outbox *box, const void *head, uint32_t head_bytes,
                  const void *mem, uint32_t len_bytes)
{
    send_kept(box);
    if (box->first == NULL && send_now(box, head, head_bytes, mem, len_bytes))
        return 0;
    return keep_packet(box, 0, head, head_bytes, mem, len_bytes);
}

void ep_outbox_say(struct ep_outbox *box, const struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_HEAD_MAX + JOB_DOOR_TEXT_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_door head = *msg;
    const uint32_t rest_bytes = (uint32_t)ov_rd_left(&msg->rest);
    uint32_t head_bytes;

    head.rest = (struct ov_rd){0};
    job_door_encode(&wr, &head);
    OV_ASSERT(!wr.bad);
    head_bytes = (uint32_t)(wr.at - mem);
    if (box->first != NULL ||
        !send_now(box, mem, head_bytes, msg->rest.at, rest_bytes))
        (void)keep_packet(box, EP_OUTBOX_WORDS_BYTES, mem, head_bytes,
                          msg->rest.at, rest_bytes);
}

bool ep_outbox_is_empty(const struct ep_outbox *box)
{
    return box->first == NULL;
}

uint64_t ep_outbox_bytes(const struct ep_outbox *box)
{
    return box->used_bytes;
}

int ep_outbox_open(const struct ep_outbox_cfg *cfg, struct ep_outbox **out)
{
    struct ep_outbox *box = calloc(1, sizeof(*box));

    *out = box;
    if (box == NULL)
        return OV_ENOMEM;
    box->cfg = *cfg;
    box->last = &box->first;
    box->writes =
        event_new(cfg->base, cfg->fd, EV_WRITE | EV_PERSIST, on_writable, box);
    if (box->writes != NULL)
        return 0;
    free(box);
    *out = NULL;
    return OV_ENOMEM;
}

void ep_outbox_close(struct ep_outbox *box)
{
    if (box == NULL)
        return;
    while (box->first != NULL)
        drop_first(box);
    event_free(box->writes);
    free(box);
}
