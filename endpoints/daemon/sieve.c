/* Reads a channel and leaves out what is not wanted of it. */
#include "config.h"

#include "endpoints/daemon/sieve.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"
#include "text/progress.h"

/* With so much room a line is judged by as many of its bytes as it should. */
enum { WHOLE_BYTES = TEXT_FILTER_LINE_MAX + TEXT_PROGRESS_MAX };

struct ep_sieve {
    struct ep_sieve_cfg cfg;
    uint64_t source_bytes;
    struct text_progress
        *progress; /* owned; NULL: bars are given as they are */
    struct text_filter filter;
    struct ep_held held;
    /* owned: bytes for which the last reader had no room; memory of the pool */
    uint8_t *rest;
    uint32_t rest_bytes, rest_at;
    bool is_over; /* the channel has ended */
};

struct ep_sieve *ep_sieve_open(const struct ep_sieve_cfg *cfg, bool *is_needed)
{
    struct ep_sieve *sieve;

    *is_needed = cfg->keeps_last || cfg->rules != NULL;
    sieve = *is_needed ? calloc(1, sizeof(*sieve)) : NULL;
    if (sieve == NULL)
        return NULL;
    sieve->cfg = *cfg;
    if (cfg->rules != NULL && cfg->pool->scratch == NULL)
        cfg->pool->scratch = malloc(WHOLE_BYTES);
    if (cfg->rules != NULL && cfg->pool->scratch == NULL) {
        free(sieve);
        return NULL;
    }
    if (cfg->keeps_last && cfg->pool->bars < EP_SIEVE_BARS_MAX)
        sieve->progress = calloc(1, sizeof(*sieve->progress));
    cfg->pool->bars += sieve->progress != NULL;
    return sieve;
}

static void drop_rest(struct ep_sieve *sieve)
{
    ep_held_pool_give(&sieve->cfg.pool->held, sieve->rest_bytes);
    free(sieve->rest);
    sieve->rest = NULL;
    sieve->rest_bytes = sieve->rest_at = 0;
}

void ep_sieve_close(struct ep_sieve *sieve)
{
    if (sieve == NULL)
        return;
    sieve->cfg.pool->bars -= sieve->progress != NULL;
    free(sieve->progress);
    drop_rest(sieve);
    ep_held_fini(&sieve->held, &sieve->cfg.pool->held);
    free(sieve);
}

void ep_sieve_pool_fini(struct ep_sieve_pool *pool)
{
    free(pool->scratch);
    pool->scratch = NULL;
}

/* --- lines */

/* Leaves lines out of the bytes at mem. Returns how many bytes are left. */
static uint32_t keep_lines(struct ep_sieve *sieve, uint8_t *mem,
                           uint32_t len_bytes, uint64_t now_ns)
{
    const struct text_filter_rules *rules = sieve->cfg.rules;
    uint32_t out = 0;

    text_filter_begin(rules);
    for (uint32_t at = 0; at < len_bytes;) {
        const struct text_piece piece = text_filter_next(
            &sieve->filter, rules, mem + at, len_bytes - at, now_ns);

        switch (piece.verdict) {
        case TEXT_GIVEN:
            memmove(mem + out, mem + at, piece.len_bytes);
            out += piece.len_bytes;
            break;
        case TEXT_HELD:
            ep_held_add(&sieve->held, &sieve->cfg.pool->held, rules,
                        &sieve->filter, mem + at, piece.len_bytes,
                        piece.is_first);
            break;
        case TEXT_LEFT_OUT:
            break;
        }
        at += piece.len_bytes;
    }
    return out;
}

/* --- reading */

/* Where the channel is read into. */
struct space {
    uint8_t *mem;
    uint32_t room;
    uint32_t more_bytes; /* what was taken of the pool for it */
};

/* Where the reader has little room, takes enough to judge lines by; what is
 * given of it has to wait then. */
static struct space find_space(const struct ep_sieve *sieve, uint8_t *dst,
                               uint32_t room)
{
    struct ep_sieve_pool *pool = sieve->cfg.pool;

    if (sieve->cfg.rules == NULL || room >= WHOLE_BYTES ||
        !ep_held_pool_take(&pool->held, WHOLE_BYTES - room))
        return (struct space){dst, room, 0};
    return (struct space){pool->scratch, WHOLE_BYTES, WHOLE_BYTES - room};
}

/* Reads the channel through all of the chain. Returns how many bytes of
 * space->mem are left, and an error of the channel in *rc. */
static uint32_t pull(struct ep_sieve *sieve, struct ep_channel *channel,
                     uint64_t now_ns, const struct space *space, int *rc,
                     enum ep_channel_state *state)
{
    uint32_t held = 0, got = 0;

    if (sieve->progress != NULL)
        held = text_progress_begin(sieve->progress, space->mem, space->room);
    *state = EP_CHANNEL_MORE;
    *rc = 0;
    if (held < space->room)
        *rc = ep_channel_read(channel, space->mem + held, space->room - held,
                              &got, state);
    sieve->source_bytes += got;
    if (sieve->cfg.last != NULL)
        ep_last_add(sieve->cfg.last, sieve->cfg.last_room, space->mem + held,
                    got);
    sieve->is_over = *state == EP_CHANNEL_END;
    got += held;
    if (sieve->progress != NULL && held < space->room)
        got = text_progress_keep(sieve->progress, space->mem, got,
                                 sieve->is_over);
    if (sieve->cfg.rules != NULL)
        got = keep_lines(sieve, space->mem, got, now_ns);
    return got;
}

/* Gives what was read elsewhere; what has no room waits. */
static uint32_t give(struct ep_sieve *sieve, const struct space *space,
                     uint32_t len_bytes, uint8_t *dst, uint32_t room)
{
    const uint32_t some = len_bytes < room ? len_bytes : room;

    if (space->more_bytes == 0)
        return len_bytes;
    memcpy(dst, space->mem, some);
    sieve->rest_bytes = len_bytes - some;
    ep_held_pool_give(&sieve->cfg.pool->held,
                      space->more_bytes - sieve->rest_bytes);
    if (sieve->rest_bytes == 0)
        return some;
    sieve->rest = malloc(sieve->rest_bytes);
    /* memory is bounded, and without it bytes would be lost */
    OV_ASSERT(sieve->rest != NULL);
    memcpy(sieve->rest, space->mem + some, sieve->rest_bytes);
    return some;
}

static uint32_t take_rest(struct ep_sieve *sieve, uint8_t *dst, uint32_t room)
{
    const uint32_t left = sieve->rest_bytes - sieve->rest_at;
    const uint32_t some = left < room ? left : room;

    memcpy(dst, sieve->rest + sieve->rest_at, some);
    sieve->rest_at += some;
    if (sieve->rest_at == sieve->rest_bytes)
        drop_rest(sieve);
    return some;
}

int ep_sieve_read(struct ep_sieve *sieve, struct ep_channel *channel,
                  uint64_t now_ns, uint8_t *dst, uint32_t room, uint32_t *got,
                  enum ep_channel_state *state)
{
    int rc = 0;

    OV_ASSERT(room > 0);
    *state = EP_CHANNEL_MORE;
    if (sieve->rest != NULL) {
        *got = take_rest(sieve, dst, room);
    } else if (sieve->is_over) {
        *got = ep_held_take(&sieve->held, dst, room);
    } else {
        const struct space space = find_space(sieve, dst, room);

        *got = pull(sieve, channel, now_ns, &space, &rc, state);
        *got = give(sieve, &space, *got, dst, room);
    }
    if (sieve->is_over)
        *state = sieve->rest == NULL && ep_held_is_empty(&sieve->held)
                     ? EP_CHANNEL_END
                     : EP_CHANNEL_MORE;
    else if (sieve->rest != NULL)
        *state = EP_CHANNEL_MORE;
    return rc;
}

/* --- counts */

uint64_t ep_sieve_source(const struct ep_sieve *sieve)
{
    return sieve->source_bytes;
}

void ep_sieve_left(const struct ep_sieve *sieve, struct text_left *left,
                   uint64_t *limited)
{
    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++) {
        left[i].lines += sieve->filter.left[i].lines;
        left[i].bytes += sieve->filter.left[i].bytes;
    }
    if (sieve->progress != NULL) {
        left[TEXT_LEFT_PROGRESS].lines += sieve->progress->left_states;
        left[TEXT_LEFT_PROGRESS].bytes += sieve->progress->left_bytes;
    }
    *limited += sieve->filter.limited_lines;
}
