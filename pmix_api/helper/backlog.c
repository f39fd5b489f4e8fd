/* Keeps output that waits for a slow tool. */
#include "pmix_api/helper/backlog.h"

#include <stdlib.h>

#include "endpoints/sys/hoard.h"
#include "overlay/base/err.h"

enum {
    CHANNELS = 3,
    /* Space in the file above the limit, for heads of messages and for ends of
     * channels. */
    SPARE_BYTES = 8 << 20,
    /* More such space, for output that comes while the oldest output, which is
     * to be dropped, is still being read from the file. */
    SLACK_BYTES = 64 << 20,
};

/* What is missing of a channel. */
struct lack {
    uint64_t before_bytes; /* bytes dropped before the channel's first output
                              that waits */
    uint64_t behind_bytes; /* bytes dropped after the channel's last output that
                              waits */
    bool is_end_due;       /* there was no room for the channel's end, which is
                              still to be sent */
};

struct px_backlog {
    struct px_backlog_cfg cfg;
    struct ep_hoard *hoard; /* owned */
    uint64_t waiting_bytes;
    uint64_t lost_bytes;   /* bytes that the file did not give back; their
                              channels are not known */
    uint64_t given_bytes;  /* the part of lost_bytes that the last returned
                            * output has reported */
    uint64_t untold_bytes; /* all missing bytes that were not reported to the
                              tool yet */
    /* Owned [procs * CHANNELS]; NULL: nothing was dropped yet. */
    struct lack *lacks;
    uint64_t ends_due;   /* how many channels have is_end_due */
    uint32_t ends_from;  /* no channel before this index has is_end_due */
    bool is_end_at_hand; /* the last returned output is an end for which there
                          * had been no room */
};

int px_backlog_open(const struct px_backlog_cfg *cfg, struct px_backlog **out)
{
    struct px_backlog *backlog = calloc(1, sizeof(*backlog));
    const struct ep_hoard_cfg hoard = {
        .writer = cfg->writer,
        .limit_bytes = cfg->limit_bytes + cfg->limit_bytes / 8 + SPARE_BYTES +
                       (cfg->drops_oldest ? SLACK_BYTES : 0),
        .dir = cfg->dir,
        .on_change = cfg->on_change,
        .arg = cfg->arg};
    int rc;

    *out = backlog;
    if (backlog == NULL)
        return OV_ENOMEM;
    backlog->cfg = *cfg;
    rc = ep_hoard_open(&hoard, &backlog->hoard);
    if (rc == 0)
        return 0;
    free(backlog);
    *out = NULL;
    return rc;
}

void px_backlog_close(struct px_backlog *backlog)
{
    if (backlog == NULL)
        return;
    ep_hoard_close(backlog->hoard);
    free(backlog->lacks);
    free(backlog);
}

/* --- what is missing */

/* The entry of an output's channel. NULL: memory is out, and then the drop is
 * not counted. */
static struct lack *lack_of(struct px_backlog *backlog,
                            const struct job_door *output)
{
    const size_t nth = (size_t)(output->first - backlog->cfg.base) * CHANNELS +
                       output->channel - 1;

    if (backlog->lacks == NULL)
        backlog->lacks = calloc((size_t)backlog->cfg.procs * CHANNELS,
                                sizeof(*backlog->lacks));
    return backlog->lacks != NULL ? &backlog->lacks[nth] : NULL;
}

static uint64_t missing_with(const struct job_door *output)
{
    return ov_rd_left(&output->rest) + output->dropped_bytes +
           output->before_bytes;
}

static void owe_end(struct px_backlog *backlog, struct lack *lack)
{
    lack->is_end_due = true;
    backlog->ends_due++;
    backlog->ends_from = 0;
}

/* Counts an output that is dropped because it does not fit. */
static void refuse_output(struct px_backlog *backlog,
                          const struct job_door *output)
{
    struct lack *lack = lack_of(backlog, output);

    if (lack == NULL)
        return;
    lack->behind_bytes += missing_with(output);
    backlog->untold_bytes += missing_with(output);
    if (output->is_end)
        owe_end(backlog, lack);
}

/* Counts an output that has waited and is now dropped. It is the first of its
 * channel that waits. */
static void give_up(struct px_backlog *backlog, const struct job_door *output)
{
    struct lack *lack = lack_of(backlog, output);

    backlog->waiting_bytes -= ov_rd_left(&output->rest);
    if (lack == NULL)
        return;
    lack->before_bytes += missing_with(output);
    backlog->untold_bytes += missing_with(output);
    if (output->is_end)
        owe_end(backlog, lack);
}

/* --- storing output */

static bool is_full(const struct px_backlog *backlog, uint64_t bytes)
{
    return backlog->waiting_bytes + bytes > backlog->cfg.limit_bytes;
}

/* Counts messages that cannot be read back from the file: this many bytes with
 * their heads, which all have the same length. */
static void lose_messages(struct px_backlog *backlog, uint64_t bytes)
{
    uint8_t head[JOB_DOOR_HEAD_MAX];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));
    const uint64_t before = ep_hoard_passed(backlog->hoard);

    job_door_encode(&wr, &(struct job_door){.kind = JOB_DOOR_OUTPUT});
    ep_hoard_drop(backlog->hoard);
    bytes -=
        (ep_hoard_passed(backlog->hoard) - before) * (uint64_t)(wr.at - head);
    backlog->waiting_bytes -= bytes;
    backlog->lost_bytes += bytes;
    backlog->untold_bytes += bytes;
}

/* Gets the first message that waits, and skips messages that cannot be read. */
static int look_at_first(struct px_backlog *backlog, struct job_door *out)
{
    const uint8_t *mem;
    uint32_t len_bytes;
    int rc = ep_hoard_get(backlog->hoard, &mem, &len_bytes);

    while (rc == OV_ESYS) {
        lose_messages(backlog, len_bytes);
        rc = ep_hoard_get(backlog->hoard, &mem, &len_bytes);
    }
    return rc != 0 ? rc : job_door_decode(ov_rd_init(mem, len_bytes), out);
}

/* Drops the oldest output until there is room. OV_EAGAIN: the oldest output is
 * still being read from the file. */
static int drop_oldest(struct px_backlog *backlog, uint64_t bytes)
{
    struct job_door oldest;
    int rc = 0;

    while (rc == 0 && backlog->cfg.drops_oldest && is_full(backlog, bytes)) {
        rc = look_at_first(backlog, &oldest);
        if (rc != 0)
            break;
        give_up(backlog, &oldest);
        ep_hoard_drop(backlog->hoard);
    }
    return rc == OV_EAGAIN ? OV_EAGAIN : 0;
}

static int put_output(struct px_backlog *backlog, const struct job_door *output)
{
    struct job_door its = *output;
    uint8_t head[JOB_DOOR_HEAD_MAX];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));
    struct lack *lack =
        backlog->lacks != NULL ? lack_of(backlog, output) : NULL;
    int rc;

    if (lack != NULL)
        its.dropped_bytes += lack->behind_bytes;
    its.rest = ov_rd_init(NULL, 0);
    job_door_encode(&wr, &its);
    rc = ep_hoard_put_parts(backlog->hoard, head, (uint32_t)(wr.at - head),
                            output->rest.at,
                            (uint32_t)ov_rd_left(&output->rest));
    if (rc != 0)
        return rc;
    if (lack != NULL) {
        backlog->untold_bytes -= lack->behind_bytes;
        lack->behind_bytes = 0;
    }
    backlog->waiting_bytes += ov_rd_left(&output->rest);
    return 0;
}

/* Stores an output. While the oldest output is being read from the file, new
 * output may use SLACK_BYTES: if the session had to wait, it would drop output.
 */
int px_backlog_put(struct px_backlog *backlog, const struct job_door *output)
{
    const uint64_t bytes = ov_rd_left(&output->rest);
    const bool has_slack = drop_oldest(backlog, bytes) == OV_EAGAIN;
    int rc = OV_EFULL;

    if (!is_full(backlog, bytes) ||
        (has_slack && backlog->waiting_bytes + bytes <=
                          backlog->cfg.limit_bytes + SLACK_BYTES))
        rc = put_output(backlog, output);
    else if (has_slack)
        rc = OV_EAGAIN;
    if (rc == OV_EAGAIN)
        return rc;
    if (rc != 0)
        refuse_output(backlog, output);
    return 0;
}

/* --- returning output */

/* Gets the end of a channel for which there had been no room; only when nothing
 * else waits.
 */
static int get_end(struct px_backlog *backlog, struct job_door *out)
{
    struct lack *lack = &backlog->lacks[backlog->ends_from];

    while (!lack->is_end_due) {
        backlog->ends_from++;
        lack++;
    }
    *out = (struct job_door){
        .kind = JOB_DOOR_OUTPUT,
        .first = backlog->cfg.base + backlog->ends_from / CHANNELS,
        .channel = (uint8_t)(1 + backlog->ends_from % CHANNELS),
        .is_end = true,
        .dropped_bytes = lack->before_bytes + lack->behind_bytes};
    backlog->is_end_at_hand = true;
    return 0;
}

int px_backlog_get(struct px_backlog *backlog, struct job_door *out)
{
    int rc = drop_oldest(backlog, 0);

    if (rc == 0)
        rc = look_at_first(backlog, out);
    backlog->is_end_at_hand = false;
    if (rc == OV_ENOENT && backlog->ends_due > 0)
        rc = get_end(backlog, out);
    else if (rc == 0 && backlog->lacks != NULL)
        out->dropped_bytes += lack_of(backlog, out)->before_bytes;
    if (rc != 0)
        return rc;
    backlog->given_bytes = backlog->lost_bytes;
    out->dropped_bytes += backlog->given_bytes;
    return 0;
}

void px_backlog_drop(struct px_backlog *backlog)
{
    struct job_door gone;
    struct lack *lack;

    backlog->lost_bytes -= backlog->given_bytes;
    backlog->untold_bytes -= backlog->given_bytes;
    backlog->given_bytes = 0;
    if (backlog->is_end_at_hand) {
        lack = &backlog->lacks[backlog->ends_from];
        backlog->untold_bytes -= lack->before_bytes + lack->behind_bytes;
        *lack = (struct lack){0};
        backlog->ends_due--;
        backlog->is_end_at_hand = false;
        return;
    }
    if (look_at_first(backlog, &gone) != 0)
        return;
    backlog->waiting_bytes -= ov_rd_left(&gone.rest);
    if (backlog->lacks != NULL) {
        lack = lack_of(backlog, &gone);
        backlog->untold_bytes -= lack->before_bytes;
        lack->before_bytes = 0;
    }
    ep_hoard_drop(backlog->hoard);
}

uint64_t px_backlog_bytes(const struct px_backlog *backlog)
{
    return backlog->waiting_bytes;
}

bool px_backlog_is_saving(const struct px_backlog *backlog)
{
    return ep_hoard_is_saving(backlog->hoard);
}

bool px_backlog_is_empty(const struct px_backlog *backlog)
{
    return ep_hoard_is_empty(backlog->hoard) && backlog->ends_due == 0;
}

bool px_backlog_is_idle(const struct px_backlog *backlog)
{
    return px_backlog_is_empty(backlog) && backlog->untold_bytes == 0;
}
