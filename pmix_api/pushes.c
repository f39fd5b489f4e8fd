/* What tools have pushed, until it goes on its way. */
#include "pmix_api/pushes.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"
#include "overlay/wire/push.h"
#include "pmix_api/wire_push.h"

enum {
    FULL_BYTES = 256 << 20, /* of the file */
    /* And beside it what is granted, and a call that has begun. */
    FAR_BYTES = FULL_BYTES + (20 << 20),
};

/* A message that the file does not take. */
struct px_pushes_spare {
    struct px_pushes_spare *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

/* Memory is bounded, and without this little nothing works. */
static void open_first(struct px_pushes *pushes,
                       const struct px_pushes_cfg *cfg)
{
    int rc =
        px_spool_open(&pushes->spool, cfg->near_bytes, FAR_BYTES, cfg->dir);

    pushes->ahead = malloc(PX_PUSH_BYTES_MAX);
    OV_ASSERT(rc == 0 && pushes->ahead != NULL);
    pushes->spare_last = &pushes->spare;
    pushes->is_open = true;
}

static void put_spare(struct px_pushes *pushes, const void *mem,
                      uint32_t len_bytes)
{
    struct px_pushes_spare *spare = malloc(sizeof(*spare) + len_bytes);

    OV_ASSERT(spare != NULL);
    spare->next = NULL;
    spare->len_bytes = len_bytes;
    memcpy(spare->mem, mem, len_bytes);
    *pushes->spare_last = spare;
    pushes->spare_last = &spare->next;
    pushes->spare_bytes += len_bytes;
}

static uint32_t get_spare(struct px_pushes *pushes, uint8_t *out)
{
    struct px_pushes_spare *spare = pushes->spare;
    uint32_t len_bytes;

    if (spare == NULL)
        return 0;
    len_bytes = spare->len_bytes;
    memcpy(out, spare->mem, len_bytes);
    pushes->spare = spare->next;
    pushes->spare_bytes -= len_bytes;
    if (pushes->spare == NULL)
        pushes->spare_last = &pushes->spare;
    free(spare);
    return len_bytes;
}

void px_pushes_close(struct px_pushes *pushes)
{
    if (!pushes->is_open)
        return;
    while (get_spare(pushes, pushes->ahead) > 0)
        ;
    free(pushes->ahead);
    px_spool_close(&pushes->spool);
    *pushes = (struct px_pushes){.is_open = false};
}

void px_pushes_put(struct px_pushes *pushes, const void *mem,
                   uint32_t len_bytes, const struct px_pushes_cfg *cfg)
{
    if (!pushes->is_open)
        open_first(pushes, cfg);
    if (pushes->spare != NULL ||
        px_spool_put(&pushes->spool, NULL, 0, mem, len_bytes) != 0)
        put_spare(pushes, mem, len_bytes);
}

bool px_pushes_are_full(struct px_pushes *pushes)
{
    uint64_t limit_bytes = pushes->is_full ? FULL_BYTES / 2 : FULL_BYTES;

    pushes->is_full =
        pushes->is_open &&
        (pushes->spare != NULL || pushes->spool.far.used_bytes >= limit_bytes);
    return pushes->is_full;
}

/* Returns its length, 0 when there is none. */
static uint32_t get_first(struct px_pushes *pushes)
{
    uint64_t held =
        pushes->spool.near.used_bytes + pushes->spool.far.used_bytes;
    int len = px_spool_get(&pushes->spool, pushes->ahead, PX_PUSH_BYTES_MAX);

    if (len > 0)
        return (uint32_t)len;
    if (len < 0) {
        pushes->lost_bytes += held;
        pushes->is_torn = true;
    }
    return get_spare(pushes, pushes->ahead);
}

/* Of what was lost nobody knows where it went to, nor what follows it, up to
 * where it is said anew. */
static bool look(struct px_pushes *pushes)
{
    struct ov_push next;

    while (pushes->is_open && pushes->ahead_bytes == 0) {
        uint32_t len_bytes = get_first(pushes);

        if (len_bytes == 0)
            return false;
        if (pushes->is_torn)
            pushes->is_torn = ov_push_decode(pushes->ahead, len_bytes, &next) ||
                              (next.flags & OV_PUSH_NEW) == 0;
        if (pushes->is_torn)
            pushes->lost_bytes += len_bytes;
        else
            pushes->ahead_bytes = len_bytes;
    }
    return pushes->is_open;
}

/* Bytes for the same targets, which the message can take along. */
static bool is_more_of_it(const struct px_pushes *pushes, const uint8_t *mem,
                          uint32_t len_bytes, uint32_t size_bytes)
{
    struct ov_push first, next;

    return ov_push_decode(mem, len_bytes, &first) == 0 &&
           (first.flags & (OV_PUSH_MORE | OV_PUSH_CLOSE)) == 0 &&
           ov_push_decode(pushes->ahead, pushes->ahead_bytes, &next) == 0 &&
           next.flags == 0 && next.ranges == 0 &&
           len_bytes + next.len_bytes <= size_bytes;
}

/* What is ahead, from `skip` on. */
static uint32_t take(struct px_pushes *pushes, uint8_t *out, uint32_t skip)
{
    uint32_t len_bytes = pushes->ahead_bytes - skip;

    memcpy(out, pushes->ahead + skip, len_bytes);
    pushes->ahead_bytes = 0;
    return len_bytes;
}

uint32_t px_pushes_get(struct px_pushes *pushes, uint8_t *out,
                       uint32_t size_bytes)
{
    uint32_t len_bytes;

    if (!look(pushes))
        return 0;
    len_bytes = take(pushes, out, 0);
    while (look(pushes) && is_more_of_it(pushes, out, len_bytes, size_bytes))
        len_bytes += take(pushes, out + len_bytes, OV_PUSH_HEAD_BYTES);
    return len_bytes;
}

bool px_pushes_are_none(const struct px_pushes *pushes)
{
    return !pushes->is_open ||
           (pushes->ahead_bytes == 0 && pushes->spare == NULL &&
            px_spool_is_empty(&pushes->spool));
}

void px_pushes_rest(struct px_pushes *pushes)
{
    if (pushes->is_open && px_pushes_are_none(pushes) && !pushes->is_torn)
        px_pushes_close(pushes);
}
