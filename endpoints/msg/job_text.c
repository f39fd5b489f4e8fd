/* The text of a job, written and read. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/msg/job.h"
#include "overlay/base/err.h"

static void put_numbers(struct ep_text *out, const char *keyword,
                        const uint32_t *number, unsigned count)
{
    ep_text_puts(out, keyword);
    for (unsigned i = 0; i < count; i++)
        ep_text_number(out, number[i]);
    ep_text_puts(out, "\n");
}

static void put_word(struct ep_text *out, const char *keyword, const char *word)
{
    ep_text_puts(out, keyword);
    ep_text_field(out, word);
    ep_text_puts(out, "\n");
}

static void put_slow(struct ep_text *out, const struct ep_job *job)
{
    if (job->slow != EP_SLOW_WAIT) {
        bool is_spill = job->slow == EP_SLOW_SPILL;

        ep_text_puts(out, "stdin-slow");
        ep_text_field(out, is_spill ? "spill" : "close");
        ep_text_number(out, is_spill ? job->spill_bytes : job->close_ms);
        ep_text_puts(out, "\n");
    }
    if (job->spill_dir != NULL)
        put_word(out, "spill-dir", job->spill_dir);
}

static void put_places(struct ep_text *out, const struct ep_job *job)
{
    for (uint32_t i = 0; i < job->places_count; i++) {
        const struct ep_job_places *p = &job->places[i];

        put_numbers(out, "places",
                    (uint32_t[]){p->places.first, p->places.last, p->node}, 3);
    }
}

static void put_manners(struct ep_text *out, const struct ep_manners *manners)
{
    if (!manners->is_known)
        return;
    put_numbers(out, "umask", &manners->umask, 1);
    for (unsigned i = 0; i < EP_MANNERS_LIMITS; i++) {
        ep_text_puts(out, "limit");
        ep_text_field(out, ep_manners_name((enum ep_manners_limit)i));
        ep_text_number(out, manners->soft[i]);
        ep_text_puts(out, "\n");
    }
}

static void put_ranks(struct ep_text *out, const struct ep_job_app *app)
{
    for (uint32_t i = 0; i < app->ranks_count; i++) {
        const struct ep_job_ranks *r = &app->ranks[i];

        put_numbers(
            out, "ranks",
            (uint32_t[]){r->nodes.first, r->nodes.last, r->each, r->first_rank},
            4);
    }
}

static void put_strings(struct ep_text *out, const char *keyword,
                        const struct ep_job_strings *strings)
{
    for (uint32_t i = 0; i < strings->count; i++)
        put_word(out, keyword, strings->at[i]);
}

static void put_app(struct ep_text *out, const struct ep_job_app *app)
{
    ep_text_puts(out, "app\n");
    put_ranks(out, app);
    if (app->cwd != NULL)
        put_word(out, "cwd", app->cwd);
    if (app->cwd_is_optional)
        ep_text_puts(out, "cwd-optional\n");
    put_strings(out, "arg", &app->argv);
    put_strings(out, "env", &app->env);
}

void ep_job_encode(const struct ep_job *job, struct ep_text *out)
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
        ep_text_puts(out, "raw\n");
    if (job->merges_stderr)
        ep_text_puts(out, "merge-stderr\n");
    if (job->has_stddiag)
        ep_text_puts(out, "stddiag\n");
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

static uint32_t number(struct ep_fields *fields)
{
    return (uint32_t)ep_fields_number(fields, 0, UINT32_MAX);
}

static int read_head(struct ep_job *job, struct ep_fields *fields)
{
    job->number = number(fields);
    job->size = number(fields);
    job->nodes = number(fields);
    return 0;
}

static int read_base(struct ep_job *job, struct ep_fields *fields)
{
    job->base = number(fields);
    return 0;
}

static int read_ranks(struct ep_job *job, struct ep_fields *fields)
{
    struct ep_job_ranks ranks;

    ranks.nodes.first = number(fields);
    ranks.nodes.last = number(fields);
    ranks.each = number(fields);
    ranks.first_rank = number(fields);
    return ep_job_app_add_ranks(ep_job_app_last(job), ranks);
}

static int read_stdin(struct ep_job *job, struct ep_fields *fields)
{
    struct topo_range range;

    range.first = number(fields);
    range.last = number(fields);
    return ep_job_add_reader(job, range);
}

static int read_places(struct ep_job *job, struct ep_fields *fields)
{
    struct ep_job_places places;

    places.places.first = number(fields);
    places.places.last = number(fields);
    places.node = number(fields);
    return ep_job_add_places(job, places);
}

static int read_slow(struct ep_job *job, struct ep_fields *fields)
{
    const char *policy = ep_fields_next(fields);

    if (strcmp(policy, "spill") == 0) {
        job->slow = EP_SLOW_SPILL;
        job->spill_bytes =
            ep_fields_number(fields, EP_SPILL_BYTES_MIN, EP_SPILL_BYTES_MAX);
        return 0;
    }
    if (strcmp(policy, "close") == 0) {
        job->slow = EP_SLOW_CLOSE;
        job->close_ms = (uint32_t)ep_fields_number(fields, 1, UINT32_MAX);
        return 0;
    }
    return OV_EPROTO;
}

static int read_spill_dir(struct ep_job *job, struct ep_fields *fields)
{
    return ep_job_set_spill_dir(job, ep_fields_next(fields));
}

static int read_raw(struct ep_job *job, struct ep_fields *fields)
{
    (void)fields;
    job->is_raw = true;
    return 0;
}

static int read_merge(struct ep_job *job, struct ep_fields *fields)
{
    (void)fields;
    job->merges_stderr = true;
    return 0;
}

static int read_stddiag(struct ep_job *job, struct ep_fields *fields)
{
    (void)fields;
    job->has_stddiag = true;
    return 0;
}

static enum topo_object read_object(struct ep_fields *fields)
{
    enum topo_object object = topo_object_find(ep_fields_next(fields));

    return object == TOPO_OBJECTS ? TOPO_NO_OBJECT : object;
}

static int read_bind(struct ep_job *job, struct ep_fields *fields)
{
    job->bind = read_object(fields);
    return job->bind == TOPO_NO_OBJECT ? OV_EPROTO : 0;
}

/* A list as "0-3,8": nothing else may come to the shim. */
static int read_cpus(struct ep_job *job, struct ep_fields *fields)
{
    const char *list = ep_fields_next(fields);

    if (list[0] < '0' || list[0] > '9' ||
        list[strspn(list, "0123456789,-")] != '\0')
        return OV_EPROTO;
    return ep_job_add_cpus(job, list);
}

/* A limit that is not said is none. */
static int read_umask(struct ep_job *job, struct ep_fields *fields)
{
    job->manners.umask = (uint32_t)ep_fields_number(fields, 0, 0777);
    job->manners.is_known = true;
    for (unsigned i = 0; i < EP_MANNERS_LIMITS; i++)
        job->manners.soft[i] = UINT64_MAX;
    return 0;
}

static int read_limit(struct ep_job *job, struct ep_fields *fields)
{
    const char *name = ep_fields_next(fields);
    unsigned i = 0;

    while (i < EP_MANNERS_LIMITS &&
           strcmp(name, ep_manners_name((enum ep_manners_limit)i)) != 0)
        i++;
    if (i == EP_MANNERS_LIMITS || !job->manners.is_known)
        return OV_EPROTO;
    job->manners.soft[i] = ep_fields_number(fields, 0, UINT64_MAX);
    return 0;
}

static int read_app(struct ep_job *job, struct ep_fields *fields)
{
    (void)fields;
    return ep_job_add_app(job);
}

static int read_cwd_optional(struct ep_job *job, struct ep_fields *fields)
{
    (void)fields;
    ep_job_app_last(job)->cwd_is_optional = true;
    return 0;
}

static int read_open_ms(struct ep_job *job, struct ep_fields *fields)
{
    job->open_ms = number(fields);
    return 0;
}

static int read_cache(struct ep_job *job, struct ep_fields *fields)
{
    job->cache_bytes = (uint32_t)ep_fields_number(fields, 1, EP_JOB_CACHE_MAX);
    job->cache_channels =
        (uint32_t)ep_fields_number(fields, 1, EP_JOB_CACHE_ALL);
    return 0;
}

static int read_linger_ms(struct ep_job *job, struct ep_fields *fields)
{
    job->linger_ms = number(fields);
    return 0;
}

static int read_cwd(struct ep_job *job, struct ep_fields *fields)
{
    return ep_job_app_set_cwd(ep_job_app_last(job), ep_fields_next(fields));
}

static int read_arg(struct ep_job *job, struct ep_fields *fields)
{
    return ep_job_app_add_arg(ep_job_app_last(job), ep_fields_next(fields));
}

static int read_env(struct ep_job *job, struct ep_fields *fields)
{
    const char *entry = ep_fields_next(fields);

    return job->apps_count == 0
               ? ep_job_add_env(job, entry)
               : ep_job_app_add_env(ep_job_app_last(job), entry);
}

/* Where a keyword may stand. */
enum place { OF_JOB, OF_APP, OF_BOTH };

static const struct {
    const char *keyword;
    int (*read)(struct ep_job *job, struct ep_fields *fields);
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

static int read_line(struct ep_job *job, char *line, size_t len_bytes)
{
    struct ep_fields fields = ep_fields_init(line, len_bytes);
    const char *keyword = ep_fields_next(&fields);

    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        int rc;

        if (strcmp(keyword, keywords[i].keyword) != 0)
            continue;
        if (keywords[i].place == (job->apps_count > 0 ? OF_JOB : OF_APP))
            return OV_EPROTO;
        rc = keywords[i].read(job, &fields);
        if (rc == OV_EFULL || (rc == 0 && !ep_fields_done(&fields)))
            rc = OV_EPROTO;
        return rc;
    }
    return OV_EPROTO;
}

/* Nodes and ranks ascend. The launcher runs none. *ranks counts on. */
static bool app_ascends(const struct ep_job_app *app, uint64_t *ranks)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < app->ranks_count; i++) {
        const struct ep_job_ranks *r = &app->ranks[i];
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
static const struct ep_job_ranks *next_ranks(const struct ep_job *job,
                                             uint32_t node, uint32_t *at)
{
    const struct ep_job_ranks *next = NULL;

    for (uint32_t i = 0; i < job->apps_count; i++) {
        const struct ep_job_app *app = &job->apps[i];

        while (at[i] < app->ranks_count && app->ranks[at[i]].nodes.last <= node)
            at[i]++;
        if (at[i] < app->ranks_count &&
            (next == NULL || app->ranks[at[i]].nodes.first < next->nodes.first))
            next = &app->ranks[at[i]];
    }
    return next;
}

/* How many nodes run a program. */
static uint64_t count_nodes(const struct ep_job *job)
{
    uint32_t at[EP_JOB_APPS_MAX] = {0};
    uint64_t count = 0;
    uint32_t node = 0;
    const struct ep_job_ranks *ranks;

    while ((ranks = next_ranks(job, node, at)) != NULL) {
        uint32_t first =
            ranks->nodes.first > node ? ranks->nodes.first : node + 1;

        count += (uint64_t)ranks->nodes.last - first + 1;
        node = ranks->nodes.last;
    }
    return count;
}

/* Each rank is in one place. */
static bool places_all(const struct ep_job *job)
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
    const struct ep_job_places *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

/* Is each of these nodes, that ascend, in one of them? No launcher is. */
static bool are_apart(const struct ep_job_places *places, uint32_t count)
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
static int check_places(const struct ep_job *job)
{
    struct ep_job_places *sorted;
    uint64_t next = 1;
    int rc = 0;

    if (job->places_count == 0)
        return 0;
    for (uint32_t i = 0; i < job->places_count; i++) {
        const struct ep_job_places *p = &job->places[i];

        if (p->places.first != next || p->places.last < p->places.first)
            return OV_EPROTO;
        next = (uint64_t)p->places.last + 1;
    }
    for (uint32_t i = 0; i < job->apps_count; i++) {
        const struct ep_job_app *app = &job->apps[i];

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

static bool readers_ascend(const struct ep_job *job)
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

static bool makes_sense(const struct ep_job *job)
{
    return job->size > 0 && job->size <= UINT32_MAX - job->base &&
           places_all(job) && readers_ascend(job);
}

int ep_job_decode(char *text, size_t len_bytes, struct ep_job *job)
{
    char *end = text + len_bytes;
    int rc = 0;

    *job = (struct ep_job){0};
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
        ep_job_fini(job);
    return rc;
}
