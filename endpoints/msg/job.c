/* The text of a job. */
#include "endpoints/msg/job.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

static void free_strings(char **strings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

void ep_job_fini(struct ep_job *job)
{
    free(job->ranks);
    free(job->readers);
    free(job->cwd);
    free(job->spill_dir);
    free_strings(job->argv, job->argc);
    free_strings(job->env, job->env_count);
    *job = (struct ep_job){0};
}

/* Room for one more item after `count`; the array doubles. */
static void *grown(void *items, uint32_t *cap, uint32_t count, size_t each)
{
    uint32_t more = *cap == 0 ? 8 : *cap * 2;

    if (count < *cap)
        return items;
    items = reallocarray(items, more, each);
    if (items != NULL)
        *cap = more;
    return items;
}

int ep_job_add_ranks(struct ep_job *job, struct ep_job_ranks ranks)
{
    struct ep_job_ranks *items =
        grown(job->ranks, &job->ranks_cap, job->ranks_count, sizeof(*items));

    if (items == NULL)
        return OV_ENOMEM;
    job->ranks = items;
    items[job->ranks_count++] = ranks;
    return 0;
}

int ep_job_add_reader(struct ep_job *job, struct topo_range ranks)
{
    struct topo_range *items = grown(job->readers, &job->readers_cap,
                                     job->readers_count, sizeof(*items));

    if (items == NULL)
        return OV_ENOMEM;
    job->readers = items;
    items[job->readers_count++] = ranks;
    return 0;
}

/* Appends a copy to a NULL-terminated list. */
static int add_string(char ***list, uint32_t *count, uint32_t *cap,
                      const char *string)
{
    char **items = grown(*list, cap, *count + 1, sizeof(*items));
    char *copy;

    if (items == NULL)
        return OV_ENOMEM;
    *list = items;
    items[*count] = NULL;
    copy = strdup(string);
    if (copy == NULL)
        return OV_ENOMEM;
    items[(*count)++] = copy;
    items[*count] = NULL;
    return 0;
}

int ep_job_add_arg(struct ep_job *job, const char *word)
{
    return add_string(&job->argv, &job->argc, &job->argv_cap, word);
}

int ep_job_add_env(struct ep_job *job, const char *name_value)
{
    return add_string(&job->env, &job->env_count, &job->env_cap, name_value);
}

static int set_string(char **at, const char *string)
{
    char *copy = strdup(string);

    if (copy == NULL)
        return OV_ENOMEM;
    free(*at);
    *at = copy;
    return 0;
}

int ep_job_set_cwd(struct ep_job *job, const char *dir)
{
    return set_string(&job->cwd, dir);
}

int ep_job_set_spill_dir(struct ep_job *job, const char *dir)
{
    return set_string(&job->spill_dir, dir);
}

/* --- text */

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

void ep_job_encode(const struct ep_job *job, struct ep_text *out)
{
    put_numbers(out, "job", (uint32_t[]){job->number, job->size, job->nodes},
                3);
    for (uint32_t i = 0; i < job->ranks_count; i++) {
        const struct ep_job_ranks *r = &job->ranks[i];

        put_numbers(
            out, "ranks",
            (uint32_t[]){r->nodes.first, r->nodes.last, r->each, r->first_rank},
            4);
    }
    for (uint32_t i = 0; i < job->readers_count; i++)
        put_numbers(out, "stdin",
                    (uint32_t[]){job->readers[i].first, job->readers[i].last},
                    2);
    put_slow(out, job);
    if (job->is_raw)
        ep_text_puts(out, "raw\n");
    if (job->merges_stderr)
        ep_text_puts(out, "merge-stderr\n");
    put_numbers(out, "open-ms", &job->open_ms, 1);
    put_numbers(out, "linger-ms", &job->linger_ms, 1);
    if (job->cwd != NULL)
        put_word(out, "cwd", job->cwd);
    if (job->cwd_is_optional)
        ep_text_puts(out, "cwd-optional\n");
    for (uint32_t i = 0; i < job->argc; i++)
        put_word(out, "arg", job->argv[i]);
    for (uint32_t i = 0; i < job->env_count; i++)
        put_word(out, "env", job->env[i]);
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

static int read_ranks(struct ep_job *job, struct ep_fields *fields)
{
    struct ep_job_ranks ranks;

    ranks.nodes.first = number(fields);
    ranks.nodes.last = number(fields);
    ranks.each = number(fields);
    ranks.first_rank = number(fields);
    return ep_job_add_ranks(job, ranks);
}

static int read_stdin(struct ep_job *job, struct ep_fields *fields)
{
    struct topo_range range;

    range.first = number(fields);
    range.last = number(fields);
    return ep_job_add_reader(job, range);
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

static int read_cwd_optional(struct ep_job *job, struct ep_fields *fields)
{
    (void)fields;
    job->cwd_is_optional = true;
    return 0;
}

static int read_open_ms(struct ep_job *job, struct ep_fields *fields)
{
    job->open_ms = number(fields);
    return 0;
}

static int read_linger_ms(struct ep_job *job, struct ep_fields *fields)
{
    job->linger_ms = number(fields);
    return 0;
}

static int read_cwd(struct ep_job *job, struct ep_fields *fields)
{
    return ep_job_set_cwd(job, ep_fields_next(fields));
}

static int read_arg(struct ep_job *job, struct ep_fields *fields)
{
    return ep_job_add_arg(job, ep_fields_next(fields));
}

static int read_env(struct ep_job *job, struct ep_fields *fields)
{
    return ep_job_add_env(job, ep_fields_next(fields));
}

static const struct {
    const char *keyword;
    int (*read)(struct ep_job *job, struct ep_fields *fields);
} keywords[] = {
    {"job", read_head},
    {"ranks", read_ranks},
    {"stdin", read_stdin},
    {"stdin-slow", read_slow},
    {"spill-dir", read_spill_dir},
    {"raw", read_raw},
    {"merge-stderr", read_merge},
    {"open-ms", read_open_ms},
    {"linger-ms", read_linger_ms},
    {"cwd", read_cwd},
    {"cwd-optional", read_cwd_optional},
    {"arg", read_arg},
    {"env", read_env},
};

static int read_line(struct ep_job *job, char *line, size_t len_bytes)
{
    struct ep_fields fields = ep_fields_init(line, len_bytes);
    const char *keyword = ep_fields_next(&fields);

    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        int rc;

        if (strcmp(keyword, keywords[i].keyword) != 0)
            continue;
        rc = keywords[i].read(job, &fields);
        return rc == 0 && !ep_fields_done(&fields) ? OV_EPROTO : rc;
    }
    return OV_EPROTO;
}

/* Nodes and ranks ascend, and each rank is in one place. The launcher runs
 * none. */
static bool places_all(const struct ep_job *job)
{
    uint64_t ranks = 0, nodes = 0, last = 0;

    for (uint32_t i = 0; i < job->ranks_count; i++) {
        const struct ep_job_ranks *r = &job->ranks[i];
        uint64_t count = (uint64_t)r->nodes.last - r->nodes.first + 1;

        if (r->nodes.first <= last || r->nodes.last < r->nodes.first ||
            r->nodes.last == TOPO_NONE || r->each == 0 ||
            r->first_rank != ranks)
            return false;
        last = r->nodes.last;
        nodes += count;
        ranks += count * r->each; /* below 2^64: the nodes ascend */
    }
    return ranks == job->size && nodes == job->nodes;
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
    return job->argc > 0 && job->size > 0 && places_all(job) &&
           readers_ascend(job);
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
    if (rc == 0 && !makes_sense(job))
        rc = OV_EPROTO;
    if (rc != 0)
        ep_job_fini(job);
    return rc;
}

/* --- who is where
 * */

uint32_t ep_job_on_node(const struct ep_job *job, uint32_t node,
                        uint32_t *first_rank)
{
    for (uint32_t i = 0; i < job->ranks_count; i++) {
        const struct ep_job_ranks *r = &job->ranks[i];

        if (node < r->nodes.first || node > r->nodes.last)
            continue;
        *first_rank = r->first_rank + (node - r->nodes.first) * r->each;
        return r->each;
    }
    *first_rank = 0;
    return 0;
}

uint32_t ep_job_node_of(const struct ep_job *job, uint32_t rank)
{
    for (uint32_t i = 0; i < job->ranks_count; i++) {
        const struct ep_job_ranks *r = &job->ranks[i];
        uint32_t nodes = r->nodes.last - r->nodes.first + 1;

        if (r->each > 0 && rank >= r->first_rank &&
            (rank - r->first_rank) / r->each < nodes)
            return r->nodes.first + (rank - r->first_rank) / r->each;
    }
    return TOPO_NONE;
}

bool ep_job_reads(const struct ep_job *job, uint32_t rank)
{
    uint32_t low = 0, high = job->readers_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rank < job->readers[middle].first)
            high = middle;
        else if (rank > job->readers[middle].last)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

uint32_t ep_job_readers(const struct ep_job *job)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->readers_count; i++)
        count += job->readers[i].last - job->readers[i].first + 1;
    return count;
}
