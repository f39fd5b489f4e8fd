/* A chained hash table of sources, which doubles when it is full. */
#include "config.h"

#include "endpoints/console/source.h"

#include <stddef.h>
#include <stdlib.h>

#include "text/style.h"
#include "overlay/base/panic.h"

enum { BUCKETS_MIN = 64 };

static struct ep_source **bucket_of(const struct ep_sources *all, uint32_t proc,
                                    uint8_t channel)
{
    uint32_t hash = (proc * TEXT_CHANNELS + channel) * UINT32_C(2654435761);

    return &all->buckets[(hash >> 8) & (all->buckets_count - 1)];
}

static bool sources_grow(struct ep_sources *all)
{
    struct ep_sources more = *all;

    more.buckets_count =
        all->buckets_count == 0 ? BUCKETS_MIN : all->buckets_count * 2;
    more.buckets = calloc(more.buckets_count, sizeof(struct ep_source *));
    if (more.buckets == NULL)
        return false;
    for (uint32_t i = 0; i < all->buckets_count; i++) {
        struct ep_source *next;

        for (struct ep_source *at = all->buckets[i]; at != NULL; at = next) {
            struct ep_source **to = bucket_of(&more, at->proc, at->channel);

            next = at->next;
            at->next = *to;
            *to = at;
        }
    }
    free(all->buckets);
    *all = more;
    return true;
}

void ep_sources_fini(struct ep_sources *all)
{
    for (uint32_t i = 0; i < all->buckets_count; i++) {
        struct ep_source *next;

        for (struct ep_source *at = all->buckets[i]; at != NULL; at = next) {
            next = at->next;
            free(at);
        }
    }
    free(all->buckets);
    *all = (struct ep_sources){.count = 0};
}

struct ep_source *ep_source_find(const struct ep_sources *all, uint32_t proc,
                                 uint8_t channel)
{
    if (all->count == 0)
        return NULL;
    for (struct ep_source *at = *bucket_of(all, proc, channel); at != NULL;
         at = at->next) {
        if (at->proc == proc && at->channel == channel)
            return at;
    }
    return NULL;
}

struct ep_source *ep_source_add(struct ep_sources *all, uint32_t proc,
                                uint8_t channel)
{
    struct ep_source *source;
    struct ep_source **bucket;

    if (all->count >= all->buckets_count && !sources_grow(all))
        return NULL;
    source = calloc(1, sizeof(*source));
    if (source == NULL)
        return NULL;
    source->proc = proc;
    source->channel = channel;
    bucket = bucket_of(all, proc, channel);
    source->next = *bucket;
    *bucket = source;
    all->count++;
    return source;
}

void ep_source_remove(struct ep_sources *all, struct ep_source *source)
{
    struct ep_source **at = bucket_of(all, source->proc, source->channel);

    while (*at != source) {
        OV_ASSERT(*at != NULL);
        at = &(*at)->next;
    }
    *at = source->next;
    all->count--;
    free(source);
}
