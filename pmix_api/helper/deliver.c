/* Output on its way to the tools. */
#include "pmix_api/helper/deliver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/back.h"
#include "pmix_api/helper/hooks.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/queue.h"

enum {
    BATCH_BYTES = 512 * 1024,
    BATCH_MAX = BATCH_BYTES / PULLS_MESSAGE_BYTES,
    PASSED_MAX = 2 * BATCH_BYTES, /* it is full earlier, but between packets */
    INFOS = 3,
    /* A batch, and the packet that goes beyond it. */
    ROOM_BYTES = BATCH_BYTES + PX_QUEUE_PACKET_MAX,
};

/* One call of PMIx_server_IOF_deliver; what it borrows, until its answer. */
struct delivery {
    pmix_proc_t source;
    pmix_byte_object_t bytes; /* in `memory` */
    uint8_t *owned;           /* or here */
    pmix_info_t info[INFOS];
    size_t infos;
    pmix_iof_channel_t channel;
    struct px_receiver to;         /* its request NULL: nobody any more */
    bool is_open;                  /* the library has yet to take it */
    bool is_redirected, is_queued; /* it has it for the tool */
};

static struct {
    struct delivery batch[BATCH_MAX];
    unsigned used;       /* of the batch */
    uint32_t used_bytes; /* of the memory below */
    uint32_t passed;     /* bytes that are elsewhere, as a batch counts them */
    uint32_t number;     /* of the batch */
    bool is_opened, has_enough;
    int wake;          /* eventfd */
    atomic_uint asked; /* deliveries without an answer */
    uint64_t asked_ms;
} out = {.wake = -1};

static uint8_t memory[ROOM_BYTES]; /* bytes of the batch */

int px_deliver_open(void)
{
    out.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return out.wake < 0 ? OV_ESYS : 0;
}

int px_deliver_fd(void)
{
    return out.wake;
}

void px_deliver_wake(void)
{
    static const uint64_t one = 1;

    if (out.wake >= 0 && write(out.wake, &one, sizeof(one)) < 0)
        abort(); /* nobody would go on */
}

unsigned px_deliver_asked(void)
{
    return atomic_load(&out.asked);
}

uint64_t px_deliver_asked_ms(void)
{
    return atomic_load(&out.asked) > 0 ? out.asked_ms : 0;
}

/* --- one delivery */

static void add_count(struct delivery *d, const char *key, uint64_t bytes)
{
    if (bytes > 0)
        PMIX_INFO_LOAD(&d->info[d->infos++], key, &bytes, PMIX_UINT64);
}

static bool fill(struct delivery *d, const struct px_output *o,
                 const struct px_receiver *to)
{
    memset(d, 0, sizeof(*d));
    if (!px_job_name(o->rank, &d->source))
        return false;
    d->bytes.bytes = o->len_bytes > 0 ? (char *)(uintptr_t)o->mem : "";
    d->bytes.size = o->len_bytes;
    d->channel = (pmix_iof_channel_t)(PMIX_FWD_STDIN_CHANNEL << o->channel);
    d->to = *to;
    d->is_redirected = o->is_redirected;
    if (o->is_end)
        PMIX_INFO_LOAD(&d->info[d->infos++], PMIX_IOF_COMPLETE, NULL,
                       PMIX_BOOL);
    add_count(d, PX_IOF_DROPPED, o->dropped_bytes);
    add_count(d, PX_IOF_BEFORE, o->before_bytes);
    return true;
}

static void clear(struct delivery *d)
{
    for (size_t i = 0; i < d->infos; i++)
        PMIX_INFO_DESTRUCT(&d->info[i]);
    free(d->owned);
    d->owned = NULL;
    d->infos = 0;
}

/* In the library's thread. */
static void on_delivered(pmix_status_t status, void *arg)
{
    struct delivery *d = arg;

    (void)status;
    if (d->is_redirected && !d->is_queued && d->to.request != NULL)
        px_back_lost(d->to.request, d->bytes.size);
    clear(d);
    d->is_open = false;
    if (atomic_fetch_sub(&out.asked, 1) == 1)
        px_deliver_wake();
}

/* --- the library's thread */

static struct delivery *find(const pmix_proc_t *source)
{
    for (unsigned i = 0; i < BATCH_MAX; i++) {
        if (source == &out.batch[i].source)
            return &out.batch[i];
    }
    return NULL;
}

bool px_deliver_is_ours(const pmix_proc_t *source)
{
    return find(source) != NULL;
}

bool px_deliver_is_for(const pmix_proc_t *source, const void *request)
{
    return find(source)->to.request == request;
}

void px_deliver_queued(const pmix_proc_t *source)
{
    struct delivery *d = find(source);

    d->is_queued = true;
    px_lag_given(d->to.tool, d->to.sock.fd, d->bytes.size);
}

static void give(const struct delivery *d)
{
    if (px_hooks_give(d->channel, &d->source, &d->bytes,
                      d->infos > 0 ? d->info : NULL, d->infos, d->to.request))
        px_lag_given(d->to.tool, d->to.sock.fd, d->bytes.size);
}

void px_deliver_hurry(const void *request)
{
    for (unsigned i = 0; i < out.used; i++) {
        struct delivery *d = &out.batch[i];

        if (!d->is_open || d->to.request != request)
            continue;
        give(d);
        d->to.request = NULL;
    }
}

void px_deliver_now(const struct px_output *output,
                    const struct px_receiver *to)
{
    struct delivery d;

    if (!fill(&d, output, to))
        return;
    give(&d);
    clear(&d);
}

/* --- the main thread */

static uint8_t *room(void)
{
    return memory + out.used_bytes;
}

/* Where the bytes stay until the answer; false: memory is out. */
static bool keep(struct delivery *d)
{
    const uint8_t *mem = (const uint8_t *)d->bytes.bytes;

    if (d->bytes.size == 0)
        return true;
    if (mem >= room() && mem < room() + PX_QUEUE_PACKET_MAX) {
        out.used_bytes += (uint32_t)(mem - room()) + (uint32_t)d->bytes.size;
        return true;
    }
    d->owned = malloc(d->bytes.size);
    if (d->owned == NULL)
        return false;
    memcpy(d->owned, mem, d->bytes.size);
    d->bytes.bytes = (char *)d->owned;
    return true;
}

static void add(const struct px_output *o, const struct px_receiver *to)
{
    struct delivery *d = &out.batch[out.used];

    if (!fill(d, o, to))
        return;
    if (!keep(d)) {
        clear(d);
        return;
    }
    d->is_open = true;
    out.used++;
}

static void submit(struct delivery *d)
{
    if (PMIx_server_IOF_deliver(&d->source, d->channel, &d->bytes,
                                d->infos > 0 ? d->info : NULL, d->infos,
                                on_delivered, d) != PMIX_SUCCESS)
        on_delivered(PMIX_ERROR, d);
}

static void submit_all(uint64_t now_ms)
{
    out.is_opened = false;
    out.asked_ms = now_ms;
    atomic_store(&out.asked, out.used);
    for (unsigned i = 0, n = out.used; i < n; i++)
        submit(&out.batch[i]);
}

uint32_t px_deliver_batch(void)
{
    return out.number;
}

uint64_t px_deliver_bytes(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; px_deliver_asked() > 0 && i < out.used; i++)
        sum += out.batch[i].bytes.size;
    return sum;
}

bool px_deliver_is_open(void)
{
    return out.is_opened;
}

uint64_t px_deliver_passed(const void *tool)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < out.used; i++) {
        if (out.batch[i].to.tool == tool)
            sum += out.batch[i].bytes.size + LAG_MESSAGE_BYTES;
    }
    return sum;
}

bool px_deliver_pass(const struct px_output *output,
                     const struct px_receiver *to)
{
    struct delivery *d = &out.batch[out.used];

    if (out.used == BATCH_MAX || out.passed >= PASSED_MAX ||
        !fill(d, output, to))
        return false;
    d->is_open = true;
    out.used++;
    out.passed += output->len_bytes + PULLS_MESSAGE_BYTES;
    return true;
}

void px_deliver_enough(void)
{
    out.has_enough = true;
}

bool px_deliver_is_full(void)
{
    return out.is_opened && (out.has_enough || out.passed >= BATCH_BYTES);
}

void px_deliver_close(uint64_t now_ms)
{
    if (out.is_opened && out.used > 0)
        submit_all(now_ms);
}

bool px_deliver_borrows(void)
{
    return out.passed > 0;
}

unsigned px_deliver_step(uint64_t now_ms, struct pollfd *stuck)
{
    static const struct px_pulls_taker taker = {.room = room, .give = add};
    unsigned count = 0;
    uint64_t seen;

    if (read(out.wake, &seen, sizeof(seen)) < 0)
        seen = 0; /* nothing to clear */
    px_pulls_reap(false);
    if (px_deliver_asked() > 0)
        return 0;
    out.used = 0;
    out.used_bytes = out.passed = 0;
    out.has_enough = false;
    count = px_pulls_take(now_ms, BATCH_BYTES, &taker, stuck);
    if (out.used > 0) {
        submit_all(now_ms);
    } else {
        out.is_opened = true;
        out.number += out.number == UINT32_MAX ? 2 : 1; /* never 0 */
    }
    return count;
}
