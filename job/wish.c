/* Writes and reads the request for a program. */
#include "job/wish.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

/* --- writing */

static void put_string(struct ov_wr *wr, const char *string)
{
    ov_wr_bytes(wr, string, strlen(string) + 1);
}

/* Writes a string; NULL is written as an empty string. */
static void put_maybe(struct ov_wr *wr, const char *string)
{
    put_string(wr, string != NULL ? string : "");
}

static uint32_t count_words(const struct job_wish *wish)
{
    uint32_t count = 0;

    while (wish->program.argv[count] != NULL)
        count++;
    return count;
}

void job_wish_encode(struct ov_wr *wr, const struct job_wish *wish)
{
    ov_wr_u32(wr, wish->procs);
    ov_wr_u32(wr, wish->ppn);
    ov_wr_u8(wr, (uint8_t)wish->per);
    ov_wr_u8(wr, wish->program.cwd_is_optional);
    put_maybe(wr, wish->program.cwd);
    ov_wr_u32(wr, count_words(wish));
    for (const char *const *at = wish->program.argv; *at != NULL; at++)
        put_string(wr, *at);
    ov_wr_u32(wr, wish->env_count);
    for (uint32_t i = 0; i < wish->env_count; i++) {
        ov_wr_u8(wr, (uint8_t)wish->env[i].what);
        ov_wr_u8(wr, (uint8_t)wish->env[i].separator);
        put_string(wr, wish->env[i].text);
    }
    ov_wr_u8(wr, (uint8_t)wish->map);
    put_maybe(wr, wish->hosts);
    put_maybe(wr, wish->hostfile);
    put_maybe(wr, wish->add_hosts);
    put_maybe(wr, wish->add_hostfile);
}

static size_t size_of_maybe(const char *string)
{
    return (string != NULL ? strlen(string) : 0) + 1;
}

size_t job_wish_bytes(const struct job_wish *wish)
{
    size_t size = 19 + size_of_maybe(wish->program.cwd) +
                  size_of_maybe(wish->hosts) + size_of_maybe(wish->hostfile) +
                  size_of_maybe(wish->add_hosts) +
                  size_of_maybe(wish->add_hostfile);

    for (const char *const *at = wish->program.argv; *at != NULL; at++)
        size += strlen(*at) + 1;
    for (uint32_t i = 0; i < wish->env_count; i++)
        size += 2 + strlen(wish->env[i].text) + 1;
    return size;
}

/* --- reading */

static const char *get_maybe(struct ov_rd *rd)
{
    const char *string = ov_rd_string(rd);

    return string[0] != '\0' ? string : NULL;
}

/* Reads a count, and checks that the bytes left suffice for this many items of
 * at least least_bytes each. */
static uint32_t get_count(struct ov_rd *rd, size_t least_bytes)
{
    uint32_t count = ov_rd_u32(rd);

    if (count > ov_rd_left(rd) / least_bytes)
        rd->bad = true;
    return rd->bad ? 0 : count;
}

static bool is_change(const struct job_env *env)
{
    const char *equals = strchr(env->text, '=');

    if (env->what == JOB_ENV_CLEAR)
        return env->text[0] == '\0';
    return env->what < JOB_ENV_OWN && env->text[0] != '\0' &&
           equals != env->text &&
           (equals == NULL) == (env->what == JOB_ENV_UNSET);
}

static void get_change(struct ov_rd *rd, struct job_env *env)
{
    env->what = (enum job_env_what)ov_rd_u8(rd);
    env->separator = (char)ov_rd_u8(rd);
    env->text = ov_rd_string(rd);
    if (!is_change(env))
        rd->bad = true;
}

static int get_words(struct ov_rd *rd, struct job_program *program)
{
    uint32_t words = get_count(rd, 1);
    const char **argv = calloc((size_t)words + 1, sizeof(*argv));

    program->argv = argv;
    for (uint32_t i = 0; argv != NULL && i < words; i++)
        argv[i] = ov_rd_string(rd);
    return argv != NULL ? 0 : OV_ENOMEM;
}

static int get_changes(struct ov_rd *rd, struct job_wish *wish)
{
    uint32_t count = get_count(rd, 3);
    struct job_env *env = calloc((size_t)count + 1, sizeof(*env));

    wish->env = env;
    wish->env_count = count;
    for (uint32_t i = 0; env != NULL && i < count; i++)
        get_change(rd, &env[i]);
    return env != NULL ? 0 : OV_ENOMEM;
}

static bool is_wish(const struct job_wish *wish, uint8_t optional)
{
    const char *program = wish->program.argv[0];

    return wish->map < JOB_MAPS && wish->per < TOPO_OBJECTS &&
           (wish->per == TOPO_NO_OBJECT || wish->ppn > 0) && optional <= 1 &&
           program != NULL && program[0] != '\0';
}

int job_wish_decode(struct ov_rd *rd, struct job_wish *out)
{
    uint8_t optional;

    *out = (struct job_wish){.procs = ov_rd_u32(rd)};
    out->ppn = ov_rd_u32(rd);
    out->per = (enum topo_object)ov_rd_u8(rd);
    optional = ov_rd_u8(rd);
    out->program.cwd_is_optional = optional == 1;
    out->program.cwd = get_maybe(rd);
    if (get_words(rd, &out->program) != 0 || get_changes(rd, out) != 0)
        return OV_ENOMEM;
    out->map = (enum job_map)ov_rd_u8(rd);
    out->hosts = get_maybe(rd);
    out->hostfile = get_maybe(rd);
    out->add_hosts = get_maybe(rd);
    out->add_hostfile = get_maybe(rd);
    if (!is_wish(out, optional))
        rd->bad = true;
    return rd->bad ? OV_EPROTO : 0;
}

void job_wish_fini(struct job_wish *wish)
{
    free((void *)(uintptr_t)wish->program.argv);
    free((void *)(uintptr_t)wish->env);
    *wish = (struct job_wish){.procs = 0};
}
