/* Groups of equal lines: their order, and the place of each rank in it. */
#include "config.h"

#include "job/fold.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    SEARCH_MAX = 128, /* groups of a text that are looked at, from each end */
    MOVES_MAX = 64,   /* groups that are put in front of another one */
};

/* The distance of the labels of two groups of which one follows the other. */
#define STRIDE (UINT64_C(1) << 44)

struct source {
    /* Its last group that has other members, too; NULL: that has left, or there
     * was none. Likewise its last group of all. */
    struct job_fold_group *base, *last;
    bool is_over;
};

struct job_fold {
    struct job_fold_cfg cfg;
    struct source *sources; /* owned [cfg.ranks] */
    struct job_texts texts;
    struct job_fold_group *first, *last;
    struct job_fold_group *oldest, *newest;
    /* All groups up to this one are final; NULL: none is. */
    struct job_fold_group *final;
    uint64_t members_bytes;
    uint32_t count;  /* groups, also those that have left */
    uint32_t behind; /* awaited ranks without a base */
};

/* ---- the lists ---- */

static void order_put(struct job_fold *fold, struct job_fold_group *group,
                      struct job_fold_group *before)
{
    struct job_fold_group *prev = before != NULL ? before->prev : fold->last;

    group->prev = prev;
    group->next = before;
    *(prev != NULL ? &prev->next : &fold->first) = group;
    *(before != NULL ? &before->prev : &fold->last) = group;
}

static void order_take(struct job_fold *fold, struct job_fold_group *group)
{
    *(group->prev != NULL ? &group->prev->next : &fold->first) = group->next;
    *(group->next != NULL ? &group->next->prev : &fold->last) = group->prev;
}

static void label_all(struct job_fold *fold)
{
    uint64_t label = 0;

    for (struct job_fold_group *at = fold->first; at != NULL; at = at->next)
        at->label = label += STRIDE;
}

/* Gives a group that has its place in the order a label that fits: a low one,
 * as further groups come between this one and the next. */
static void label_put(struct job_fold *fold, struct job_fold_group *group)
{
    const uint64_t low = group->prev != NULL ? group->prev->label : 0;
    const uint64_t high =
        group->next != NULL ? group->next->label : low + 2 * STRIDE;

    group->label = group->next != NULL ? low + (high - low) / 64 : low + STRIDE;
    if (high < low || group->label == low)
        label_all(fold);
}

static struct job_fold_group *first_of(const struct job_text *text)
{
    return text->first;
}

static struct job_fold_group *last_of(const struct job_text *text)
{
    return text->last;
}

static void same_put(struct job_fold_group *group)
{
    struct job_text *text = group->text;
    struct job_fold_group *prev = last_of(text), *next;

    while (prev != NULL && prev->label > group->label)
        prev = prev->same_prev;
    next = prev != NULL ? prev->same_next : first_of(text);
    group->same_prev = prev;
    group->same_next = next;
    if (prev != NULL)
        prev->same_next = group;
    else
        text->first = group;
    if (next != NULL)
        next->same_prev = group;
    else
        text->last = group;
}

static void same_take(struct job_fold_group *group)
{
    struct job_text *text = group->text;

    if (group->same_prev != NULL)
        group->same_prev->same_next = group->same_next;
    else
        text->first = group->same_next;
    if (group->same_next != NULL)
        group->same_next->same_prev = group->same_prev;
    else
        text->last = group->same_prev;
}

static void age_put(struct job_fold *fold, struct job_fold_group *group)
{
    group->older = fold->newest;
    *(fold->newest != NULL ? &fold->newest->newer : &fold->oldest) = group;
    fold->newest = group;
}

static void age_take(struct job_fold *fold, struct job_fold_group *group)
{
    *(group->older != NULL ? &group->older->newer : &fold->oldest) =
        group->newer;
    *(group->newer != NULL ? &group->newer->older : &fold->newest) =
        group->older;
}

/* Takes the group out of the chain of groups of one rank alone. */
static void own_cut(struct job_fold_group *group)
{
    if (group->own_prev != NULL)
        group->own_prev->own_next = NULL;
    if (group->own_next != NULL)
        group->own_next->own_prev = NULL;
    group->own_prev = group->own_next = NULL;
}

/* ---- where a line belongs ---- */

static bool is_own(const struct job_fold_group *group, uint32_t rank)
{
    return group->members.count == 1 && group->members.few[0] == rank;
}

/* Returns the first group of the text that is after the label and not the
 * rank's own; NULL: there is none, or it is too far from either end. */
static struct job_fold_group *search(const struct job_text *text,
                                     uint64_t label, uint32_t rank)
{
    struct job_fold_group *up = first_of(text), *down = last_of(text);
    int left = SEARCH_MAX;

    while (up != NULL && up->label <= label) {
        if (left-- == 0)
            return NULL;
        up = down->label <= label ? down->same_next : up->same_next;
        down = down->same_prev != NULL ? down->same_prev : down;
    }
    for (int i = 0; i < SEARCH_MAX && up != NULL; i++, up = up->same_next) {
        if (!is_own(up, rank))
            return up;
    }
    return NULL;
}

static void move(struct job_fold *fold, struct job_fold_group *group,
                 struct job_fold_group *before)
{
    order_take(fold, group);
    order_put(fold, group, before);
    same_take(group);
    label_put(fold, group);
    same_put(group);
}

/* Puts the rank's own groups that come after this one in front of it. Returns
 * false when there are too many. */
static bool make_way(struct job_fold *fold, const struct source *source,
                     struct job_fold_group *group)
{
    struct job_fold_group *at = source->last, *first = NULL, *next;
    int count = 0;

    for (; at != NULL && at != source->base && at->label > group->label;
         at = at->own_prev) {
        if (++count > MOVES_MAX)
            return false;
        first = at;
    }
    for (at = first; at != NULL; at = next) {
        next = at->own_next;
        move(fold, at, group);
    }
    return true;
}

static bool has_text(const struct job_fold_group *group, const uint8_t *mem,
                     uint32_t len_bytes, uint64_t hash)
{
    return group->text->hash == hash && group->text->len_bytes == len_bytes &&
           memcmp(group->text->mem, mem, len_bytes) == 0;
}

/* Finds the group that the rank's line joins, or NULL. */
static struct job_fold_group *match(struct job_fold *fold, uint32_t rank,
                                    const uint8_t *mem, uint32_t len_bytes,
                                    uint64_t hash)
{
    const struct source *source = &fold->sources[rank];
    struct job_fold_group *base = source->base;
    struct job_fold_group *next = base != NULL ? base->next : fold->first;
    const struct job_text *text;

    if (source->last == base && next != NULL &&
        has_text(next, mem, len_bytes, hash))
        return next;
    text = job_texts_find(&fold->texts, mem, len_bytes, hash);
    if (text == NULL || text->first == NULL)
        return NULL;
    next = search(text, base != NULL ? base->label : 0, rank);
    if (next == NULL || source->last == NULL || make_way(fold, source, next))
        return next;
    return search(text, source->last->label, rank);
}

/* ---- joining and beginning ---- */

/* The rank's place is behind this group. */
static void rebase(struct job_fold *fold, uint32_t rank,
                   struct job_fold_group *group)
{
    struct source *source = &fold->sources[rank];

    if (source->base == NULL && !source->is_over)
        fold->behind--;
    if (source->base == NULL || source->base->label < group->label)
        source->base = group;
}

static int join(struct job_fold *fold, uint32_t rank,
                struct job_fold_group *group)
{
    const uint32_t owner = group->members.few[0];
    const uint64_t bytes = job_rank_set_bytes(&group->members);

    if (!job_rank_set_add(&group->members, rank, fold->cfg.ranks))
        return OV_ENOMEM;
    fold->members_bytes += job_rank_set_bytes(&group->members) - bytes;
    if (group->members.count == 2) {
        own_cut(group);
        rebase(fold, owner, group);
    }
    rebase(fold, rank, group);
    fold->sources[rank].last = group;
    return 0;
}

static int begin(struct job_fold *fold, uint32_t rank, struct job_text *text,
                 uint64_t now_ns, uint64_t time_ns)
{
    struct job_fold_group *group = calloc(1, sizeof(*group));
    struct source *source = &fold->sources[rank];

    if (group == NULL)
        return OV_ENOMEM;
    group->text = text;
    group->first_ns = now_ns;
    group->time_ns = time_ns;
    job_rank_set_add(&group->members, rank, fold->cfg.ranks);
    order_put(fold, group, NULL);
    label_put(fold, group);
    same_put(group);
    age_put(fold, group);
    if (source->last != source->base) {
        group->own_prev = source->last;
        source->last->own_next = group;
    }
    source->last = group;
    fold->count++;
    return 0;
}

int job_fold_add(struct job_fold *fold, uint32_t rank, const uint8_t *mem,
                 uint32_t len_bytes, uint64_t hash, uint64_t now_ns,
                 uint64_t time_ns)
{
    struct job_fold_group *group;
    struct job_text *text;

    OV_ASSERT(rank < fold->cfg.ranks);
    group = match(fold, rank, mem, len_bytes, hash);
    if (group != NULL)
        return join(fold, rank, group);
    text = job_texts_hold(&fold->texts, mem, len_bytes, hash);
    if (text == NULL)
        return OV_ENOMEM;
    if (begin(fold, rank, text, now_ns, time_ns) == 0)
        return 0;
    job_texts_let_go(&fold->texts, text);
    return OV_ENOMEM;
}

void job_fold_end(struct job_fold *fold, uint32_t rank)
{
    struct source *source = &fold->sources[rank];

    if (source->is_over)
        return;
    source->is_over = true;
    if (source->base == NULL)
        fold->behind--;
}

/* ---- leaving ---- */

static void make_final(struct job_fold *fold, struct job_fold_group *group)
{
    if (fold->final == NULL ||
        (group != NULL && group->label > fold->final->label))
        fold->final = group;
}

void job_fold_flush_rank(struct job_fold *fold, uint32_t rank)
{
    make_final(fold, fold->sources[rank].last);
}

void job_fold_flush(struct job_fold *fold)
{
    fold->final = fold->last;
}

/* True when a rank that is awaited can still join the first group. */
static bool is_awaited(const struct job_fold *fold)
{
    const struct job_fold_group *group = fold->first;
    const struct source *owner = &fold->sources[group->members.few[0]];
    const bool has_owner =
        group->members.count == 1 && owner->base == NULL && !owner->is_over;

    return fold->behind > has_owner;
}

static void leave(struct job_fold *fold, struct job_fold_group *group)
{
    uint32_t rank = job_rank_set_next(&group->members, 0);

    for (; rank != JOB_RANK_SET_NONE;
         rank = job_rank_set_next(&group->members, rank + 1)) {
        struct source *source = &fold->sources[rank];

        if (source->last == group)
            source->last = NULL;
        if (source->base == group) {
            source->base = NULL;
            fold->behind += !source->is_over;
        }
    }
    order_take(fold, group);
    age_take(fold, group);
    same_take(group);
    own_cut(group);
    if (fold->final == group)
        fold->final = NULL;
    group->next = group->prev = NULL;
}

struct job_fold_group *job_fold_pop(struct job_fold *fold, uint64_t now_ns)
{
    struct job_fold_group *group = fold->first;

    if (group == NULL)
        return NULL;
    if (fold->final == NULL && job_fold_deadline(fold) <= now_ns)
        fold->final = fold->oldest;
    if (fold->final == NULL && is_awaited(fold) &&
        job_fold_bytes(fold) <= fold->cfg.max_bytes)
        return NULL;
    leave(fold, group);
    return group;
}

void job_fold_free(struct job_fold *fold, struct job_fold_group *group)
{
    fold->count--;
    fold->members_bytes -= job_rank_set_bytes(&group->members);
    job_texts_let_go(&fold->texts, group->text);
    job_rank_set_fini(&group->members);
    free(group);
}

/* ---- the rest ---- */

const struct job_fold_group *job_fold_first(const struct job_fold *fold)
{
    return fold->first;
}

uint64_t job_fold_deadline(const struct job_fold *fold)
{
    return fold->oldest != NULL ? fold->oldest->first_ns + fold->cfg.wait_ns
                                : UINT64_MAX;
}

uint64_t job_fold_bytes(const struct job_fold *fold)
{
    return fold->texts.bytes + fold->members_bytes +
           fold->count * sizeof(struct job_fold_group);
}

int job_fold_open(const struct job_fold_cfg *cfg, struct job_fold **out)
{
    struct job_fold *fold = calloc(1, sizeof(*fold));

    if (fold == NULL)
        return OV_ENOMEM;
    fold->cfg = *cfg;
    fold->behind = cfg->ranks;
    fold->sources = calloc(cfg->ranks, sizeof(*fold->sources));
    if (fold->sources == NULL) {
        free(fold);
        return OV_ENOMEM;
    }
    *out = fold;
    return 0;
}

void job_fold_close(struct job_fold *fold)
{
    if (fold == NULL)
        return;
    while (fold->first != NULL) {
        struct job_fold_group *group = fold->first;

        leave(fold, group);
        job_fold_free(fold, group);
    }
    job_texts_fini(&fold->texts);
    free(fold->sources);
    free(fold);
}
