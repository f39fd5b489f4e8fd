/* Keeps each text once, in a hash table that grows. */
#include "config.h"

#include "job/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"

enum { BUCKETS_MIN = 256 };

static struct job_text **bucket_of(const struct job_texts *all, uint64_t hash)
{
    return &all->buckets[hash & (all->buckets_count - 1)];
}

static bool grow(struct job_texts *all)
{
    const uint32_t count =
        all->buckets_count == 0 ? BUCKETS_MIN : all->buckets_count * 2;
    struct job_texts larger = *all;

    larger.buckets = calloc(count, sizeof(struct job_text *));
    if (larger.buckets == NULL)
        return all->buckets_count > 0;
    larger.buckets_count = count;
    for (uint32_t i = 0; i < all->buckets_count; i++) {
        struct job_text *text = all->buckets[i], *next;

        for (; text != NULL; text = next) {
            struct job_text **at = bucket_of(&larger, text->hash);

            next = text->next;
            text->next = *at;
            *at = text;
        }
    }
    free(all->buckets);
    *all = larger;
    return true;
}

void job_texts_fini(struct job_texts *all)
{
    OV_ASSERT(all->count == 0);
    free(all->buckets);
    *all = (struct job_texts){.buckets = NULL};
}

struct job_text *job_texts_find(const struct job_texts *all, const uint8_t *mem,
                                uint32_t len_bytes, uint64_t hash)
{
    struct job_text *text;

    if (all->buckets_count == 0)
        return NULL;
    for (text = *bucket_of(all, hash); text != NULL; text = text->next) {
        if (text->hash == hash && text->len_bytes == len_bytes &&
            memcmp(text->mem, mem, len_bytes) == 0)
            break;
    }
    return text;
}

struct job_text *job_texts_hold(struct job_texts *all, const uint8_t *mem,
                                uint32_t len_bytes, uint64_t hash)
{
    struct job_text *text = job_texts_find(all, mem, len_bytes, hash);
    struct job_text **at;

    if (text == NULL) {
        if (all->count >= all->buckets_count && !grow(all))
            return NULL;
        text = malloc(sizeof(*text) + len_bytes);
        if (text == NULL)
            return NULL;
        at = bucket_of(all, hash);
        *text = (struct job_text){
            .next = *at, .hash = hash, .len_bytes = len_bytes};
        memcpy(text->mem, mem, len_bytes);
        *at = text;
        all->count++;
        all->bytes += sizeof(*text) + len_bytes;
    }
    text->holds++;
    return text;
}

void job_texts_let_go(struct job_texts *all, struct job_text *text)
{
    struct job_text **at;

    OV_ASSERT(text->holds > 0);
    if (--text->holds > 0)
        return;
    at = bucket_of(all, text->hash);
    while (*at != text)
        at = &(*at)->next;
    *at = text->next;
    all->count--;
    all->bytes -= sizeof(*text) + text->len_bytes;
    free(text);
}
