/* Output on its way to the tools. */
#include "pmix_api/helper/deliver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix_server.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/tools.h"
#include "pmix_api/spool.h"

enum {
    NEAR_BYTES = 2 << 20,
    FAR_BYTES = 256 << 20,
    ENDS_BYTES = 1 << 20, /* of the file: kept for the ends of channels */
    BATCH_BYTES = 64 * 1024,
    BATCH_MAX = 32,
    CHANNELS = 3,
    PATIENCE_MS = 2000, /* others wait so long for one tool, then it is cut */
};

/* One call of PMIx_server_IOF_deliver; what it borrows, until its answer. */
struct delivery {
    pmix_proc_t source;
    pmix_byte_object_t bytes;
    pmix_info_t info[2];
    size_t infos;
    uint8_t mem[];
};

static struct {
    struct px_spool spool;
    uint64_t *dropped; /* [ranks x CHANNELS]; NULL: none yet */
    int wake;          /* eventfd: the last answer has come */
    atomic_uint asked; /* deliveries without an answer */
    uint64_t asked_ms;
    uint64_t stuck_ms;
    bool is_told;
} out = {.wake = -1};

int px_deliver_open(const char *dir)
{
    out.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (out.wake < 0)
        return OV_ENOMEM;
    return px_spool_open(&out.spool, NEAR_BYTES, FAR_BYTES, dir);
}

int px_deliver_fd(void)
{
    return out.wake;
}

uint64_t px_deliver_left_bytes(void)
{
    return out.spool.near.used_bytes + out.spool.far.used_bytes +
           atomic_load(&out.asked);
}

uint64_t px_deliver_asked_ms(void)
{
    return atomic_load(&out.asked) > 0 ? out.asked_ms : 0;
}

/* --- the queue */

static uint64_t *dropped_of(const struct px_output *o)
{
    size_t cells = (size_t)px_job_size() * CHANNELS;

    if (out.dropped == NULL)
        out.dropped = calloc(cells, sizeof(*out.dropped));
    if (out.dropped == NULL)
        return NULL;
    return &out.dropped[(size_t)o->rank * CHANNELS + o->channel - 1];
}

static void drop(const struct px_output *o)
{
    uint64_t *cell = dropped_of(o);

    if (cell != NULL)
        *cell += o->dropped_bytes + o->len_bytes;
    if (!out.is_told)
        px_talk_note("a PMIx tool is too slow: output is dropped for it");
    out.is_told = true;
}

static bool is_full(void)
{
    return out.spool.far.used_bytes > FAR_BYTES - ENDS_BYTES;
}

static int put(const struct px_output *o)
{
    uint8_t mem[PX_OUTPUT_HEAD_BYTES + PX_OUTPUT_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    if (o->len_bytes > 0 && is_full())
        return OV_EFULL;
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_OUTPUT, .output = *o});
    return px_spool_put(&out.spool, mem, (uint32_t)(wr.at - mem));
}

/* The end of a channel is queued by itself: it is not dropped with bytes. */
void px_deliver_put(const struct px_output *output)
{
    struct px_output o = *output;
    uint64_t *cell;

    if (o.rank >= px_job_size() || px_tools_count() == 0)
        return;
    if (out.dropped != NULL && (cell = dropped_of(&o)) != NULL) {
        o.dropped_bytes += *cell;
        *cell = 0;
    }
    o.is_end = false;
    if ((o.len_bytes > 0 || o.dropped_bytes > 0) && put(&o) != 0)
        drop(&o);
    o = (struct px_output){
        .rank = o.rank, .channel = o.channel, .is_end = true};
    if (output->is_end)
        put(&o);
}

/* --- to the library */

/* In the library's thread. */
static void on_delivered(pmix_status_t status, void *arg)
{
    static const uint64_t one = 1;
    struct delivery *d = arg;

    (void)status;
    for (size_t i = 0; i < d->infos; i++)
        PMIX_INFO_DESTRUCT(&d->info[i]);
    free(d);
    if (atomic_fetch_sub(&out.asked, 1) == 1 &&
        write(out.wake, &one, sizeof(one)) < 0)
        abort(); /* nobody would go on */
}

static pmix_iof_channel_t channel_of(uint8_t channel)
{
    return (pmix_iof_channel_t)(PMIX_FWD_STDIN_CHANNEL << channel);
}

static void deliver(const struct px_output *o)
{
    struct delivery *d = calloc(1, sizeof(*d) + o->len_bytes);
    uint64_t dropped = o->dropped_bytes;

    if (d == NULL)
        return;
    PMIX_LOAD_PROCID(&d->source, px_job_nspace(), o->rank);
    d->bytes.bytes = (char *)d->mem;
    d->bytes.size = o->len_bytes;
    if (o->len_bytes > 0)
        memcpy(d->mem, o->mem, o->len_bytes);
    if (o->is_end)
        PMIX_INFO_LOAD(&d->info[d->infos++], PMIX_IOF_COMPLETE, NULL,
                       PMIX_BOOL);
    if (dropped > 0)
        PMIX_INFO_LOAD(&d->info[d->infos++], PX_IOF_DROPPED, &dropped,
                       PMIX_UINT64);
    atomic_fetch_add(&out.asked, 1);
    if (PMIx_server_IOF_deliver(&d->source, channel_of(o->channel), &d->bytes,
                                d->infos > 0 ? d->info : NULL, d->infos,
                                on_delivered, d) != PMIX_SUCCESS)
        on_delivered(PMIX_ERROR, d);
}

static void deliver_batch(void)
{
    uint8_t mem[PX_OUTPUT_HEAD_BYTES + PX_OUTPUT_BYTES_MAX];
    uint32_t bytes = 0;

    for (unsigned i = 0; i < BATCH_MAX && bytes < BATCH_BYTES; i++) {
        int len = px_spool_get(&out.spool, mem, sizeof(mem));
        struct px_msg msg;
        struct ov_rd rd;

        if (len <= 0)
            return;
        rd = ov_rd_init(mem, (size_t)len);
        if (px_msg_decode(&rd, &msg) != 0 || px_tools_count() == 0)
            continue;
        deliver(&msg.output);
        bytes += (uint32_t)len;
    }
}

/* Tools that take nothing hold up the others. That is worth nothing but time
 * while the queue has room; then they go, unless it is one tool alone. */
static void judge_stuck(uint64_t now_ms)
{
    if (out.stuck_ms == 0)
        out.stuck_ms = now_ms;
    if (px_tools_count() > 1 && now_ms - out.stuck_ms >= PATIENCE_MS &&
        px_tools_cut() > 0)
        px_talk_note("a PMIx tool that others waited for was cut off");
}

unsigned px_deliver_step(uint64_t now_ms, struct pollfd *stuck)
{
    unsigned count = 0;
    uint64_t seen;

    if (read(out.wake, &seen, sizeof(seen)) < 0)
        seen = 0; /* nothing to clear */
    while (atomic_load(&out.asked) == 0 && !px_spool_is_empty(&out.spool)) {
        count = px_tools_stuck(stuck);
        if (count > 0) {
            judge_stuck(now_ms);
            return count;
        }
        out.stuck_ms = 0;
        out.asked_ms = now_ms;
        deliver_batch();
    }
    if (px_spool_is_empty(&out.spool))
        out.stuck_ms = 0;
    return 0;
}
