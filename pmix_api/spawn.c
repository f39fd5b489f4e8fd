/* What a tool asks to be started, as bytes. */
#include "pmix_api/spawn.h"

#include <stdlib.h>
#include <string.h>

#include "job/wish.h"
#include "overlay/base/err.h"

/* --- writing */

static size_t size_of(const struct px_spawn *spawn)
{
    size_t size = 21 + (spawn->files != NULL ? strlen(spawn->files) : 0);

    for (uint16_t i = 0; i < spawn->count; i++)
        size += job_wish_bytes(&spawn->apps[i]);
    return size;
}

size_t px_spawn_encode(const struct px_spawn *spawn, uint8_t **mem)
{
    const char *files = spawn->files != NULL ? spawn->files : "";
    size_t size = size_of(spawn);
    struct ov_wr wr;

    *mem = size <= PX_SPAWN_BYTES_MAX ? malloc(size) : NULL;
    if (*mem == NULL)
        return 0;
    wr = ov_wr_init(*mem, size);
    ov_wr_u8(&wr, spawn->flags);
    ov_wr_u8(&wr, spawn->forwards);
    ov_wr_u32(&wr, spawn->reader);
    ov_wr_u32(&wr, spawn->pull);
    ov_wr_u32(&wr, spawn->output);
    ov_wr_bytes(&wr, files, strlen(files) + 1);
    ov_wr_u16(&wr, spawn->count);
    ov_wr_u32(&wr, spawn->cache_bytes);
    for (uint16_t i = 0; i < spawn->count; i++)
        job_wish_encode(&wr, &spawn->apps[i]);
    return size;
}

/* --- reading */

/* A name, and one kind of it, or neither. */
static void get_output(struct ov_rd *rd, struct px_spawn *spawn)
{
    uint32_t kind;

    spawn->output = ov_rd_u32(rd);
    spawn->files = ov_rd_string(rd);
    kind = spawn->output & PX_OUTPUT_FILES;
    if ((spawn->output & ~(uint32_t)PX_OUTPUT_ALL) != 0 ||
        (kind & (kind - 1)) != 0 || (kind == 0) != (spawn->files[0] == '\0'))
        rd->bad = true;
    if (spawn->files[0] == '\0')
        spawn->files = NULL;
}

int px_spawn_decode(const uint8_t *mem, size_t len_bytes, struct px_spawn *out)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    uint16_t count;
    int rc = OV_EPROTO;

    *out = (struct px_spawn){.flags = ov_rd_u8(&rd)};
    out->forwards = ov_rd_u8(&rd);
    out->reader = ov_rd_u32(&rd);
    out->pull = ov_rd_u32(&rd);
    get_output(&rd, out);
    count = ov_rd_u16(&rd);
    out->cache_bytes = ov_rd_u32(&rd);
    if (!rd.bad && (out->flags & ~PX_SPAWN_FLAGS) == 0 &&
        (out->forwards & ~PX_FORWARD_ALL) == 0 && count > 0 &&
        count <= PX_SPAWN_APPS_MAX) {
        out->apps = calloc(count, sizeof(*out->apps));
        rc = out->apps == NULL ? OV_ENOMEM : 0;
    }
    while (rc == 0 && out->count < count)
        rc = job_wish_decode(&rd, &out->apps[out->count++]);
    if (rc == 0 && ov_rd_left(&rd) > 0)
        rc = OV_EPROTO;
    if (rc != 0)
        px_spawn_fini(out);
    return rc;
}

void px_spawn_fini(struct px_spawn *spawn)
{
    for (uint16_t i = 0; spawn->apps != NULL && i < spawn->count; i++)
        job_wish_fini(&spawn->apps[i]);
    free(spawn->apps);
    *spawn = (struct px_spawn){.flags = 0};
}
