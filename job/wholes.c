/* A tree of lines. */
#include "config.h"

#include "job/wholes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "job/hash.h"
#include "overlay/base/err.h"

enum { NODES_MIN = 256 };

/* A line behind other ones. */
struct node {
    struct node *parent; /* the line before it; NULL: it is the first */
    struct node *next;   /* the next one of its bucket */
    struct job_text *text;
    uint64_t sum;   /* of all lines up to this one */
    uint32_t depth; /* how many lines these are */
    uint32_t ends;  /* ranks of which it is the last line */
};

struct job_wholes {
    struct job_texts texts;
    struct node **buckets; /* owned */
    struct node **at;      /* owned [ranks]: the last line of each; or NULL */
    bool *is_got;          /* owned [ranks] */
    uint32_t buckets_count, count, ranks;
    uint64_t max_bytes;
};

static uint64_t bytes_of(const struct job_wholes *all)
{
    return all->texts.bytes + all->count * sizeof(struct node) +
           all->buckets_count * sizeof(struct node *);
}

static struct node **bucket_of(const struct job_wholes *all, uint64_t sum)
{
    return &all->buckets[(sum >> 20) & (all->buckets_count - 1)];
}

static bool grow(struct job_wholes *all)
{
    struct job_wholes larger = *all;

    larger.buckets_count =
        all->buckets_count == 0 ? NODES_MIN : all->buckets_count * 2;
    larger.buckets = calloc(larger.buckets_count, sizeof(struct node *));
    if (larger.buckets == NULL)
        return false;
    for (uint32_t i = 0; i < all->buckets_count; i++) {
        struct node *node = all->buckets[i], *next;

        for (; node != NULL; node = next) {
            struct node **at = bucket_of(&larger, node->sum);

            next = node->next;
            node->next = *at;
            *at = node;
        }
    }
    free(all->buckets);
    *all = larger;
    return true;
}

int job_wholes_open(uint32_t ranks, uint64_t max_bytes, struct job_wholes **out)
{
    struct job_wholes *all = calloc(1, sizeof(*all));

    if (all == NULL)
        return OV_ENOMEM;
    all->ranks = ranks;
    all->max_bytes = max_bytes;
    all->at = calloc(ranks, sizeof(struct node *));
    all->is_got = calloc(ranks, sizeof(*all->is_got));
    if (all->at == NULL || all->is_got == NULL || !grow(all)) {
        job_wholes_close(all);
        return OV_ENOMEM;
    }
    *out = all;
    return 0;
}

void job_wholes_close(struct job_wholes *all)
{
    if (all == NULL)
        return;
    for (uint32_t i = 0; i < all->buckets_count; i++) {
        while (all->buckets[i] != NULL) {
            struct node *node = all->buckets[i];

            all->buckets[i] = node->next;
            job_texts_let_go(&all->texts, node->text);
            free(node);
        }
    }
    job_texts_fini(&all->texts);
    free(all->buckets);
    free(all->at);
    free(all->is_got);
    free(all);
}

static int node_add(struct job_wholes *all, struct node *parent,
                    const uint8_t *mem, uint32_t len_bytes, uint64_t hash,
                    struct node **out)
{
    struct node *node, **at;

    if (bytes_of(all) + sizeof(*node) + sizeof(struct job_text) + len_bytes >
        all->max_bytes)
        return OV_EFULL;
    if (all->count >= all->buckets_count && !grow(all))
        return OV_ENOMEM;
    node = malloc(sizeof(*node));
    if (node == NULL)
        return OV_ENOMEM;
    *node = (struct node){
        .parent = parent,
        .text = job_texts_hold(&all->texts, mem, len_bytes, hash),
        .sum = job_hash_add(parent != NULL ? parent->sum : 0, hash),
        .depth = parent != NULL ? parent->depth + 1 : 1,
    };
    if (node->text == NULL) {
        free(node);
        return OV_ENOMEM;
    }
    at = bucket_of(all, node->sum);
    node->next = *at;
    *at = node;
    all->count++;
    *out = node;
    return 0;
}

int job_wholes_add(struct job_wholes *all, uint32_t rank, const uint8_t *mem,
                   uint32_t len_bytes, uint64_t hash)
{
    struct node *parent = all->at[rank];
    const struct job_text *text =
        job_texts_find(&all->texts, mem, len_bytes, hash);
    const uint64_t sum = job_hash_add(parent != NULL ? parent->sum : 0, hash);
    struct node *node = text != NULL ? *bucket_of(all, sum) : NULL;
    int rc = 0;

    while (node != NULL && (node->parent != parent || node->text != text))
        node = node->next;
    if (node == NULL)
        rc = node_add(all, parent, mem, len_bytes, hash, &node);
    if (rc != 0)
        return rc;
    if (parent != NULL)
        parent->ends--;
    node->ends++;
    all->at[rank] = node;
    return 0;
}

static struct job_whole *whole_new(const struct node *last)
{
    struct job_whole *whole = calloc(1, sizeof(*whole));

    if (whole == NULL)
        return NULL;
    whole->lines = malloc(last->depth * sizeof(struct job_text *));
    if (whole->lines == NULL) {
        free(whole);
        return NULL;
    }
    whole->sum = last->sum;
    whole->lines_count = last->depth;
    for (; last != NULL; last = last->parent)
        whole->lines[last->depth - 1] = last->text;
    return whole;
}

uint32_t job_wholes_most(const struct job_wholes *all)
{
    uint32_t most = 0, count = 0;

    for (uint32_t rank = 0; rank < all->ranks; rank++) {
        const struct node *last = all->at[rank];

        if (last != NULL && last->ends > count) {
            most = rank;
            count = last->ends;
        }
    }
    return most;
}

int job_wholes_make(struct job_wholes *all, uint32_t rank,
                    struct job_whole **out)
{
    const struct node *last = all->at[rank];
    struct job_whole *whole;

    if (last == NULL || all->is_got[rank])
        return OV_ENOENT;
    whole = whole_new(last);
    if (whole == NULL)
        return OV_ENOMEM;
    for (rank = 0; rank < all->ranks; rank++) {
        if (all->at[rank] != last)
            continue;
        if (!job_rank_set_add(&whole->members, rank, all->ranks)) {
            job_whole_free(whole);
            return OV_ENOMEM;
        }
        all->is_got[rank] = true;
    }
    *out = whole;
    return 0;
}

int job_wholes_next(struct job_wholes *all, struct job_whole **out)
{
    uint32_t rank = 0;

    while (rank < all->ranks && (all->is_got[rank] || all->at[rank] == NULL))
        rank++;
    return rank < all->ranks ? job_wholes_make(all, rank, out) : OV_ENOENT;
}

void job_whole_free(struct job_whole *whole)
{
    if (whole == NULL)
        return;
    job_rank_set_fini(&whole->members);
    free(whole->lines);
    free(whole);
}
