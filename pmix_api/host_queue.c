/* What waits for the socket to the helper: of the job first, then output and
 * exits as they came, then the end. */
#include "pmix_api/host_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/wire.h"

enum {
    PACKET_BYTES = 32 * 1024,
    CHANNELS = 3,
    LOOK_MS = 250, /* while something waits */
};

/* One packet: 1 when it went, 0 when there is no room, or OV_ECLOSED. */
static int send_packet(struct px_host *host, const uint8_t *mem, size_t len)
{
    ssize_t sent = send(host->fd, mem, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent >= 0) {
        host->taken_ms = px_now_ms();
        host->is_deaf = false;
        return 1;
    }
    return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? 0
                                                                 : OV_ECLOSED;
}

static int send_msg(struct px_host *host, const struct px_msg *msg)
{
    uint8_t mem[PX_OUTPUT_HEAD_BYTES + PX_OUTPUT_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    px_msg_encode(&wr, msg);
    return send_packet(host, mem, (size_t)(wr.at - mem));
}

/* --- the job */

static int send_start(struct px_host *host)
{
    const struct px_host_cfg *cfg = &host->cfg;
    struct px_msg msg = {
        .kind = PX_START,
        .start = {.version = PX_WIRE_VERSION,
                  .pid = (uint32_t)getpid(),
                  .size = cfg->size,
                  .apps = cfg->apps,
                  .parts = cfg->parts,
                  .allow = cfg->allow,
                  .nspace = px_text(cfg->nspace),
                  .folder = px_text(host->folder)},
    };

    return send_msg(host, &msg);
}

/* As many parts as a packet holds. */
static int send_parts(struct px_host *host)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t next = host->parts_told;
    int rc;

    for (; next < host->cfg.parts; next++) {
        struct px_msg msg = {.kind = PX_PART};
        struct ov_wr was = wr;
        struct px_host_part part;

        host->cfg.events->on_part(host->cfg.arg, next, &part);
        msg.part = (struct px_part){.app = part.app,
                                    .first_rank = part.first_rank,
                                    .ranks = part.ranks,
                                    .host = px_text(part.host),
                                    .program = px_text(part.program)};
        px_msg_encode(&wr, &msg);
        if (wr.bad) {
            wr = was;
            break;
        }
    }
    rc = send_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        host->parts_told = next;
    return rc;
}

/* To a helper that was started again: who was started, and has ended,
 * already. */
static int send_pids(struct px_host *host)
{
    uint32_t left = host->cfg.size - host->pids_told;
    uint16_t count = (uint16_t)(left < PX_PIDS_MAX ? left : PX_PIDS_MAX);
    struct px_msg msg = {
        .kind = PX_PIDS,
        .pids = {.first = host->pids_told,
                 .count = count,
                 .mem = host->pids + 4 * (size_t)host->pids_told}};
    int rc = host->started > 0 ? send_msg(host, &msg) : 1;

    if (rc == 1)
        host->pids_told += count;
    return rc;
}

static int send_exits(struct px_host *host)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t rank = host->exits_told;
    int rc = 1;

    for (; rank < host->cfg.size && wr.end - wr.at > 16; rank++) {
        struct px_msg msg = {.kind = PX_EXIT, .exit = {.rank = rank}};

        if (host->status[rank] < 0)
            continue;
        msg.exit.status = (uint32_t)host->status[rank];
        px_msg_encode(&wr, &msg);
    }
    if (wr.at != mem)
        rc = send_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        host->exits_told = rank;
    return rc;
}

/* The same of channels that are not whole. */
static int send_broken(struct px_host *host)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t rank = host->broken_told;
    int rc = 1;

    for (; rank < host->cfg.size && wr.end - wr.at > 16 * CHANNELS; rank++) {
        for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
            struct px_msg msg = {.kind = PX_BROKEN, .broken = {rank, channel}};

            if ((host->broken[rank] & 1u << channel) != 0)
                px_msg_encode(&wr, &msg);
        }
    }
    if (wr.at != mem)
        rc = send_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        host->broken_told = rank;
    return rc;
}

static int send_stdin(struct px_host *host)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t told = px_push_runs(host, &wr);
    int rc = send_packet(host, mem, (size_t)(wr.at - mem));

    if (rc == 1)
        host->stdin_told = told;
    return rc;
}

static int send_grant(struct px_host *host)
{
    struct px_msg msg = {
        .kind = PX_GRANT,
        .grant = {.messages = host->grants_due, .bytes = host->cfg.push_bytes},
    };
    int rc = send_msg(host, &msg);

    if (rc == 1)
        host->grants_due = 0;
    return rc;
}

static int send_job(struct px_host *host)
{
    int rc = 1;

    if (host->phase == PX_HOST_START) {
        rc = send_start(host);
        if (rc == 1)
            host->phase = PX_HOST_READY;
    }
    while (rc == 1 && host->parts_told < host->cfg.parts)
        rc = send_parts(host);
    while (rc == 1 && host->pids_told < host->cfg.size)
        rc = send_pids(host);
    while (rc == 1 && host->exits_told < host->cfg.size)
        rc = send_exits(host);
    while (rc == 1 && host->broken_told < host->cfg.size)
        rc = send_broken(host);
    while (rc == 1 && host->stdin_told < host->cfg.size)
        rc = send_stdin(host);
    if (rc == 1 && host->grants_due > 0)
        rc = send_grant(host);
    return rc;
}

/* --- output and exits */

static uint64_t *dropped_of(struct px_host *host,
                            const struct px_host_output *output)
{
    size_t cells = (size_t)host->cfg.size * CHANNELS;

    if (host->dropped == NULL)
        host->dropped = calloc(cells, sizeof(*host->dropped));
    if (host->dropped == NULL)
        return NULL;
    return &host->dropped[(size_t)output->rank * CHANNELS + output->channel -
                          1];
}

static void release(struct px_host *host, struct px_item *item)
{
    if (item->kind == PX_ITEM_OUTPUT && !item->is_bare)
        host->cfg.events->on_released(host->cfg.arg, item->output.cookie);
    item->is_bare = true;
}

static void drop_head(struct px_host *host)
{
    struct px_item *item = host->items;

    host->items = item->next;
    if (host->items == NULL)
        host->items_last = &host->items;
    release(host, item);
    free(item);
}

/* A piece of the first one; it goes when all of it was sent. */
static int send_output(struct px_host *host, struct px_item *item)
{
    const struct px_host_output *o = &item->output;
    uint64_t *dropped =
        host->dropped != NULL && item->to == 0 ? dropped_of(host, o) : NULL;
    uint32_t left = o->len_bytes - item->sent_bytes;
    uint32_t len = left < PX_OUTPUT_BYTES_MAX ? left : PX_OUTPUT_BYTES_MAX;
    struct px_msg msg = {
        .kind = PX_OUTPUT,
        .output = {.rank = o->rank,
                   .channel = o->channel,
                   .is_end = o->is_end && len == left,
                   .is_redirected = o->is_redirected,
                   .to = item->to,
                   .dropped_bytes = dropped != NULL ? *dropped : 0,
                   .len_bytes = len,
                   .mem = len == 0
                              ? NULL
                              : (const uint8_t *)o->mem + item->sent_bytes},
    };
    int rc = send_msg(host, &msg);

    if (rc != 1)
        return rc;
    if (dropped != NULL)
        *dropped = 0;
    if (o->is_redirected && item->sent_bytes == 0)
        host->cfg.events->on_gone(host->cfg.arg, o->cookie);
    item->sent_bytes += len;
    if (item->sent_bytes == o->len_bytes)
        drop_head(host);
    return 1;
}

static struct px_msg word_of(const struct px_host *host,
                             const struct px_item *item)
{
    uint32_t rank = item->output.rank;

    if (item->kind == PX_ITEM_EXIT)
        return (struct px_msg){.kind = PX_EXIT, .exit = {rank, item->value}};
    if (item->kind == PX_ITEM_BROKEN)
        return (struct px_msg){.kind = PX_BROKEN,
                               .broken = {rank, item->output.channel}};
    if (item->kind == PX_ITEM_LIVE)
        return (struct px_msg){.kind = PX_LIVE, .id = item->value};
    if (item->kind == PX_ITEM_DONE)
        return (struct px_msg){.kind = PX_DONE,
                               .done = {rank, (uint8_t)item->value}};
    return (struct px_msg){
        .kind = PX_PIDS,
        .pids = {rank, (uint16_t)item->value, host->pids + 4 * (size_t)rank}};
}

static int send_head(struct px_host *host)
{
    struct px_item *item = host->items;
    struct px_msg msg;
    int rc;

    if (item->kind == PX_ITEM_OUTPUT)
        return send_output(host, item);
    msg = word_of(host, item);
    rc = send_msg(host, &msg);
    if (rc == 1)
        drop_head(host);
    return rc;
}

static int send_stage(struct px_host *host)
{
    struct px_msg msg = {.kind = PX_STAGE,
                         .stage = {.name = (uint8_t)(host->stages_told + 1),
                                   .time_s = host->stage_s[host->stages_told],
                                   .has_failed = host->has_failed,
                                   .rank = host->failed_rank,
                                   .status = host->failed_status}};
    int rc = send_msg(host, &msg);

    if (rc == 1)
        host->stages_told++;
    return rc;
}

static int send_flush(struct px_host *host)
{
    int rc = send_msg(host, &(struct px_msg){.kind = PX_FLUSH});

    if (rc == 1)
        host->is_flush_sent = true;
    return rc;
}

/* Of what was dropped only ends of channels have a meaning; words stay. */
static void drop_empty(struct px_host *host)
{
    struct px_item **at = &host->items;

    while (*at != NULL) {
        struct px_item *item = *at;

        if (item->kind != PX_ITEM_OUTPUT || item->output.is_end ||
            item->output.is_redirected) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        free(item);
    }
    host->items_last = at;
}

static int send_ping(struct px_host *host)
{
    int rc = send_msg(host, &(struct px_msg){.kind = PX_PING});

    if (rc == 1)
        host->is_ping_due = false;
    return rc;
}

int px_queue_pump(struct px_host *host)
{
    int rc;

    if (host->phase == PX_HOST_DOWN)
        return 0;
    rc = send_job(host);
    while (rc == 1 && host->items != NULL)
        rc = send_head(host);
    while (rc == 1 && host->stages_told < host->stage)
        rc = send_stage(host);
    if (rc == 1 && host->is_flush_due && !host->is_flush_sent)
        rc = send_flush(host);
    if (rc == 1 && host->is_ping_due)
        rc = send_ping(host);
    return rc < 0 ? rc : 0;
}

void px_queue_count_dropped(struct px_host *host,
                            const struct px_host_output *output, uint32_t bytes)
{
    uint64_t *dropped = bytes > 0 ? dropped_of(host, output) : NULL;

    if (dropped != NULL)
        *dropped += bytes;
}

void px_queue_drop(struct px_host *host)
{
    for (struct px_item *item = host->items; item != NULL; item = item->next) {
        struct px_host_output *o = &item->output;

        if (item->kind != PX_ITEM_OUTPUT || item->is_bare || o->is_redirected)
            continue;
        px_queue_count_dropped(host, o, o->len_bytes - item->sent_bytes);
        release(host, item);
        o->mem = NULL;
        o->len_bytes = item->sent_bytes = 0;
    }
    drop_empty(host);
}

void px_queue_return(struct px_host *host)
{
    for (struct px_item *item = host->items; item != NULL; item = item->next) {
        struct px_host_output *o = &item->output;

        if (item->kind != PX_ITEM_OUTPUT || !o->is_redirected ||
            item->sent_bytes > 0 || px_redirects(host, o->rank, o->channel))
            continue;
        o->is_redirected = false;
        host->cfg.events->on_returned(host->cfg.arg, o->cookie);
    }
}

void px_queue_clear(struct px_host *host)
{
    px_queue_return(host);
    while (host->items != NULL)
        drop_head(host);
    free(host->dropped);
    host->dropped = NULL;
}

bool px_queue_is_empty(const struct px_host *host)
{
    return host->phase == PX_HOST_READY && host->items == NULL &&
           host->parts_told == host->cfg.parts &&
           host->stages_told == host->stage && !host->is_ping_due &&
           px_push_is_told(host) &&
           (!host->is_flush_due || host->is_flush_sent);
}

void px_queue_arm(struct px_host *host, unsigned ms)
{
    struct timeval wait = {(time_t)(ms / 1000),
                           (suseconds_t)(ms % 1000) * 1000};

    if (!evtimer_pending(host->timer, NULL))
        event_add(host->timer, &wait);
}

bool px_queue_is_waiting(const struct px_host *host)
{
    return !host->is_up || !px_queue_is_empty(host) || host->asked_ms != 0 ||
           host->flush_ms != 0;
}

void px_queue_wake(struct px_host *host)
{
    if (host->phase == PX_HOST_DOWN)
        return;
    if (!px_queue_is_empty(host))
        event_add(host->writes, NULL);
    if (px_queue_is_waiting(host))
        px_queue_arm(host, LOOK_MS);
}

bool px_queue_push(struct px_host *host, const struct px_item *what)
{
    struct px_item *item = malloc(sizeof(*item));

    if (item == NULL)
        return false;
    *item = *what;
    item->next = NULL;
    if (host->items == NULL && px_queue_is_empty(host))
        host->taken_ms = px_now_ms(); /* it has waited from now on */
    *host->items_last = item;
    host->items_last = &item->next;
    px_queue_wake(host);
    return true;
}
