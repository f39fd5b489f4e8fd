/* The list of items that wait, how they are moved to the spool, and back. */
#include "config.h"

#include "endpoints/console/park.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

/* Put before each record in the spool, which only this process reads. */
struct head {
    struct text_origin origin;
    uint32_t proc;
    uint32_t len_bytes;
    uint32_t from_bytes, to_bytes;
    uint32_t text_bytes; /* these follow, before the bytes of the record */
    bool is_eof, is_bar;
};

enum { HEAD_MAX = sizeof(struct head) + EP_ITEM_TEXT_MAX };

void ep_park_init(struct ep_park *park, struct ep_item_pool *pool)
{
    *park = (struct ep_park){.pool = pool};
}

void ep_park_fini(struct ep_park *park)
{
    OV_ASSERT(park->first == NULL);
    ep_sources_fini(&park->sources);
}

void ep_park_push(struct ep_park *park, struct ep_item *item)
{
    struct ep_source *source = item->source;

    item->next = NULL;
    item->next_same = NULL;
    item->prev = park->last;
    if (park->last != NULL)
        park->last->next = item;
    else
        park->first = item;
    park->last = item;
    if (park->first_hand == NULL)
        park->first_hand = item;
    if (source != NULL && source->last != NULL)
        source->last->next_same = item;
    else if (source != NULL)
        source->first = item;
    if (source != NULL)
        source->last = item;
    park->hand_bytes += item->len_bytes;
    park->hand_count++;
}

static void list_remove(struct ep_park *park, struct ep_item *item)
{
    if (park->first_hand == item)
        park->first_hand = item->next;
    if (item->prev != NULL)
        item->prev->next = item->next;
    else
        park->first = item->next;
    if (item->next != NULL)
        item->next->prev = item->prev;
    else
        park->last = item->prev;
}

void ep_park_take(struct ep_park *park, struct ep_item *item)
{
    struct ep_source *source = item->source;

    if (source != NULL) {
        OV_ASSERT(source->first == item);
        source->first = item->next_same;
        if (source->first == NULL)
            source->last = NULL;
    }
    list_remove(park, item);
    if (item->is_spooled) {
        park->spooled_count--;
    } else {
        park->hand_count--;
        park->hand_bytes -= item->len_bytes;
    }
}

/* True when the records at `ref` can be added to the run `before`. Nothing can
 * be added to a run that is being read, as its block is in the file. */
static bool is_next_of(const struct ep_item *before,
                       const struct ep_spool_ref *ref)
{
    return before != NULL && before->is_spooled && before->source == NULL &&
           before->ref.block == ref->block &&
           before->ref.off_bytes + before->ref.len_bytes == ref->off_bytes;
}

/* Writes what is put before the bytes of an item. Returns its length. */
static uint32_t put_head(uint8_t *dst, const struct ep_item *item)
{
    struct head head;

    memset(&head, 0, sizeof(head));
    head.origin = item->origin;
    head.proc = item->proc;
    head.len_bytes = item->len_bytes;
    head.from_bytes = item->from_bytes;
    head.to_bytes = item->to_bytes;
    head.text_bytes = item->text_bytes;
    head.is_eof = item->is_eof;
    head.is_bar = item->is_bar;
    memcpy(dst, &head, sizeof(head));
    if (item->text_bytes > 0)
        memcpy(dst + sizeof(head), item->text, item->text_bytes);
    return (uint32_t)sizeof(head) + item->text_bytes;
}

int ep_park_spill(struct ep_park *park, uint64_t *cookie)
{
    struct ep_item *item = park->first_hand;
    struct ep_item *before;
    struct ep_spool_ref ref;
    uint8_t head[HEAD_MAX];
    int rc;

    if (item == NULL)
        return OV_ENOENT;
    if (park->spooled_count >= EP_PARK_SPOOLED_MAX)
        return OV_EFULL;
    rc = ep_spool_put(park->spool, head, put_head(head, item), item->mem,
                      item->len_bytes, &ref);
    if (rc != 0)
        return rc;
    free(item->text);
    item->text = NULL;
    *cookie = item->cookie;
    park->hand_count--;
    park->hand_bytes -= item->len_bytes;
    before = item->prev;
    if (item->source == NULL && is_next_of(before, &ref)) {
        before->ref.len_bytes += ref.len_bytes;
        before->payload_bytes += item->len_bytes;
        before->records++;
        list_remove(park, item);
        ep_item_put(park->pool, item);
        return 0;
    }
    park->first_hand = item->next;
    park->spooled_count++;
    item->is_spooled = true;
    item->mem = NULL;
    item->ref = ref;
    return 0;
}

int ep_park_fetch(struct ep_park *park, struct ep_item *item)
{
    int rc;

    if (item->mem != NULL)
        return 0;
    rc = ep_spool_get(park->spool, &item->ref, &item->mem);
    if (rc == 0)
        item->len_bytes = item->ref.len_bytes;
    return rc;
}

struct ep_item *ep_park_next(struct ep_park *park, struct ep_item *run,
                             uint32_t *at_bytes)
{
    struct ep_item *item;
    struct head head;

    if (*at_bytes >= run->ref.len_bytes)
        return NULL;
    item = ep_item_get(park->pool);
    if (item == NULL)
        return NULL;
    OV_ASSERT(run->ref.len_bytes - *at_bytes >= sizeof(head));
    memcpy(&head, run->mem + *at_bytes, sizeof(head));
    *at_bytes += (uint32_t)sizeof(head);
    OV_ASSERT(run->ref.len_bytes - *at_bytes >=
              head.text_bytes + head.len_bytes);
    item->run = run;
    if (head.text_bytes > 0)
        item->text = (uint8_t *)(uintptr_t)(run->mem + *at_bytes);
    item->text_bytes = head.text_bytes;
    *at_bytes += head.text_bytes;
    item->mem = run->mem + *at_bytes;
    item->origin = head.origin;
    item->proc = head.proc;
    item->is_eof = head.is_eof;
    item->len_bytes = head.len_bytes;
    item->from_bytes = head.from_bytes;
    item->to_bytes = head.to_bytes;
    item->is_bar = head.is_bar;
    item->payload_bytes = head.len_bytes;
    item->records = 1;
    item->source = run->source;
    item->is_opening = run->is_opening;
    *at_bytes += head.len_bytes;
    run->users++;
    return item;
}
