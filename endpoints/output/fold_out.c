/* Makes batches of groups and hands them to the console. */
#include "config.h"

#include "endpoints/output/fold_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/console/console.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "topo/hosts.h"

enum {
    BATCH_BYTES = 64 * 1024,
    WHO_MIN = 256,
    CONSOLE_BYTES = 512, /* what the console's item of a batch takes */
};

/* The end of a whole output in a batch. */
struct whole_end {
    struct whole_end *next;
    struct job_rank_set members;
    uint64_t sum;
};

struct fold_batch {
    struct fold_batch *next;
    struct fold_out *out;
    struct job_fold_group *groups, **last; /* owned: the groups in it */
    struct whole_end *ends, **ends_last;   /* owned: of whole outputs */
    uint8_t *mem;                          /* owned; NULL: given back */
    size_t len_bytes, cap_bytes, written_bytes;
    uint32_t proc;
    uint32_t records; /* that the console has */
};

/* ---- batches ---- */

static struct fold_batch *batch_new(struct fold_out *out, uint32_t proc,
                                    size_t cap_bytes)
{
    struct fold_batch *batch = calloc(1, sizeof(*batch));

    if (batch == NULL)
        return NULL;
    batch->mem = malloc(cap_bytes);
    if (batch->mem == NULL) {
        free(batch);
        return NULL;
    }
    batch->cap_bytes = cap_bytes;
    batch->out = out;
    batch->proc = proc;
    batch->last = &batch->groups;
    batch->ends_last = &batch->ends;
    if (out->last != NULL)
        out->last->next = batch;
    else
        out->first = batch;
    out->last = batch;
    return batch;
}

static void batch_free(struct fold_batch *batch)
{
    struct fold_out *out = batch->out;

    while (batch->groups != NULL) {
        struct job_fold_group *group = batch->groups;

        batch->groups = group->next;
        job_fold_free(out->cfg.fold, group);
    }
    while (batch->ends != NULL) {
        struct whole_end *end = batch->ends;

        batch->ends = end->next;
        job_rank_set_fini(&end->members);
        free(end);
    }
    free(batch->mem);
    free(batch);
}

/* Frees the batches that are written and given back, from the first one on. */
static void batches_settle(struct fold_out *out)
{
    struct fold_batch *batch;

    while ((batch = out->first) != NULL && batch->mem == NULL &&
           batch->written_bytes == batch->len_bytes) {
        out->first = batch->next;
        if (out->first == NULL)
            out->last = NULL;
        batch_free(batch);
    }
}

/* Returns what a batch takes of memory, here and in the console. */
static uint64_t batch_bytes(const struct fold_batch *batch)
{
    return batch->cap_bytes + sizeof(*batch) + CONSOLE_BYTES;
}

/* Gives back the room that a batch has not needed. */
static void batch_trim(struct fold_batch *batch)
{
    uint8_t *mem = batch->len_bytes < batch->cap_bytes && batch->len_bytes > 0
                       ? realloc(batch->mem, batch->len_bytes)
                       : NULL;

    if (mem == NULL)
        return;
    batch->mem = mem;
    batch->cap_bytes = batch->len_bytes;
}

static int batch_hand(struct fold_out *out, struct fold_batch *batch,
                      const struct job_record *like)
{
    struct job_record rec = *like;
    size_t at = 0;
    int rc = 0;

    batch_trim(batch);
    out->out_bytes += batch_bytes(batch);
    rec.cookie = (uintptr_t)batch;
    rec.channel = out->cfg.channel;
    batch->records = 1; /* our own, until all are handed on */
    do {
        const size_t left = batch->len_bytes - at;

        rec.mem = left > 0 ? batch->mem + at : NULL;
        rec.len_bytes =
            (uint32_t)(left < EP_CONSOLE_RECORD_MAX ? left
                                                    : EP_CONSOLE_RECORD_MAX);
        at += rec.len_bytes;
        batch->records++;
        rc = out->cfg.on_record(out->cfg.arg, &rec);
        batch->records -= rc != 0;
    } while (rc == 0 && at < batch->len_bytes);
    ep_fold_out_taken(batch);
    return rc;
}

/* Hands the batch that is being filled to the console. */
int ep_fold_out_flush(struct fold_out *out)
{
    struct fold_batch *batch = out->filling;
    const struct job_record like = {
        .proc = batch != NULL ? batch->proc : 0,
        .rank = batch != NULL && batch->groups != NULL
                    ? job_rank_set_next(&batch->groups->members, 0)
                    : 0,
        .style = out->cfg.plain,
    };

    out->filling = NULL;
    if (batch == NULL)
        return 0;
    /* What continues a line is from the same process. */
    if (batch->mem[batch->len_bytes - 1] == '\n')
        out->next_proc =
            (out->next_proc + 1) % (EP_FOLD_PROC_LAST - EP_FOLD_PROC_FIRST + 1);
    return batch_hand(out, batch, &like);
}

/* Makes room for so many bytes in the batch that is being filled. */
static int filling_reserve(struct fold_out *out, size_t len_bytes)
{
    struct fold_batch *batch = out->filling;
    size_t cap = BATCH_BYTES;
    uint8_t *mem;

    if (batch == NULL) {
        out->filling = batch_new(out, EP_FOLD_PROC_FIRST + out->next_proc,
                                 cap > len_bytes ? cap : len_bytes);
        return out->filling != NULL ? 0 : OV_ENOMEM;
    }
    if (batch->cap_bytes - batch->len_bytes >= len_bytes)
        return 0;
    cap = batch->len_bytes + len_bytes;
    mem = realloc(batch->mem, cap);
    if (mem == NULL)
        return OV_ENOMEM;
    batch->mem = mem;
    batch->cap_bytes = cap;
    return 0;
}

/* ---- who said it ---- */

static bool who_add(struct fold_out *out, const char *text, size_t len)
{
    if (out->who_cap - out->who_bytes < len) {
        size_t cap = (out->who_bytes + len) * 2 + WHO_MIN;
        char *who = realloc(out->who, cap);

        if (who == NULL)
            return false;
        out->who = who;
        out->who_cap = cap;
    }
    memcpy(out->who + out->who_bytes, text, len);
    out->who_bytes += len;
    return true;
}

static bool who_add_ranks(struct fold_out *out, const struct job_rank_set *set)
{
    uint32_t first = 0, last;
    char text[JOB_RANK_SET_TEXT_MAX];
    bool is_done = true;

    for (; is_done && job_rank_set_range(set, &first, &last);
         first = last + 1) {
        const char *comma = out->who_bytes > 0 ? "," : "";
        int len =
            last > first
                ? snprintf(text, sizeof(text), "%s%" PRIu32 "-%" PRIu32, comma,
                           first, last)
                : snprintf(text, sizeof(text), "%s%" PRIu32, comma, first);

        is_done = who_add(out, text, (size_t)len);
    }
    return is_done;
}

static bool who_add_hosts(struct fold_out *out, const struct job_rank_set *set)
{
    uint32_t rank = job_rank_set_next(set, 0);
    struct topo_hosts hosts;
    char *text;
    bool is_done;

    topo_hosts_init(&hosts);
    for (; rank != JOB_RANK_SET_NONE; rank = job_rank_set_next(set, rank + 1)) {
        const char *host = out->cfg.host_of(out->cfg.arg, rank);

        if (host != NULL &&
            topo_hosts_find(&hosts, host, strlen(host)) == TOPO_NONE)
            (void)topo_hosts_add(&hosts, host, strlen(host), 0);
    }
    text = topo_hosts_fold(&hosts, hosts.count);
    is_done = text != NULL && who_add(out, text, strlen(text));
    free(text);
    topo_hosts_fini(&hosts);
    return is_done;
}

static bool who_make(struct fold_out *out, const struct job_rank_set *set)
{
    static const char hosts[] = "\",\"hosts\":\"";
    const bool is_json = out->cfg.style->format == TEXT_FORMAT_JSON;

    if (out->who_bytes > 0 && job_rank_set_is_equal(set, &out->who_set))
        return true;
    out->who_bytes = 0;
    job_rank_set_fini(&out->who_set);
    if (!out->cfg.has_hosts || is_json) {
        if (!who_add_ranks(out, set))
            return false;
    }
    if (out->cfg.has_hosts && is_json &&
        !who_add(out, hosts, sizeof(hosts) - 1))
        return false;
    if (out->cfg.has_hosts && !who_add_hosts(out, set))
        return false;
    return job_rank_set_copy(&out->who_set, set);
}

/* ---- groups to batches ---- */

/* A batch with a line that may change colours has no other line: the console
 * ends what one process has left on. */
static bool has_colour(const struct job_text *text)
{
    return memchr(text->mem, '\033', text->len_bytes) != NULL;
}

/* Puts a line of these ranks as each format has it. */
static int line_put(struct fold_out *out, const struct job_rank_set *members,
                    struct text_folded_line line)
{
    struct fold_batch *batch;

    if (!who_make(out, members))
        return OV_ENOMEM;
    line.who = out->who;
    line.who_bytes = out->who_bytes;
    if (filling_reserve(out, text_folded_max(out->cfg.style, &line)) != 0)
        return OV_ENOMEM;
    batch = out->filling;
    batch->len_bytes +=
        text_folded_put(&out->head, out->cfg.style, out->cfg.channel, &line,
                        batch->mem + batch->len_bytes);
    return 0;
}

static int group_put(struct fold_out *out, struct job_fold_group *group)
{
    const struct text_folded_line line = {
        .mem = group->text->mem,
        .len_bytes = group->text->len_bytes,
        .time_ns = group->time_ns,
    };
    int rc = line_put(out, &group->members, line);

    if (rc != 0)
        return rc;
    *out->filling->last = group;
    out->filling->last = &group->next;
    return 0;
}

int ep_fold_out_group(struct fold_out *out, struct job_fold_group *group)
{
    const bool is_alone = has_colour(group->text);
    int rc = is_alone ? ep_fold_out_flush(out) : 0;

    if (rc == 0)
        rc = group_put(out, group);
    if (rc != 0) {
        job_fold_free(out->cfg.fold, group);
        return rc;
    }
    if (is_alone || out->filling->len_bytes >= BATCH_BYTES)
        rc = ep_fold_out_flush(out);
    return rc;
}

/* ---- whole outputs ---- */

int ep_fold_out_bytes(struct fold_out *out, const void *mem, size_t len_bytes)
{
    struct fold_batch *batch;

    if (filling_reserve(out, len_bytes) != 0)
        return OV_ENOMEM;
    batch = out->filling;
    memcpy(batch->mem + batch->len_bytes, mem, len_bytes);
    batch->len_bytes += len_bytes;
    return 0;
}

int ep_fold_out_head(struct fold_out *out, const struct job_rank_set *members,
                     const char *words)
{
    struct fold_batch *batch;
    int rc;

    if (out->cfg.style->format != TEXT_FORMAT_TEXT)
        return 0;
    rc = ep_fold_out_bytes(out, "---- ", 5);
    if (rc == 0)
        rc = line_put(out, members, (struct text_folded_line){.mem = NULL});
    if (rc != 0)
        return rc;
    batch = out->filling;
    while (strchr(": \n", batch->mem[batch->len_bytes - 1]) != NULL)
        batch->len_bytes--;
    rc = ep_fold_out_bytes(out, words, strlen(words));
    return rc == 0 ? ep_fold_out_bytes(out, " ----\n", 6) : rc;
}

int ep_fold_out_line(struct fold_out *out, const struct job_rank_set *members,
                     const struct job_text *text, bool is_ended)
{
    const bool has_newline = text->mem[text->len_bytes - 1] == '\n';
    int rc = 0;

    if (out->filling != NULL && out->filling->len_bytes >= BATCH_BYTES)
        rc = ep_fold_out_flush(out);
    if (rc != 0)
        return rc;
    if (out->cfg.style->format != TEXT_FORMAT_TEXT)
        return line_put(out, members,
                        (struct text_folded_line){
                            .mem = text->mem, .len_bytes = text->len_bytes});
    rc = ep_fold_out_bytes(out, text->mem, text->len_bytes);
    return rc == 0 && is_ended && !has_newline ? ep_fold_out_bytes(out, "\n", 1)
                                               : rc;
}

int ep_fold_out_whole(struct fold_out *out, const struct job_rank_set *members,
                      uint64_t sum)
{
    struct whole_end *end = calloc(1, sizeof(*end));

    OV_ASSERT(out->filling != NULL && out->filling->len_bytes > 0);
    if (end == NULL || !job_rank_set_copy(&end->members, members)) {
        free(end);
        return OV_ENOMEM;
    }
    end->sum = sum;
    *out->filling->ends_last = end;
    out->filling->ends_last = &end->next;
    return 0;
}

int ep_fold_out_piece(struct fold_out *out, const struct job_record *like)
{
    struct fold_batch *batch = batch_new(out, like->proc, like->len_bytes + 1);

    if (batch == NULL)
        return OV_ENOMEM;
    if (like->len_bytes > 0)
        memcpy(batch->mem, like->mem, like->len_bytes);
    batch->len_bytes = like->len_bytes;
    return batch_hand(out, batch, like);
}

bool ep_fold_out_has_room(const struct fold_out *out)
{
    return out->out_bytes < EP_FOLD_OUT_BYTES;
}

bool ep_fold_out_is_idle(const struct fold_out *out)
{
    return out->out_bytes == 0 && out->filling == NULL;
}

static void batch_written(struct fold_out *out, struct fold_batch *batch,
                          const void *mem, uint32_t len_bytes)
{
    batch->written_bytes += len_bytes;
    if (batch->proc < EP_FOLD_PROC_FIRST) {
        out->cfg.on_piece(out->cfg.arg, batch->proc, mem, len_bytes);
    } else if (batch->written_bytes == batch->len_bytes) {
        for (const struct job_fold_group *at = batch->groups; at != NULL;
             at = at->next)
            out->cfg.on_group(out->cfg.arg, at);
        for (const struct whole_end *at = batch->ends; at != NULL;
             at = at->next)
            out->cfg.on_whole(out->cfg.arg, &at->members, at->sum);
    }
    batches_settle(out);
}

void ep_fold_out_written(struct fold_out *out, uint32_t proc, const void *mem,
                         uint32_t len_bytes)
{
    struct fold_batch *batch = out->first;

    while (batch != NULL &&
           (batch->proc != proc || batch->written_bytes == batch->len_bytes))
        batch = batch->next;
    if (batch != NULL)
        batch_written(out, batch, mem, len_bytes);
}

void ep_fold_out_taken(struct fold_batch *batch)
{
    if (--batch->records > 0)
        return;
    batch->out->out_bytes -= batch_bytes(batch);
    free(batch->mem);
    batch->mem = NULL;
    batches_settle(batch->out);
}

void ep_fold_out_open(struct fold_out *out, const struct fold_out_cfg *cfg)
{
    *out = (struct fold_out){.cfg = *cfg};
}

void ep_fold_out_close(struct fold_out *out)
{
    while (out->first != NULL) {
        struct fold_batch *batch = out->first;

        out->first = batch->next;
        batch_free(batch);
    }
    job_rank_set_fini(&out->who_set);
    free(out->who);
    *out = (struct fold_out){.first = NULL};
}
