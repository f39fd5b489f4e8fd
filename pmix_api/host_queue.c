/* What waits for the socket to the helper: of the job first, then output and
 * exits as they came, then the end. */
#include "pmix_api/host_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/host_keep.h"
#include "pmix_api/wire.h"

enum {
    CHANNELS = 3,
    ASK_MS = 2000, /* while there are tools */
};

/* --- output and exits */

/* NULL: none was dropped of this job, or memory is out. */
static uint64_t *dropped_of(struct px_host *host,
                            const struct job_record *output, bool makes)
{
    struct px_host_job *job = px_job_of(host, output->proc);
    size_t cell;

    if (job != NULL && job->dropped == NULL && makes)
        job->dropped =
            calloc((size_t)job->size * CHANNELS, sizeof(*job->dropped));
    if (job == NULL || job->dropped == NULL)
        return NULL;
    cell = (size_t)(output->proc - job->base) * CHANNELS + output->channel - 1;
    return &job->dropped[cell];
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

/* The next pieces of an item; returns how many. */
static unsigned cut(const struct px_item *item, uint64_t dropped_bytes,
                    struct px_output pieces[PX_OUTPUTS_MAX])
{
    const struct job_record *o = &item->output;
    uint32_t at = item->sent_bytes;
    unsigned count = 0;

    do {
        uint32_t left = o->len_bytes - at;
        uint32_t len = left < PX_OUTPUT_BYTES_MAX ? left : PX_OUTPUT_BYTES_MAX;

        pieces[count] = (struct px_output){
            .rank = o->proc,
            .channel = o->channel,
            .is_end = o->is_end && len == left,
            .is_redirected = o->is_redirected,
            .to = item->to,
            .is_turn = o->is_turn && len == left,
            .dropped_bytes = count == 0 ? dropped_bytes : 0,
            .before_bytes = count == 0 ? o->before_bytes : 0,
            .len_bytes = len,
            .mem = len == 0 ? NULL : o->mem + at,
        };
        at += len;
    } while (++count < PX_OUTPUTS_MAX && at < o->len_bytes);
    return count;
}

static void note_sent(struct px_host *host, struct px_item *item,
                      const struct px_output *pieces, unsigned count)
{
    const struct job_record *o = &item->output;

    if (o->is_redirected && item->sent_bytes == 0)
        host->cfg.events->on_gone(host->cfg.arg, o->cookie);
    for (unsigned i = 0; i < count; i++) {
        if (o->is_redirected)
            px_keep_output(host, &pieces[i], item->nth);
        item->sent_bytes += pieces[i].len_bytes;
    }
}

/* Some of the first one; it goes when all of it was sent. */
static int send_output(struct px_host *host, struct px_item *item)
{
    const struct job_record *o = &item->output;
    uint64_t *dropped = item->to == 0 ? dropped_of(host, o, false) : NULL;
    struct px_output pieces[PX_OUTPUTS_MAX];
    unsigned count =
        cut(item, dropped != NULL ? *dropped : item->dropped_bytes, pieces);
    int told = px_tell_outputs(host, pieces, count);

    if (told < 1)
        return told;
    if (dropped != NULL)
        *dropped = 0;
    item->dropped_bytes = item->output.before_bytes = 0;
    note_sent(host, item, pieces, (unsigned)told);
    if (item->sent_bytes < o->len_bytes)
        return 1;
    if (o->is_turn)
        px_keep_turned(host, item->to);
    drop_head(host);
    return 1;
}

static struct px_msg word_of(const struct px_host *host,
                             const struct px_item *item)
{
    uint32_t rank = item->output.proc;
    const struct px_host_job *job;

    if (item->kind == PX_ITEM_EXIT)
        return (struct px_msg){.kind = PX_EXIT, .exit = {rank, item->value}};
    if (item->kind == PX_ITEM_BROKEN)
        return (struct px_msg){.kind = PX_BROKEN,
                               .broken = {rank, item->output.channel}};
    if (item->kind == PX_ITEM_LIVE)
        return (struct px_msg){.kind = PX_LIVE, .id = item->value};
    if (item->kind == PX_ITEM_HEARD)
        return (struct px_msg){.kind = PX_HEARD, .id = item->value};
    if (item->kind == PX_ITEM_DONE)
        return (struct px_msg){.kind = PX_DONE,
                               .done = {rank, (uint8_t)item->value}};
    if (item->kind == PX_ITEM_STOP)
        return (struct px_msg){.kind = PX_STOP, .id = item->value};
    job = px_job_of(host, rank);
    return (struct px_msg){
        .kind = PX_PIDS,
        .pids = {rank, (uint16_t)item->value,
                 job->pids + 4 * (size_t)(rank - job->base)}};
}

static int send_head(struct px_host *host)
{
    struct px_item *item = host->items;
    struct px_msg msg;
    int rc;

    if (item->kind == PX_ITEM_OUTPUT)
        return send_output(host, item);
    msg = word_of(host, item);
    rc = px_tell(host, &msg);
    if (rc == 1 && item->kind == PX_ITEM_LIVE)
        px_keep_live(host, item->value);
    if (rc == 1)
        drop_head(host);
    return rc;
}

static int send_flush(struct px_host *host)
{
    int rc = px_tell(host, &(struct px_msg){.kind = PX_FLUSH});

    if (rc == 1)
        host->is_flush_sent = true;
    return rc;
}

/* Of what was dropped only ends of channels have a meaning; words stay. */
static void drop_empty(struct px_host *host)
{
    struct px_item **at = &host->items;

    host->is_share_full = false; /* what waited for it is no more */
    while (*at != NULL) {
        struct px_item *item = *at;

        if (item->kind != PX_ITEM_OUTPUT || item->output.is_end ||
            item->output.is_redirected || item->to != 0) {
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
    int rc = px_tell(host, &(struct px_msg){.kind = PX_PING});

    if (rc == 1)
        host->is_ping_due = false;
    return rc;
}

int px_queue_pump(struct px_host *host)
{
    int rc;

    if (host->phase == PX_HOST_DOWN)
        return 0;
    rc = px_tell_jobs(host);
    if (rc == 1 && host->is_ping_due)
        rc = send_ping(host); /* no flood of output puts it off */
    while (rc == 1 && host->items != NULL)
        rc = send_head(host);
    if (rc == 1)
        rc = px_tell_stages(host);
    if (rc == 1 && host->is_flush_due && !host->is_flush_sent)
        rc = send_flush(host);
    return rc < 0 ? rc : 0;
}

void px_queue_count_dropped(struct px_host *host,
                            const struct job_record *output, uint32_t bytes)
{
    uint64_t *dropped = bytes > 0 ? dropped_of(host, output, true) : NULL;

    if (dropped != NULL)
        *dropped += bytes;
}

void px_queue_drop(struct px_host *host)
{
    for (struct px_item *item = host->items; item != NULL; item = item->next) {
        struct job_record *o = &item->output;

        if (item->kind != PX_ITEM_OUTPUT || item->is_bare || o->is_redirected)
            continue;
        if (item->to != 0)
            item->dropped_bytes += o->len_bytes - item->sent_bytes;
        else
            px_queue_count_dropped(host, o, o->len_bytes - item->sent_bytes);
        release(host, item);
        o->mem = NULL;
        o->len_bytes = item->sent_bytes = 0;
    }
    drop_empty(host);
}

static void give_back(struct px_host *host, bool is_all)
{
    for (struct px_item *item = host->items; item != NULL; item = item->next) {
        struct job_record *o = &item->output;

        if (item->kind != PX_ITEM_OUTPUT || !o->is_redirected ||
            item->sent_bytes > 0 || px_redirects(host, o->proc, o->channel) ||
            (!is_all && px_returns(host, o->proc, o->channel)))
            continue;
        o->is_redirected = false;
        host->cfg.events->on_returned(host->cfg.arg, o->cookie);
    }
}

void px_queue_return(struct px_host *host)
{
    give_back(host, false);
}

/* All that is left of one. */
static void salvage(struct px_host *host, struct px_item *item)
{
    struct px_output pieces[PX_OUTPUTS_MAX];

    do {
        unsigned count = cut(item, 0, pieces);

        note_sent(host, item, pieces, count);
    } while (item->sent_bytes < item->output.len_bytes);
    release(host, item);
    item->output.is_redirected = false;
}

void px_queue_salvage(struct px_host *host)
{
    for (struct px_item *item = host->items; item != NULL; item = item->next) {
        const struct job_record *o = &item->output;

        if (item->kind == PX_ITEM_OUTPUT && o->is_redirected &&
            !item->is_bare && px_keep_has(host, o->proc, o->channel, item->nth))
            salvage(host, item);
    }
}

void px_queue_clear(struct px_host *host)
{
    give_back(host, true);
    while (host->items != NULL)
        drop_head(host);
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        free(job->dropped);
        job->dropped = NULL;
    }
}

bool px_queue_is_empty(const struct px_host *host)
{
    return host->phase == PX_HOST_READY && host->items == NULL &&
           px_jobs_are_told(host) && !host->is_ping_due &&
           host->push.grants_due == 0 && !host->push.is_held_due &&
           host->taken_due == 0 && (!host->is_flush_due || host->is_flush_sent);
}

void px_queue_arm(struct px_host *host, unsigned ms)
{
    struct timeval wait = {(time_t)(ms / 1000),
                           (suseconds_t)(ms % 1000) * 1000};

    if (evtimer_pending(host->timer, NULL) && !host->is_slow_timer)
        return;
    host->is_slow_timer = false;
    event_add(host->timer, &wait);
}

/* For the next PING, if that is all that there is to do. */
static void arm_slowly(struct px_host *host)
{
    if (!host->has_tools || evtimer_pending(host->timer, NULL))
        return;
    px_queue_arm(host, ASK_MS);
    host->is_slow_timer = true;
}

bool px_queue_is_waiting(const struct px_host *host)
{
    return !host->is_up || !px_queue_is_empty(host) || host->looks != 0 ||
           host->flush_ms != 0;
}

static bool can_send(const struct px_host *host)
{
    return !px_queue_is_empty(host) && !host->is_share_full;
}

static void watch(struct px_host *host)
{
    if (px_queue_is_waiting(host))
        px_queue_arm(host, PX_LOOK_MS);
    else
        arm_slowly(host);
}

void px_queue_wake(struct px_host *host)
{
    if (host->phase == PX_HOST_DOWN)
        return;
    if (can_send(host))
        event_add(host->writes, NULL);
    watch(host);
}

void px_queue_soon(struct px_host *host)
{
    if (host->phase == PX_HOST_DOWN)
        return;
    if (can_send(host) && !event_pending(host->writes, EV_WRITE, NULL))
        event_active(host->writes, EV_WRITE, 0);
    watch(host);
}

bool px_queue_push(struct px_host *host, const struct px_item *what)
{
    struct px_item *item = malloc(sizeof(*item));

    if (item == NULL)
        return false;
    *item = *what;
    item->next = NULL;
    item->nth = host->pushed++;
    if (host->items == NULL && px_queue_is_empty(host))
        host->held_looks = 0; /* it has waited from now on */
    *host->items_last = item;
    host->items_last = &item->next;
    px_queue_soon(host);
    return true;
}

void px_host_done(struct px_host *host, uint32_t token, enum px_answer answer)
{
    struct px_item item = {
        .output = {.proc = token}, .value = answer, .kind = PX_ITEM_DONE};

    if (host->phase == PX_HOST_READY)
        px_queue_push(host, &item);
}
