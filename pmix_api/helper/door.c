/* A connection to the session's door. */
#include "config.h"

#include "pmix_api/helper/door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/outbox.h"
#include "overlay/base/err.h"
#include "topo/ranges.h"

enum {
    PACKETS = 64,  /* the most packets that one turn of the event loop reads */
    RANGES = 1000, /* the most ranges in one message */
    AGAIN_US = 10 * 1000,
};

struct px_door {
    const struct px_door_way *way;
    const struct px_door_events *events;
    void *arg;
    int fd;                     /* -1: not connected yet */
    struct event *again;        /* owned: timer to connect again, or to report
                                   the end */
    struct event *reads;        /* owned; NULL: not connected yet */
    struct ep_outbox *box;      /* owned; NULL: not connected yet */
    struct ep_outbox_pool pool; /* the pool of this outbox */
    uint8_t *early;             /* owned: messages that wait for the
                                   connection */
    size_t early_bytes;         /* how many bytes `early` has; each message
                                 * follows its length */
    /* Owned: the message that on_word() has not accepted yet; or NULL. */
    uint8_t *packet;
    uint32_t packet_bytes; /* 0: no message is waiting */
    bool is_paused, is_over;
    /* Borrowed, or NULL: becomes true when a callback closes the door. */
    bool *is_closed;
    char why[JOB_DOOR_TEXT_MAX];
};

static void look_again(struct px_door *door, suseconds_t us)
{
    const struct timeval wait = {.tv_usec = us};

    event_add(door->again, &wait);
}

/* Ends the connection; on_end is called from the event loop. */
static void end(struct px_door *door)
{
    door->is_over = true;
    if (door->reads != NULL)
        event_del(door->reads);
    look_again(door, 0);
}

/* --- sending */

static void send_packet(struct px_door *door, const uint8_t *mem,
                        uint32_t len_bytes)
{
    if (ep_outbox_put(door->box, mem, len_bytes, NULL, 0) != 0)
        end(door);
}

static void keep_early(struct px_door *door, const uint8_t *mem,
                       uint32_t len_bytes)
{
    const size_t size = door->early_bytes + sizeof(len_bytes) + len_bytes;
    uint8_t *grown =
        size <= PX_DOOR_WAITING_BYTES ? realloc(door->early, size) : NULL;

    if (grown == NULL) {
        end(door);
        return;
    }
    memcpy(grown + door->early_bytes, &len_bytes, sizeof(len_bytes));
    memcpy(grown + door->early_bytes + sizeof(len_bytes), mem, len_bytes);
    door->early = grown;
    door->early_bytes = size;
}

static void send_early(struct px_door *door)
{
    uint32_t len_bytes;

    for (size_t at = 0; at < door->early_bytes; at += len_bytes) {
        memcpy(&len_bytes, door->early + at, sizeof(len_bytes));
        at += sizeof(len_bytes);
        send_packet(door, door->early + at, len_bytes);
    }
    free(door->early);
    door->early = NULL;
    door->early_bytes = 0;
}

void px_door_say(struct px_door *door, const struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_door_encode(&wr, msg);
    if (door->is_over)
        return;
    if (door->box != NULL)
        send_packet(door, mem, (uint32_t)(wr.at - mem));
    else
        keep_early(door, mem, (uint32_t)(wr.at - mem));
}

void px_door_say_ranges(struct px_door *door, const struct topo_ranges *ranks,
                        uint32_t base)
{
    uint8_t mem[RANGES * JOB_DOOR_RANGE_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    for (uint32_t i = 0; i < ranks->count; i++) {
        ov_wr_u32(&wr, base + ranks->items[i].first);
        ov_wr_u32(&wr, base + ranks->items[i].last);
        if (wr.at < wr.end && i + 1 < ranks->count)
            continue;
        px_door_say(door, &(struct job_door){
                              .kind = JOB_DOOR_RANGES,
                              .rest = ov_rd_init(mem, (size_t)(wr.at - mem))});
        wr = ov_wr_init(mem, sizeof(mem));
    }
}

bool px_door_is_quiet(const struct px_door *door)
{
    return door->early_bytes == 0 &&
           (door->box == NULL || ep_outbox_is_empty(door->box));
}

/* --- receiving */

/* Reads a packet. False: there is no packet now. When a session has ended
 * without reading all our messages, a first read() fails, and later ones return
 * the session's last messages. */
static bool receive(struct px_door *door)
{
    ssize_t got;

    if (door->packet == NULL)
        door->packet = malloc(JOB_DOOR_BYTES_MAX);
    if (door->packet == NULL) {
        end(door);
        return false;
    }
    do
        got = recv(door->fd, door->packet, JOB_DOOR_BYTES_MAX, MSG_DONTWAIT);
    while (got < 0 && (errno == ECONNRESET || errno == EINTR));
    if (got < 0 && errno == EAGAIN)
        return false;
    if (got <= 0)
        end(door);
    else
        door->packet_bytes = (uint32_t)got;
    return got > 0;
}

/* Passes the message to on_word(). False: the message must wait, or the door
 * was closed. */
static bool hand_on(struct px_door *door)
{
    bool is_taken = true, is_closed = false;
    struct job_door msg;

    if (job_door_decode(ov_rd_init(door->packet, door->packet_bytes), &msg) !=
        0) {
        snprintf(door->why, sizeof(door->why),
                 "the session cannot be understood (is it of another version "
                 "of xylem?)");
        end(door);
    } else if (msg.kind == JOB_DOOR_REFUSED) {
        snprintf(door->why, sizeof(door->why), "%s", msg.text);
    } else if (msg.kind != JOB_DOOR_WELCOME) {
        door->is_closed = &is_closed;
        is_taken = door->events->on_word(door->arg, &msg);
        if (is_closed)
            return false;
        door->is_closed = NULL;
    }
    if (is_taken)
        door->packet_bytes = 0;
    else
        px_door_pause(door);
    return is_taken;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct px_door *door = arg;

    (void)fd;
    (void)what;
    for (int i = 0; i < PACKETS && !door->is_paused && !door->is_over; i++) {
        if (door->packet_bytes == 0 && !receive(door))
            return;
        if (!hand_on(door))
            return;
    }
}

void *px_door_let_go(struct px_door *door)
{
    void *packet = door->packet;

    door->packet = NULL;
    return packet;
}

void px_door_pause(struct px_door *door)
{
    door->is_paused = true;
    if (door->reads != NULL)
        event_del(door->reads);
}

void px_door_go_on(struct px_door *door)
{
    if (!door->is_paused)
        return;
    door->is_paused = false;
    if (door->reads == NULL || door->is_over)
        return;
    event_add(door->reads, NULL);
    if (door->packet_bytes > 0)
        event_active(door->reads, EV_READ, 0);
}

/* --- opening and closing */

static void on_sent(void *arg)
{
    (void)arg;
}

static int connected(struct px_door *door)
{
    const struct ep_outbox_cfg box = {.base = door->way->base,
                                      .fd = door->fd,
                                      .limit_bytes = PX_DOOR_WAITING_BYTES,
                                      .pool = &door->pool,
                                      .on_empty = on_sent};

    door->pool.limit_bytes = PX_DOOR_WAITING_BYTES;
    door->reads = event_new(door->way->base, door->fd, EV_READ | EV_PERSIST,
                            on_readable, door);
    if (door->reads == NULL || ep_outbox_open(&box, &door->box) != 0)
        return OV_ENOMEM;
    if (!door->is_paused)
        event_add(door->reads, NULL);
    send_early(door);
    return 0;
}

static void dial(struct px_door *door)
{
    door->fd = door->way->dial(door->way->arg);
    if (door->fd >= 0 ? connected(door) != 0 : errno != EAGAIN)
        end(door);
    else if (door->fd < 0)
        look_again(door, AGAIN_US);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct px_door *door = arg;

    (void)fd;
    (void)what;
    if (door->is_over)
        door->events->on_end(door->arg, door->why);
    else
        dial(door);
}

int px_door_open(const struct px_door_way *way,
                 const struct px_door_events *events, void *arg,
                 struct px_door **out)
{
    struct px_door *door = calloc(1, sizeof(*door));

    *out = door;
    if (door == NULL)
        return OV_ENOMEM;
    *door =
        (struct px_door){.way = way, .events = events, .arg = arg, .fd = -1};
    door->again = evtimer_new(way->base, on_again, door);
    if (door->again == NULL) {
        px_door_close(door);
        *out = NULL;
        return OV_ENOMEM;
    }
    px_door_say(door, &(struct job_door){.kind = JOB_DOOR_HELLO,
                                         .version = JOB_DOOR_VERSION,
                                         .text = PACKAGE_VERSION});
    dial(door);
    return 0;
}

void px_door_close(struct px_door *door)
{
    if (door == NULL)
        return;
    if (door->is_closed != NULL)
        *door->is_closed = true;
    ep_outbox_close(door->box);
    if (door->reads != NULL)
        event_free(door->reads);
    if (door->again != NULL)
        event_free(door->again);
    if (door->fd >= 0)
        close(door->fd);
    free(door->early);
    free(door->packet);
    free(door);
}
