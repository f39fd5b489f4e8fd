/* The text of a job, written and read. */
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "overlay/base/err.h"

static void put_numbers(struct text_buf *out, const char *keyword,
                        const uint32_t *number, unsigned count)
{
    text_buf_puts(out, keyword);
    for (unsigned i = 0; i < count; i++)
        text_buf_number(out, number[i]);
    text_buf_puts(out, "\n");
}

static void put_word(struct text_buf *out, const char *keyword,
                     const char *word)
{
    text_buf_puts(out, keyword);
    text_buf_field(out, word);
    text_buf_puts(out, "\n");
}

static void put_slow(struct text_buf *out, const struct job *job)
{
    if (job->slow != JOB_SLOW_WAIT) {
        bool is_spill = job->slow == JOB_SLOW_SPILL;

        text_buf_puts(out, "stdin-slow");
        text_buf_field(out, is_spill ? "spill" : "close");
        text_buf_number(out, is_spill ? job->spill_bytes : job->close_ms);
        text_buf_puts(out, "\n");
    }
    if (job->spill_dir != NULL)
        put_word(out, "spill-dir", job->spill_dir);
}

static void put_places(struct text_buf *out, const struct job *job)
{
    for (uint32_t i = 0; i < job->places_count; i++) {
        const struct job_places *p = &job->places[i];

        put_numbers(out, "places",
                    (uint32_t[]){p->places.first, p->places.last, p->node}, 3);
    }
}

static void put_manners(struct text_buf *out, const struct job_manners *manners)
{
    if (!manners->is_known)
        return;
    put_numbers(out, "umask", &manners->umask, 1);
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++) {
        text_buf_puts(out, "limit");
        text_buf_field(out, job_manners_name((enum job_manners_limit)i));
        text_buf_number(out, manners->soft[i]);
        text_buf_puts(out, "\n");
    }
}

static void put_ranks(struct text_buf *out, const struct job_app *app)
{
    for (uint32_t i = 0; i < app->ranks_count; i++) {
        const struct job_ranks *r = &app->ranks[i];

        put_numbers(
            out, "ranks",
            (uint32_t[]){r->nodes.first, r->nodes.last, r->each, r->first_rank},
            4);
    }
}

static void put_strings(struct text_buf *out, const char *keyword,
                        const struct job_strings *strings)
{
    for (uint32_t i = 0; i < strings->count; i++)
        put_word(out, keyword, strings->at[i]);
}

static void put_app(struct text_buf *out, const struct job_app *app)
{
    text_buf_puts(out, "app\n");
    put_ranks(out, app);
    if (app->cwd != NULL)
        put_word(out, "cwd", app->cwd);
    if (app->cwd_is_optional)
        text_buf_puts(out, "cwd-optional\n");
    put_strings(out, "arg", &app->argv);
    put_strings(out, "env", &app->env);
}

void job_encode(const struct job *job, struct text_buf *out)
{
    put_numbers(out, "job", (uint32_t[]){job->number, job->size, job->nodes},
                3);
    if (job->base > 0)
        put_numbers(out, "base", &job->base, 1);
    for (uint32_t i = 0; i < job->readers_count; i++)
        put_numbers(out, "stdin",
                    (uint32_t[]){job->readers[i].first, job->readers[i].last},
                    2);
    put_slow(out, job);
    if (job->is_raw)
        text_buf_puts(out, "raw\n");
    if (job->merges_stderr)
        text_buf_puts(out, "merge-stderr\n");
    if (job->has_stddiag)
        text_buf_puts(out, "stddiag\n");
    put_numbers(out, "open-ms", &job->open_ms, 1);
    put_numbers(out, "linger-ms", &job->linger_ms, 1);
    if (job->cache_bytes > 0)
        put_numbers(out, "cache",
                    (uint32_t[]){job->cache_bytes, job->cache_channels}, 2);
    if (job->bind != TOPO_NO_OBJECT)
        put_word(out, "bind", topo_object_name(job->bind));
    put_strings(out, "cpus", &job->cpus);
    put_manners(out, &job->manners);
    put_strings(out, "env", &job->env);
    put_places(out, job);
    for (uint32_t i = 0; i < job->apps_count; i++)
        put_app(out, &job->apps[i]);
}

static uint32_t number(struct text_fields *fields)
{
    return (uint32_t)text_fields_number(fields, 0, UINT32_MAX);
}

static int read_head(struct job *job, struct text_fields *fields)
{
    job->number = number(fields);
    job->size = number(fields);
    job->nodes = number(fields);
    return 0;
}

static int read_base(struct job *job, struct text_fields *fields)
{
    job->base = number(fields);
    return 0;
}

static int read_ranks(struct job *job, struct text_fields *fields)
{
    struct job_ranks ranks;

    ranks.nodes.first = number(fields);
    ranks.nodes.last = number(fields);
    ranks.each = number(fields);
    ranks.first_rank = number(fields);
    return job_app_add_ranks(job_app_last(job), ranks);
}

static int read_stdin(struct job *job, struct text_fields *fields)
{
    struct topo_range range;

    range.first = number(fields);
    range.last = number(fields);
    return job_add_reader(job, range);
}

static int read_places(struct job *job, struct text_fields *fields)
{
    struct job_places places;

    places.places.first = number(fields);
    places.places.last = number(fields);
    places.node = number(fields);
    return job_add_places(job, places);
}

static int read_slow(struct job *job, struct text_fields *fields)
{
    const char *policy = text_fields_next(fields);

    if (strcmp(policy, "spill") == 0) {
        job->slow = JOB_SLOW_SPILL;
        job->spill_bytes = text_fields_number(fields, JOB_SPILL_BYTES_MIN,
                                              JOB_SPILL_BYTES_MAX);
        return 0;
    }
    if (strcmp(policy, "close") == 0) {
        job->slow = JOB_SLOW_CLOSE;
        job->close_ms = (uint32_t)text_fields_number(fields, 1, UINT32_MAX);
        return 0;
    }
    return OV_EPROTO;
}

static int read_spill_dir(struct job *job, struct text_fields *fields)
{
    return job_set_string(&job->spill_dir, text_fields_next(fields));
}

static int read_raw(struct job *job, struct text_fields *fields)
{
    (void)fields;
    job->is_raw = true;
    return 0;
}

static int read_merge(struct job *job, struct text_fields *fields)
{
    (void)fields;
    job->merges_stderr = true;
    return 0;
}

static int read_stddiag(struct job *job, struct text_fields *fields)
{
    (void)fields;
    job->has_stddiag = true;
    return 0;
}

static enum topo_object read_object(struct text_fields *fields)
{
    enum topo_object object = topo_object_find(text_fields_next(fields));

    return object == TOPO_OBJECTS ? TOPO_NO_OBJECT : object;
}

static int read_bind(struct job *job, struct text_fields *fields)
{
    job->bind = read_object(fields);
    return job->bind == TOPO_NO_OBJECT ? OV_EPROTO : 0;
}

/* A list as "0-3,8": nothing else may come to the shim. */
static int read_cpus(struct job *job, struct text_fields *fields)
{
    const char *list = text_fields_next(fields);

    if (list[0] < '0' || list[0] > '9' ||
        list[strspn(list, "0123456789,-")] != '\0')
        return OV_EPROTO;
    return job_strings_add(&job->cpus, list);
}

/* A limit that is not said is none. */
static int read_umask(struct job *job, struct text_fields *fields)
{
    job->manners.umask = (uint32_t)text_fields_number(fields, 0, 0777);
    job->manners.is_known = true;
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++)
        job->manners.soft[i] = UINT64_MAX;
    return 0;
}

static int read_limit(struct job *job, struct text_fields *fields)
{
    const char *name = text_fields_next(fields);
    unsigned i = 0;

    while (i < JOB_MANNERS_LIMITS &&
           strcmp(name, job_manners_name((enum job_manners_limit)i)) != 0)
        i++;
    if (i == JOB_MANNERS_LIMITS || !job->manners.is_known)
        return OV_EPROTO;
    job->manners.soft[i] = text_fields_number(fields, 0, UINT64_MAX);
    return 0;
}

static int read_app(struct job *job, struct text_fields *fields)
{
    (void)fields;
    return job_add_app(job);
}

static int read_cwd_optional(struct job *job, struct text_fields *fields)
{
    (void)fields;
    job_app_last(job)->cwd_is_optional = true;
    return 0;
}

static int read_open_ms(struct job *job, struct text_fields *fields)
{
    job->open_ms = number(fields);
    return 0;
}

static int read_cache(struct job *job, struct text_fields *fields)
{
    job->cache_bytes = (uint32_t)text_fields_number(fields, 1, JOB_CACHE_MAX);
    job->cache_channels =
        (uint32_t)text_fields_number(fields, 1, JOB_CACHE_ALL);
    return 0;
}

static int read_linger_ms(struct job *job, struct text_fields *fields)
{
    job->linger_ms = number(fields);
    return 0;
}

static int read_cwd(struct job *job, struct text_fields *fields)
{
    return job_set_string(&job_app_last(job)->cwd, text_fields_next(fields));
}

static int read_arg(struct job *job, struct text_fields *fields)
{
    return job_strings_add(&job_app_last(job)->argv, text_fields_next(fields));
}

static int read_env(struct job *job, struct text_fields *fields)
{
    const char *entry = text_fields_next(fields);

    return job_strings_add(
        job->apps_count == 0 ? &job->env : &job_app_last(job)->env, entry);
}

/* Where a keyword may stand. */
enum place { OF_JOB, OF_APP, OF_BOTH };

static const struct {
    const char *keyword;
    int (*read)(struct job *job, struct text_fields *fields);
    enum place place;
} keywords[] = {
    {"job", read_head, OF_JOB},
    {"base", read_base, OF_JOB},
    {"stdin", read_stdin, OF_JOB},
    {"stdin-slow", read_slow, OF_JOB},
    {"spill-dir", read_spill_dir, OF_JOB},
    {"raw", read_raw, OF_JOB},
    {"merge-stderr", read_merge, OF_JOB},
    {"stddiag", read_stddiag, OF_JOB},
    {"open-ms", read_open_ms, OF_JOB},
    {"cache", read_cache, OF_JOB},
    {"linger-ms", read_linger_ms, OF_JOB},
    {"bind", read_bind, OF_JOB},
    {"cpus", read_cpus, OF_JOB},
    {"umask", read_umask, OF_JOB},
    {"limit", read_limit, OF_JOB},
    {"env", read_env, OF_BOTH},
    {"places", read_places, OF_JOB},
    {"app", read_app, OF_BOTH},
    {"ranks", read_ranks, OF_APP},
    {"cwd", read_cwd, OF_APP},
    {"cwd-optional", read_cwd_optional, OF_APP},
    {"arg", read_arg, OF_APP},
};

static int read_line(struct job *job, char *line, size_t len_bytes)
{
    struct text_fields fields = text_fields_init(line, len_bytes);
    const char *keyword = text_fields_next(&fields);

    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        int rc;

        if (strcmp(keyword, keywords[i].keyword) != 0)
            continue;
        if (keywords[i].place == (job->apps_count > 0 ? OF_JOB : OF_APP))
            return OV_EPROTO;
        rc = keywords[i].read(job, &fields);
        if (rc == OV_EFULL || (rc == 0 && !text_fields_done(&fields)))
            rc = OV_EPROTO;
        return rc;
    }
    return OV_EPROTO;
}

/* Nodes and ranks ascend. The launcher runs none. *ranks counts on. */
static bool app_ascends(const struct job_app *app, uint64_t *ranks)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < app->ranks_count; i++) {
        const struct job_ranks *r = &app->ranks[i];
        uint64_t count = (uint64_t)r->nodes.last - r->nodes.first + 1;

        if (r->nodes.first <= last || r->nodes.last < r->nodes.first ||
            r->nodes.last == TOPO_NONE || r->each == 0 ||
            r->first_rank != *ranks)
            return false;
        last = r->nodes.last;
        *ranks += count * r->each;
        if (*ranks > UINT32_MAX)
            return false;
    }
    return app->argv.count > 0 && app->ranks_count > 0;
}

/* The nodes beyond `node` that the programs run on begin with a range: that
 * with the lowest first one. `at` has where each program is. */
static const struct job_ranks *next_ranks(const struct job *job, uint32_t node,
                                          uint32_t *at)
{
    const struct job_ranks *next = NULL;

    for (uint32_t i = 0; i < job->apps_count; i++) {
        const struct job_app *app = &job->apps[i];

        while (at[i] < app->ranks_count && app->ranks[at[i]].nodes.last <= node)
            at[i]++;
        if (at[i] < app->ranks_count &&
            (next == NULL || app->ranks[at[i]].nodes.first < next->nodes.first))
            next = &app->ranks[at[i]];
    }
    return next;
}

/* How many nodes run a program. */
static uint64_t count_nodes(const struct job *job)
{
    uint32_t at[JOB_APPS_MAX] = {0};
    uint64_t count = 0;
    uint32_t node = 0;
    const struct job_ranks *ranks;

    while ((ranks = next_ranks(job, node, at)) != NULL) {
        uint32_t first =
            ranks->nodes.first > node ? ranks->nodes.first : node + 1;

        count += (uint64_t)ranks->nodes.last - first + 1;
        node = ranks->nodes.last;
    }
    return count;
}

/* Each rank is in one place. */
static bool places_all(const struct job *job)
{
    uint64_t ranks = 0;

    for (uint32_t i = 0; i < job->apps_count; i++) {
        if (!app_ascends(&job->apps[i], &ranks))
            return false;
    }
    return ranks == job->size && count_nodes(job) == job->nodes;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct job_places *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

/* Is each of these nodes, that ascend, in one of them? No launcher is. */
static bool are_apart(const struct job_places *places, uint32_t count)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (places[i].node <= last)
            return false;
        last = (uint64_t)places[i].node +
               (places[i].places.last - places[i].places.first);
    }
    return last < TOPO_NONE;
}

/* Each place that is used is one node, no two the same. */
static int check_places(const struct job *job)
{
    struct job_places *sorted;
    uint64_t next = 1;
    int rc = 0;

    if (job->places_count == 0)
        return 0;
    for (uint32_t i = 0; i < job->places_count; i++) {
        const struct job_places *p = &job->places[i];

        if (p->places.first != next || p->places.last < p->places.first)
            return OV_EPROTO;
        next = (uint64_t)p->places.last + 1;
    }
    for (uint32_t i = 0; i < job->apps_count; i++) {
        const struct job_app *app = &job->apps[i];

        if (app->ranks[app->ranks_count - 1].nodes.last >= next)
            return OV_EPROTO;
    }
    sorted = calloc(job->places_count, sizeof(*sorted));
    if (sorted == NULL)
        return OV_ENOMEM;
    memcpy(sorted, job->places, job->places_count * sizeof(*sorted));
    qsort(sorted, job->places_count, sizeof(*sorted), compare_nodes);
    rc = are_apart(sorted, job->places_count) ? 0 : OV_EPROTO;
    free(sorted);
    return rc;
}

static bool readers_ascend(const struct job *job)
{
    uint64_t next = 0;

    for (uint32_t i = 0; i < job->readers_count; i++) {
        const struct topo_range *r = &job->readers[i];

        if (r->first < next || r->last < r->first || r->last >= job->size)
            return false;
        next = (uint64_t)r->last + 1;
    }
    return true;
}

static bool makes_sense(const struct job *job)
{
    return job->size > 0 && job->size <= UINT32_MAX - job->base &&
           places_all(job) && readers_ascend(job);
}

int job_decode(char *text, size_t len_bytes, struct job *job)
{
    char *end = text + len_bytes;
    int rc = 0;

    *job = (struct job){0};
    while (text < end && rc == 0) {
        char *newline = memchr(text, '\n', (size_t)(end - text));

        if (newline == NULL) {
            rc = OV_EPROTO;
            break;
        }
        rc = read_line(job, text, (size_t)(newline - text));
        text = newline + 1;
    }
    if (rc == 0)
        rc = makes_sense(job) ? check_places(job) : OV_EPROTO;
    if (rc != 0)
        job_fini(job);
    return rc;
}
