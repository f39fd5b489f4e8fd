/* Parts in memory are in a list by age, from which the oldest is saved. */
#include "config.h"

#include "endpoints/output/shelf.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/spool.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { PART_BYTES_MIN = 256 };

/* Put before each record in a part, which only this process reads. */
struct head {
    uint64_t time_ns;
    uint32_t len_bytes;
    uint8_t channel;
    bool is_end;
};

struct part {
    struct part *next;          /* the next part of the rank */
    struct part *older, *newer; /* among the parts in memory */
    uint8_t *mem;               /* owned; NULL: it is in the spool */
    const uint8_t *read_mem;    /* its bytes while it is being read */
    struct ep_spool_ref ref;    /* its bytes in the spool */
    uint32_t len_bytes, cap_bytes;
    uint32_t output_bytes; /* of these, bytes of output */
};

_Static_assert(sizeof(struct part) <= 88, "a part outgrew its budget");

/* What waits of a rank. */
struct queue {
    struct part *first, *last;
    const char *host; /* borrowed, as is the style */
    const struct text_style *style;
};

_Static_assert(sizeof(struct queue) <= 32, "a queue outgrew its budget");

struct ep_shelf {
    struct ep_shelf_cfg cfg;
    struct queue *queues;   /* owned [cfg.ranks] */
    struct ep_spool *spool; /* owned; NULL before it is needed */
    struct part *oldest, *newest;
    uint64_t mem_bytes; /* cap_bytes of all parts in memory */
    uint64_t output_bytes;
    uint32_t parts_count;
    uint32_t reading; /* the rank whose first part is being read */
    uint32_t at_bytes;
    bool is_reading;
    bool is_closed; /* the spool could not be opened */
};

/* ---- the list by age ---- */

static void list_add(struct ep_shelf *shelf, struct part *part)
{
    part->older = shelf->newest;
    part->newer = NULL;
    if (shelf->newest != NULL)
        shelf->newest->newer = part;
    else
        shelf->oldest = part;
    shelf->newest = part;
    shelf->mem_bytes += part->cap_bytes;
}

static void list_remove(struct ep_shelf *shelf, struct part *part)
{
    if (part->older != NULL)
        part->older->newer = part->newer;
    else
        shelf->oldest = part->newer;
    if (part->newer != NULL)
        part->newer->older = part->older;
    else
        shelf->newest = part->older;
    shelf->mem_bytes -= part->cap_bytes;
}

/* ---- opening and ending ---- */

int ep_shelf_open(const struct ep_shelf_cfg *cfg, struct ep_shelf **out)
{
    struct ep_shelf *shelf = calloc(1, sizeof(*shelf));

    if (shelf == NULL)
        return OV_ENOMEM;
    shelf->cfg = *cfg;
    if (cfg->mem_bytes == 0)
        shelf->cfg.mem_bytes = EP_SHELF_MEM_BYTES;
    shelf->queues = calloc(cfg->ranks, sizeof(*shelf->queues));
    if (shelf->queues == NULL) {
        free(shelf);
        return OV_ENOMEM;
    }
    *out = shelf;
    return 0;
}

void ep_shelf_close(struct ep_shelf *shelf)
{
    if (shelf == NULL)
        return;
    for (uint32_t rank = 0; rank < shelf->cfg.ranks; rank++) {
        struct part *part = shelf->queues[rank].first;

        while (part != NULL) {
            struct part *next = part->next;

            free(part->mem);
            free(part);
            part = next;
        }
    }
    ep_spool_close(shelf->spool);
    free(shelf->queues);
    free(shelf);
}

/* ---- the file ---- */

static void on_spool_change(void *arg)
{
    struct ep_shelf *shelf = arg;

    shelf->cfg.on_change(shelf->cfg.arg);
}

static int spool_ready(struct ep_shelf *shelf)
{
    const struct ep_spool_cfg cfg = {
        .limit_bytes = shelf->cfg.limit_bytes,
        .dir = shelf->cfg.dir,
        .on_change = on_spool_change,
        .arg = shelf,
    };

    if (shelf->spool != NULL)
        return 0;
    if (shelf->cfg.limit_bytes == 0 || shelf->is_closed)
        return OV_EFULL;
    shelf->is_closed =
        ep_spool_open(shelf->cfg.writer, &cfg, &shelf->spool) != 0;
    return shelf->is_closed ? OV_EFULL : 0;
}

static int oldest_save(struct ep_shelf *shelf)
{
    struct part *part = shelf->oldest;
    int rc = spool_ready(shelf);

    if (rc == 0)
        rc = ep_spool_put(shelf->spool, part->mem, part->len_bytes, NULL, 0,
                          &part->ref);
    if (rc != 0)
        return rc;
    list_remove(shelf, part);
    free(part->mem);
    part->mem = NULL;
    return 0;
}

/* Makes room for this many more bytes in memory. */
static int mem_ready(struct ep_shelf *shelf, uint32_t more_bytes)
{
    while (shelf->mem_bytes + more_bytes > shelf->cfg.mem_bytes &&
           shelf->oldest != NULL) {
        int rc = oldest_save(shelf);

        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- putting ---- */

/* True when records of the rank may still be added to the part. */
static bool is_growing(const struct part *part, uint32_t need_bytes)
{
    return part != NULL && part->mem != NULL && part->read_mem == NULL &&
           (part->cap_bytes - part->len_bytes >= need_bytes ||
            part->len_bytes + need_bytes <= EP_SHELF_PART_BYTES);
}

/* Makes room in a part, for which is_growing() is true. This may save the part
 * itself. */
static int part_grow(struct ep_shelf *shelf, struct part *part,
                     uint32_t need_bytes)
{
    uint32_t more_bytes = part->cap_bytes;
    uint8_t *mem;
    int rc;

    if (part->cap_bytes - part->len_bytes >= need_bytes)
        return 0;
    if (more_bytes < need_bytes)
        more_bytes = need_bytes;
    rc = mem_ready(shelf, more_bytes);
    if (rc != 0 || part->mem == NULL)
        return rc;
    mem = realloc(part->mem, part->cap_bytes + more_bytes);
    if (mem == NULL)
        return OV_EFULL;
    part->mem = mem;
    part->cap_bytes += more_bytes;
    shelf->mem_bytes += more_bytes;
    return 0;
}

static int part_new(struct ep_shelf *shelf, struct queue *queue,
                    uint32_t need_bytes)
{
    const uint32_t cap_bytes =
        need_bytes > PART_BYTES_MIN ? need_bytes : PART_BYTES_MIN;
    struct part *part;
    int rc = mem_ready(shelf, cap_bytes);

    if (rc != 0)
        return rc;
    if (shelf->parts_count >= EP_SHELF_PARTS_MAX)
        return OV_EFULL;
    part = calloc(1, sizeof(*part));
    if (part != NULL)
        part->mem = malloc(cap_bytes);
    if (part == NULL || part->mem == NULL) {
        free(part);
        return OV_EFULL;
    }
    part->cap_bytes = cap_bytes;
    list_add(shelf, part);
    if (queue->last != NULL)
        queue->last->next = part;
    else
        queue->first = part;
    queue->last = part;
    shelf->parts_count++;
    return 0;
}

int ep_shelf_put(struct ep_shelf *shelf, const struct job_record *rec)
{
    struct queue *queue = &shelf->queues[rec->rank];
    const uint32_t need_bytes = (uint32_t)sizeof(struct head) + rec->len_bytes;
    struct head head;
    struct part *part;
    int rc = 0;

    if (is_growing(queue->last, need_bytes))
        rc = part_grow(shelf, queue->last, need_bytes);
    if (rc == 0 && !is_growing(queue->last, need_bytes))
        rc = part_new(shelf, queue, need_bytes);
    if (rc != 0)
        return rc;
    part = queue->last;
    memset(&head, 0, sizeof(head));
    head.time_ns = rec->time_ns;
    head.len_bytes = rec->len_bytes;
    head.channel = rec->channel;
    head.is_end = rec->is_end;
    memcpy(part->mem + part->len_bytes, &head, sizeof(head));
    part->len_bytes += (uint32_t)sizeof(head);
    if (rec->len_bytes > 0)
        memcpy(part->mem + part->len_bytes, rec->mem, rec->len_bytes);
    part->len_bytes += rec->len_bytes;
    part->output_bytes += rec->len_bytes;
    shelf->output_bytes += rec->len_bytes;
    queue->host = rec->host;
    queue->style = rec->style;
    return 0;
}

/* ---- getting ---- */

int ep_shelf_get(struct ep_shelf *shelf, uint32_t rank)
{
    struct part *part = shelf->queues[rank].first;
    int rc = 0;

    OV_ASSERT(!shelf->is_reading);
    if (part == NULL)
        return OV_ENOENT;
    if (part->mem != NULL) {
        list_remove(shelf, part);
        part->read_mem = part->mem;
    } else {
        rc = ep_spool_get(shelf->spool, &part->ref, &part->read_mem);
    }
    if (rc != 0)
        return rc;
    shelf->output_bytes -= part->output_bytes;
    shelf->reading = rank;
    shelf->at_bytes = 0;
    shelf->is_reading = true;
    return 0;
}

bool ep_shelf_next(struct ep_shelf *shelf, struct job_record *rec)
{
    const struct queue *queue = &shelf->queues[shelf->reading];
    const struct part *part = queue->first;
    struct head head;

    OV_ASSERT(shelf->is_reading);
    if (shelf->at_bytes >= part->len_bytes)
        return false;
    memcpy(&head, part->read_mem + shelf->at_bytes, sizeof(head));
    shelf->at_bytes += (uint32_t)sizeof(head);
    *rec = (struct job_record){
        .mem = head.len_bytes > 0 ? part->read_mem + shelf->at_bytes : NULL,
        .len_bytes = head.len_bytes,
        .proc = shelf->reading,
        .rank = shelf->reading,
        .channel = head.channel,
        .is_end = head.is_end,
        .time_ns = head.time_ns,
        .host = queue->host,
        .style = queue->style,
    };
    shelf->at_bytes += head.len_bytes;
    return true;
}

void ep_shelf_drop(struct ep_shelf *shelf)
{
    struct queue *queue = &shelf->queues[shelf->reading];
    struct part *part = queue->first;

    OV_ASSERT(shelf->is_reading);
    shelf->is_reading = false;
    if (part->mem == NULL)
        ep_spool_release(shelf->spool, &part->ref);
    shelf->parts_count--;
    queue->first = part->next;
    if (queue->first == NULL)
        queue->last = NULL;
    free(part->mem);
    free(part);
}

bool ep_shelf_has(const struct ep_shelf *shelf, uint32_t rank)
{
    return shelf->queues[rank].first != NULL;
}

uint64_t ep_shelf_bytes(const struct ep_shelf *shelf)
{
    return shelf->output_bytes;
}

int ep_shelf_errno(const struct ep_shelf *shelf)
{
    if (shelf->spool == NULL)
        return shelf->is_closed ? ENOMEM : 0;
    return ep_spool_errno(shelf->spool);
}
