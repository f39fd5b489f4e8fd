/* Keeps output of a job that the tool has received. */
#include "pmix_api/helper/history.h"

#include <stdlib.h>

#include "endpoints/sys/cache.h"
#include "overlay/base/err.h"

enum { CHANNELS = 3, CHANNEL_LEAST = PX_LIB_STDOUT };

/* A channel that is owed to a pull. */
struct debt {
    struct debt *next;
    uint32_t owner, rank;
    uint16_t channel;
    uint32_t max_bytes;
    bool is_last;
    bool is_chosen;
    struct ep_cache_part part; /* the bytes that are still owed */
};

struct px_history {
    struct px_history_cfg cfg;
    struct ep_cache *caches; /* owned [procs * CHANNELS] */
    uint8_t *owed;           /* owned [procs]: the channels that are owed, as
                                bits */
    struct debt *first, **last;
    uint8_t piece[PX_HISTORY_PIECE_BYTES];
};

static struct ep_cache *cache_of(struct px_history *past, uint32_t rank,
                                 uint16_t channel)
{
    return &past->caches[(size_t)rank * CHANNELS +
                         (unsigned)__builtin_ctz(channel) - 1];
}

void px_history_add(struct px_history *past, const struct px_lib_output *piece)
{
    struct ep_cache *cache;

    if (past == NULL)
        return;
    cache = cache_of(past, piece->rank, piece->channel);
    if (piece->is_end) {
        ep_cache_fini(cache, past->cfg.pool);
        return;
    }
    ep_cache_skip(cache, piece->dropped_bytes + piece->before_bytes);
    ep_cache_add(cache, past->cfg.pool, past->cfg.room_bytes, piece->mem,
                 (uint32_t)piece->len_bytes);
}

/* --- output that is owed to a pull */

static int owe_channel(struct px_history *past,
                       const struct px_history_claim *claim, uint16_t channel)
{
    struct debt *debt = malloc(sizeof(*debt));

    if (debt == NULL)
        return OV_ENOMEM;
    *debt = (struct debt){.owner = claim->owner,
                          .rank = claim->rank,
                          .channel = channel,
                          .max_bytes = claim->max_bytes < UINT32_MAX
                                           ? (uint32_t)claim->max_bytes
                                           : UINT32_MAX,
                          .is_last = claim->is_last};
    *past->last = debt;
    past->last = &debt->next;
    past->owed[claim->rank] |= (uint8_t)channel;
    return 0;
}

int px_history_owe(struct px_history *past,
                   const struct px_history_claim *claim)
{
    int rc = 0;

    for (unsigned i = 0; past != NULL && rc == 0 && i < CHANNELS; i++) {
        const uint16_t channel = (uint16_t)(CHANNEL_LEAST << i);

        if ((claim->channels & channel) != 0)
            rc = owe_channel(past, claim, channel);
    }
    return rc;
}

static void drop_debt(struct px_history *past, struct debt **at)
{
    struct debt *debt = *at;

    *at = debt->next;
    if (debt->next == NULL)
        past->last = at;
    past->owed[debt->rank] &= (uint8_t)~debt->channel;
    free(debt);
}

void px_history_forget(struct px_history *past, uint32_t owner)
{
    struct debt **at = past != NULL ? &past->first : NULL;

    while (at != NULL && *at != NULL) {
        if ((*at)->owner == owner)
            drop_debt(past, at);
        else
            at = &(*at)->next;
    }
}

uint8_t px_history_owes(const struct px_history *past, uint32_t rank)
{
    return past != NULL ? past->owed[rank] : 0;
}

bool px_history_is_paid(const struct px_history *past)
{
    return past == NULL || past->first == NULL;
}

/* --- paying output to a pull */

static void take_part(struct px_history *past, struct debt *debt,
                      const struct ep_cache *cache, struct px_lib_output *out)
{
    struct ep_cache_part *part = &debt->part;
    const uint64_t left = part->to - part->from;

    out->mem = past->piece;
    out->len_bytes =
        left < PX_HISTORY_PIECE_BYTES ? left : PX_HISTORY_PIECE_BYTES;
    ep_cache_read(cache, part->from, past->piece, (uint32_t)out->len_bytes);
    part->from += out->len_bytes;
}

enum px_history_step px_history_pay(struct px_history *past,
                                    struct px_lib_output *out)
{
    struct debt *debt = past != NULL ? past->first : NULL;
    struct ep_cache_part *part;
    const struct ep_cache *cache;

    if (debt == NULL)
        return PX_HISTORY_NOTHING;
    cache = cache_of(past, debt->rank, debt->channel);
    part = &debt->part;
    if (!debt->is_chosen)
        ep_cache_select(cache, debt->max_bytes, debt->is_last, part);
    debt->is_chosen = true;
    *out = (struct px_lib_output){.rank = debt->rank, .channel = debt->channel};
    if (part->from < part->to) {
        out->before_bytes = part->before_bytes;
        part->before_bytes = 0;
        take_part(past, debt, cache, out);
        return PX_HISTORY_PIECE;
    }
    out->before_bytes = part->before_bytes + part->behind_bytes;
    part->before_bytes = part->behind_bytes = 0;
    if (out->before_bytes > 0)
        return PX_HISTORY_PIECE;
    drop_debt(past, &past->first);
    return PX_HISTORY_PAID;
}

/* --- opening and closing */

int px_history_open(const struct px_history_cfg *cfg, struct px_history **out)
{
    struct px_history *past = calloc(1, sizeof(*past));

    *out = past;
    if (past == NULL)
        return OV_ENOMEM;
    past->cfg = *cfg;
    past->last = &past->first;
    past->caches = calloc((size_t)cfg->procs * CHANNELS, sizeof(*past->caches));
    past->owed = calloc(cfg->procs, 1);
    if (past->caches != NULL && past->owed != NULL)
        return 0;
    px_history_close(past);
    *out = NULL;
    return OV_ENOMEM;
}

void px_history_close(struct px_history *past)
{
    if (past == NULL)
        return;
    while (past->first != NULL)
        drop_debt(past, &past->first);
    for (size_t i = 0;
         past->caches != NULL && i < (size_t)past->cfg.procs * CHANNELS; i++) {
        if (past->caches[i].total_bytes > 0)
            ep_cache_fini(&past->caches[i], past->cfg.pool);
    }
    free(past->caches);
    free(past->owed);
    free(past);
}
