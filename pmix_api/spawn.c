/* What a tool asks to be started, as bytes. */
#include "pmix_api/spawn.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/wire.h"

/* --- writing */

static void put_string(struct ov_wr *wr, const char *string)
{
    ov_wr_bytes(wr, string, strlen(string) + 1);
}

/* An empty one says nothing. */
static void put_maybe(struct ov_wr *wr, const char *string)
{
    put_string(wr, string != NULL ? string : "");
}

static void put_app(struct ov_wr *wr, const struct px_app *app)
{
    ov_wr_u32(wr, app->procs);
    ov_wr_u32(wr, app->ppn);
    ov_wr_u8(wr, (uint8_t)app->per);
    ov_wr_u8(wr, app->flags);
    put_maybe(wr, app->cwd);
    ov_wr_u32(wr, app->words);
    for (uint32_t i = 0; i < app->words; i++)
        put_string(wr, app->argv[i]);
    ov_wr_u32(wr, app->changes);
    for (uint32_t i = 0; i < app->changes; i++) {
        ov_wr_u8(wr, (uint8_t)app->env[i].what);
        ov_wr_u8(wr, (uint8_t)app->env[i].separator);
        put_string(wr, app->env[i].text);
    }
    ov_wr_u8(wr, (uint8_t)app->map);
    put_maybe(wr, app->hosts);
    put_maybe(wr, app->hostfile);
    put_maybe(wr, app->add_hosts);
    put_maybe(wr, app->add_hostfile);
}

static size_t size_of_maybe(const char *string)
{
    return (string != NULL ? strlen(string) : 0) + 1;
}

static size_t size_of(const struct px_spawn *spawn)
{
    size_t size = 21 + (spawn->files != NULL ? strlen(spawn->files) : 0);

    for (uint16_t i = 0; i < spawn->count; i++) {
        const struct px_app *app = &spawn->apps[i];

        size += 19 + size_of_maybe(app->cwd) + size_of_maybe(app->hosts) +
                size_of_maybe(app->hostfile) + size_of_maybe(app->add_hosts) +
                size_of_maybe(app->add_hostfile);
        for (uint32_t k = 0; k < app->words; k++)
            size += strlen(app->argv[k]) + 1;
        for (uint32_t k = 0; k < app->changes; k++)
            size += 2 + strlen(app->env[k].text) + 1;
    }
    return size;
}

size_t px_spawn_encode(const struct px_spawn *spawn, uint8_t **mem)
{
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
    put_string(&wr, spawn->files != NULL ? spawn->files : "");
    ov_wr_u16(&wr, spawn->count);
    ov_wr_u32(&wr, spawn->cache_bytes);
    for (uint16_t i = 0; i < spawn->count; i++)
        put_app(&wr, &spawn->apps[i]);
    return size;
}

/* --- reading */

static const char *get_string(struct ov_rd *rd)
{
    const void *end = rd->bad ? NULL : memchr(rd->at, '\0', ov_rd_left(rd));
    const char *string = (const char *)rd->at;

    if (end == NULL) {
        rd->bad = true;
        return "";
    }
    rd->at = (const uint8_t *)end + 1;
    return string;
}

static const char *get_maybe(struct ov_rd *rd)
{
    const char *string = get_string(rd);

    return string[0] != '\0' ? string : NULL;
}

/* So many things of so many bytes at least may still come. */
static uint32_t get_count(struct ov_rd *rd, size_t least_bytes)
{
    uint32_t count = ov_rd_u32(rd);

    if (count > ov_rd_left(rd) / least_bytes)
        rd->bad = true;
    return rd->bad ? 0 : count;
}

static void get_change(struct ov_rd *rd, struct job_env *env)
{
    const char *equals;

    env->what = (enum job_env_what)ov_rd_u8(rd);
    env->separator = (char)ov_rd_u8(rd);
    env->text = get_string(rd);
    equals = strchr(env->text, '=');
    if (env->what >= JOB_ENV_OWN || env->text[0] == '\0' ||
        equals == env->text || (equals == NULL) != (env->what == JOB_ENV_UNSET))
        rd->bad = true;
}

static int get_app(struct ov_rd *rd, struct px_app *app)
{
    app->procs = ov_rd_u32(rd);
    app->ppn = ov_rd_u32(rd);
    app->per = (enum topo_object)ov_rd_u8(rd);
    app->flags = ov_rd_u8(rd);
    app->cwd = get_maybe(rd);
    app->words = get_count(rd, 1);
    app->argv = calloc((size_t)app->words + 1, sizeof(*app->argv));
    if (app->argv == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < app->words; i++)
        app->argv[i] = get_string(rd);
    app->changes = get_count(rd, 3);
    app->env = calloc((size_t)app->changes + 1, sizeof(*app->env));
    if (app->env == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < app->changes; i++)
        get_change(rd, &app->env[i]);
    app->map = (enum job_map)ov_rd_u8(rd);
    app->hosts = get_maybe(rd);
    app->hostfile = get_maybe(rd);
    app->add_hosts = get_maybe(rd);
    app->add_hostfile = get_maybe(rd);
    if (app->map >= JOB_MAPS || app->per >= TOPO_OBJECTS ||
        (app->per != TOPO_NO_OBJECT && app->ppn == 0) || app->words == 0 ||
        app->argv[0][0] == '\0' || (app->flags & ~PX_APP_CWD_OPTIONAL) != 0)
        rd->bad = true;
    return rd->bad ? OV_EPROTO : 0;
}

/* A name, and one kind of it, or neither. */
static void get_output(struct ov_rd *rd, struct px_spawn *spawn)
{
    uint32_t kind;

    spawn->output = ov_rd_u32(rd);
    spawn->files = get_string(rd);
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
        rc = get_app(&rd, &out->apps[out->count++]);
    if (rc == 0 && ov_rd_left(&rd) > 0)
        rc = OV_EPROTO;
    if (rc != 0)
        px_spawn_fini(out);
    return rc;
}

void px_spawn_fini(struct px_spawn *spawn)
{
    for (uint16_t i = 0; spawn->apps != NULL && i < spawn->count; i++) {
        free(spawn->apps[i].argv);
        free(spawn->apps[i].env);
    }
    free(spawn->apps);
    *spawn = (struct px_spawn){.flags = 0};
}
