/* The table of the lines of a job's text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "job/lines.h"
#include "overlay/base/err.h"

/* --- lines that rows cannot describe */

static void put_slow(const void *what, struct text_buf *out)
{
    const struct job *job = what;

    if (job->slow == JOB_SLOW_SPILL)
        text_buf_printf(out, "stdin-slow spill %" PRIu64 "\n",
                        job->spill_bytes);
    else if (job->slow == JOB_SLOW_CLOSE)
        text_buf_printf(out, "stdin-slow close %" PRIu32 "\n", job->close_ms);
}

static int get_slow(void *what, struct text_fields *fields)
{
    struct job *job = what;
    const char *policy = text_fields_next(fields);

    if (strcmp(policy, "spill") == 0) {
        job->slow = JOB_SLOW_SPILL;
        job->spill_bytes = text_fields_number(fields, JOB_SPILL_BYTES_MIN,
                                              JOB_SPILL_BYTES_MAX);
        return 0;
    }
    job->slow = JOB_SLOW_CLOSE;
    job->close_ms = (uint32_t)text_fields_number(fields, 1, UINT32_MAX);
    return strcmp(policy, "close") == 0 ? 0 : OV_EPROTO;
}

static void put_bind(const void *what, struct text_buf *out)
{
    const struct job *job = what;

    if (job->bind != TOPO_NO_OBJECT)
        text_buf_printf(out, "bind %s\n", topo_object_name(job->bind));
}

static int get_bind(void *what, struct text_fields *fields)
{
    struct job *job = what;
    enum topo_object object = topo_object_find(text_fields_next(fields));

    if (object == TOPO_OBJECTS || object == TOPO_NO_OBJECT)
        return OV_EPROTO;
    job->bind = object;
    return 0;
}

/* Reads a list of processors like "0-3,8". Other texts are refused here, so
 * that none reaches the shim, the program that binds processes. */
static int get_cpus(void *what, struct text_fields *fields)
{
    struct job *job = what;
    const char *list = text_fields_next(fields);

    if (list[0] < '0' || list[0] > '9' ||
        list[strspn(list, "0123456789,-")] != '\0')
        return OV_EPROTO;
    return job_strings_add(&job->cpus, list);
}

static void put_umask(const void *what, struct text_buf *out)
{
    const struct job *job = what;

    if (job->manners.is_known)
        text_buf_printf(out, "umask %" PRIu32 "\n", job->manners.umask);
}

/* Reads the umask, and sets all limits to unlimited: the lines that name limits
 * follow. */
static int get_umask(void *what, struct text_fields *fields)
{
    struct job_manners *manners = &((struct job *)what)->manners;

    manners->umask = (uint32_t)text_fields_number(fields, 0, 0777);
    manners->is_known = true;
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++)
        manners->soft[i] = UINT64_MAX;
    return 0;
}

static void put_limits(const void *what, struct text_buf *out)
{
    const struct job_manners *manners = &((const struct job *)what)->manners;

    for (unsigned i = 0; manners->is_known && i < JOB_MANNERS_LIMITS; i++)
        text_buf_printf(out, "limit %s %" PRIu64 "\n",
                        job_manners_name((enum job_manners_limit)i),
                        manners->soft[i]);
}

static int get_limit(void *what, struct text_fields *fields)
{
    struct job_manners *manners = &((struct job *)what)->manners;
    const char *name = text_fields_next(fields);
    unsigned i = 0;

    while (i < JOB_MANNERS_LIMITS &&
           strcmp(name, job_manners_name((enum job_manners_limit)i)) != 0)
        i++;
    if (i == JOB_MANNERS_LIMITS || !manners->is_known)
        return OV_EPROTO;
    manners->soft[i] = text_fields_number(fields, 0, UINT64_MAX);
    return 0;
}

/* --- the lines
 * */

#define RANGE(type, member, least, most)                                       \
    JOB_SCHEMA_RANGE(struct type, member, NULL, least, most)
#define UINT(type, member) JOB_SCHEMA_UINT(struct type, member, NULL)

static const struct job_line app_lines[] = {
    JOB_LINE(ITEMS, "ranks FIRST LAST COUNT RANK",
             JOB_LINE_ARRAY(struct job_app, ranks),
             JOB_LINE_FIELDS(UINT(job_ranks, nodes.first),
                             UINT(job_ranks, nodes.last), UINT(job_ranks, each),
                             UINT(job_ranks, first_rank))),
    JOB_LINE(WORD, "cwd DIR", JOB_LINE_AT(struct job_app, cwd)),
    JOB_LINE(MARK, "cwd-optional",
             JOB_LINE_AT(struct job_app, cwd_is_optional)),
    JOB_LINE(WORDS, "arg WORD", JOB_LINE_AT(struct job_app, argv)),
    JOB_LINE(WORDS, "env NAME=VALUE", JOB_LINE_AT(struct job_app, env)),
    {.kind = JOB_LINE_END},
};

static const struct job_line lines[] = {
    JOB_LINE(
        FIELDS, "job NUMBER SIZE NODES",
        JOB_LINE_FIELDS(UINT(job, number), UINT(job, size), UINT(job, nodes))),
    JOB_LINE(OPTION, "base N", JOB_LINE_FIELDS(UINT(job, base))),
    JOB_LINE(ITEMS, "stdin FIRST LAST", JOB_LINE_ARRAY(struct job, readers),
             JOB_LINE_FIELDS(UINT(topo_range, first), UINT(topo_range, last))),
    JOB_LINE(OWN, "stdin-slow spill BYTES | close MS", .put = put_slow,
             .get = get_slow),
    JOB_LINE(WORD, "spill-dir DIR", JOB_LINE_AT(struct job, spill_dir)),
    JOB_LINE(MARK, "raw", JOB_LINE_AT(struct job, is_raw)),
    JOB_LINE(MARK, "last-states", JOB_LINE_AT(struct job, filter.keeps_last)),
    JOB_LINE(WORDS, "grep RE", JOB_LINE_AT(struct job, filter.grep)),
    JOB_LINE(WORDS, "grep-v RE", JOB_LINE_AT(struct job, filter.grep_v)),
    JOB_LINE(OPTION, "head N",
             JOB_LINE_FIELDS(RANGE(job, filter.head, 1, JOB_FILTER_LINES_MAX))),
    JOB_LINE(OPTION, "tail N",
             JOB_LINE_FIELDS(RANGE(job, filter.tail, 1, JOB_FILTER_LINES_MAX))),
    JOB_LINE(OPTION, "rate N",
             JOB_LINE_FIELDS(RANGE(job, filter.rate, 1, JOB_FILTER_RATE_MAX))),
    JOB_LINE(OPTION, "budget N",
             JOB_LINE_FIELDS(RANGE(job, filter.budget_bytes, 1, UINT64_MAX))),
    JOB_LINE(MARK, "merge-stderr", JOB_LINE_AT(struct job, merges_stderr)),
    JOB_LINE(MARK, "stddiag", JOB_LINE_AT(struct job, has_stddiag)),
    JOB_LINE(FIELDS, "open-ms N", JOB_LINE_FIELDS(UINT(job, open_ms))),
    JOB_LINE(FIELDS, "linger-ms N", JOB_LINE_FIELDS(UINT(job, linger_ms))),
    JOB_LINE(OPTION, "cache N CHANNELS",
             JOB_LINE_FIELDS(RANGE(job, cache_bytes, 1, JOB_CACHE_MAX),
                             RANGE(job, cache_channels, 1, JOB_CACHE_ALL))),
    JOB_LINE(OPTION, "stall-ms N", JOB_LINE_FIELDS(UINT(job, watch.ms))),
    JOB_LINE(MARK, "stall-all", JOB_LINE_AT(struct job, watch.all)),
    JOB_LINE(OWN, "bind core | socket", .put = put_bind, .get = get_bind),
    JOB_LINE(WORDS, "cpus LIST", JOB_LINE_AT(struct job, cpus),
             .get = get_cpus),
    JOB_LINE(OWN, "umask N", .put = put_umask, .get = get_umask),
    JOB_LINE(OWNS, "limit NAME N", .put = put_limits, .get = get_limit),
    JOB_LINE(WORDS, "env NAME=VALUE", JOB_LINE_AT(struct job, env)),
    JOB_LINE(
        ITEMS, "places FIRST LAST NODE", JOB_LINE_ARRAY(struct job, places),
        JOB_LINE_FIELDS(UINT(job_places, places.first),
                        UINT(job_places, places.last), UINT(job_places, node))),
    JOB_LINE(ITEMS, "app", JOB_LINE_ARRAY(struct job, apps), .lines = app_lines,
             .max = JOB_APPS_MAX),
    {.kind = JOB_LINE_END},
};

const struct job_line *job_text_lines(void)
{
    return lines;
}

void job_encode(const struct job *job, struct text_buf *out)
{
    job_lines_encode(lines, job, out);
}

/* --- conditions over several lines */

/* True when nodes and ranks of the program ascend and the launcher's node is
 * not among the nodes. Adds the number of its ranks to *ranks. */
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

/* Among the ranges of ranks of all programs that have nodes above `node`,
 * returns the one whose nodes begin first. `at` has the current range of each
 * program. */
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

/* How many nodes run at least one program. */
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

/* True when each rank is on one node. */
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

/* True when no node is in two of these entries, which are sorted by node, and
 * the launcher's node is in none. */
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

/* Checks that each place that is used is one node, and that no two places are
 * the same node. */
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
    struct job_lines rd = {.lines = lines, .what = job};
    char *end = text + len_bytes;
    int rc = 0;

    *job = (struct job){0};
    while (text < end && rc == 0) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        struct text_fields fields;

        if (newline == NULL) {
            rc = OV_EPROTO;
            break;
        }
        fields = text_fields_init(text, (size_t)(newline - text));
        rc = job_lines_decode(&rd, text_fields_next(&fields), &fields);
        text = newline + 1;
    }
    if (rc == 0)
        rc = makes_sense(job) ? check_places(job) : OV_EPROTO;
    if (rc != 0)
        job_fini(job);
    return rc == 0 || rc == OV_ENOMEM ? rc : OV_EPROTO;
}
