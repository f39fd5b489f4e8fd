/* Cuts records into lines, and keeps them until these are written. */
#include "config.h"

#include "endpoints/output/fold_lane.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/console/console.h"
#include "job/hash.h"
#include "job/record.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { PART_MIN = 256 };

/* A record that is not written. */
struct waiting {
    struct waiting *next;
    struct job_text *text;
    /* It is written when this many lines of its rank are; then their sum
     * is this one. */
    uint64_t lines, sum;
    bool has_sum; /* false: it ends inside a line */
};

struct fold_source {
    const char *host;              /* borrowed */
    struct waiting *first, **last; /* records that are not written */
    uint64_t came, came_sum;       /* lines, or pieces of long ones */
    uint64_t written, written_sum;
    uint64_t whole; /* the lines that are in its whole output */
    struct fold_source *older, *newer; /* with an unfinished line */
    uint8_t *part;                     /* owned: this line */
    uint64_t part_ns;                  /* when it began */
    uint64_t time_ns; /* when its last record came, since 1970 */
    uint32_t part_bytes, part_cap;
    bool is_direct; /* its unfinished line goes to the console as it comes */
};

_Static_assert(sizeof(struct fold_source) <= 128,
               "a source outgrew its budget");

/* ---- what is written ---- */

/* Reports the records of the rank that are written. */
static void settle(struct fold_lane *lane, uint32_t rank)
{
    struct fold_source *source = &lane->sources[rank];
    struct waiting *at;

    while ((at = source->first) != NULL && at->lines <= source->written) {
        OV_ASSERT(!at->has_sum || at->lines < source->written ||
                  at->sum == source->written_sum);
        source->first = at->next;
        if (source->first == NULL)
            source->last = &source->first;
        lane->cfg.on_written(lane->cfg.arg, rank, lane->cfg.channel,
                             at->text->mem, at->text->len_bytes);
        job_texts_let_go(&lane->records, at->text);
        lane->queue_bytes -= sizeof(*at);
        free(at);
    }
}

static void credit(struct fold_lane *lane, uint32_t rank, uint64_t hash)
{
    struct fold_source *source = &lane->sources[rank];

    source->written++;
    source->written_sum = job_hash_add(source->written_sum, hash);
    settle(lane, rank);
}

static void on_group(void *arg, const struct job_fold_group *group)
{
    uint32_t rank = job_rank_set_next(&group->members, 0);

    for (; rank != JOB_RANK_SET_NONE;
         rank = job_rank_set_next(&group->members, rank + 1))
        credit(arg, rank, group->text->hash);
}

static void on_piece(void *arg, uint32_t rank, const void *mem,
                     uint32_t len_bytes)
{
    credit(arg, rank, job_hash(mem, len_bytes, 0));
}

static void on_whole(void *arg, const struct job_rank_set *members,
                     uint64_t sum)
{
    struct fold_lane *lane = arg;
    uint32_t rank = job_rank_set_next(members, 0);

    for (; rank != JOB_RANK_SET_NONE;
         rank = job_rank_set_next(members, rank + 1)) {
        struct fold_source *source = &lane->sources[rank];

        source->written = source->whole;
        source->written_sum = sum;
        settle(lane, rank);
    }
}

static const char *host_of(void *arg, uint32_t rank)
{
    return ((struct fold_lane *)arg)->sources[rank].host;
}

static int on_record(void *arg, const struct job_record *rec)
{
    struct fold_lane *lane = arg;

    return lane->cfg.on_record(lane->cfg.arg, rec);
}

/* ---- groups ---- */

/* Begins to show the whole outputs, as far as they came. */
static int wholes_show(struct fold_lane *lane)
{
    struct job_wholes *wholes = lane->wholes;

    lane->wholes = NULL;
    for (uint32_t rank = 0; rank < lane->cfg.ranks; rank++)
        lane->sources[rank].whole = lane->sources[rank].came;
    return ep_fold_whole_begin(&lane->whole, wholes,
                               lane->cfg.how == EP_FOLD_DIFF);
}

/* Adds a line to the whole output of the rank. Returns OV_EFULL when there is
 * no more room for whole outputs: they are then being shown. */
static int whole_put(struct fold_lane *lane, uint32_t rank, const uint8_t *mem,
                     uint32_t len_bytes, uint64_t hash)
{
    int rc = OV_EFULL;

    if (lane->records.bytes + lane->queue_bytes <= EP_FOLD_WHOLE_BYTES)
        rc = job_wholes_add(lane->wholes, rank, mem, len_bytes, hash);
    if (rc != OV_EFULL)
        return rc;
    lane->cfg.on_full(lane->cfg.arg);
    rc = wholes_show(lane);
    return rc == 0 ? OV_EFULL : rc;
}

bool ep_fold_lane_is_full(const struct fold_lane *lane)
{
    return job_fold_first(lane->fold) != NULL && job_fold_bytes(lane->fold) +
                                                         lane->records.bytes +
                                                         lane->queue_bytes >
                                                     EP_FOLD_LANE_BYTES;
}

/* Hands on what is final; with is_forced, whether the console has room or
 * not. */
static int show(struct fold_lane *lane, uint64_t now_ns, bool is_forced)
{
    struct job_fold_group *group;
    int rc = 0;

    if (ep_fold_whole_is_busy(&lane->whole)) {
        rc = ep_fold_whole_show(&lane->whole, &lane->out);
        if (rc != 0 || ep_fold_whole_is_busy(&lane->whole))
            return rc;
    }
    if (ep_fold_lane_is_full(lane))
        job_fold_flush(lane->fold);
    while (rc == 0 && (is_forced || ep_fold_out_has_room(&lane->out)) &&
           (group = job_fold_pop(lane->fold, now_ns)) != NULL)
        rc = ep_fold_out_group(&lane->out, group);
    return rc == 0 ? ep_fold_out_flush(&lane->out) : rc;
}

/* ---- lines of a rank ---- */

static uint32_t rank_of(const struct fold_lane *lane,
                        const struct fold_source *source)
{
    return (uint32_t)(source - lane->sources);
}

static int line_put(struct fold_lane *lane, struct fold_source *source,
                    const uint8_t *mem, uint32_t len_bytes, uint64_t now_ns)
{
    const uint64_t hash = job_hash(mem, len_bytes, 0);
    int rc = OV_EFULL;

    if (lane->wholes != NULL)
        rc = whole_put(lane, rank_of(lane, source), mem, len_bytes, hash);
    if (rc != 0 && rc != OV_EFULL)
        return rc;
    source->came++;
    source->came_sum = job_hash_add(source->came_sum, hash);
    if (rc == 0)
        return 0;
    return job_fold_add(lane->fold, rank_of(lane, source), mem, len_bytes, hash,
                        now_ns, source->time_ns);
}

/* Passes a piece of the rank's long line to the console. */
static int direct_put(struct fold_lane *lane, struct fold_source *source,
                      const uint8_t *mem, uint32_t len_bytes, bool is_end)
{
    const uint32_t rank = rank_of(lane, source);
    struct job_record piece = {
        .mem = mem,
        .proc = rank,
        .rank = rank,
        .host = source->host,
        .style = lane->cfg.style,
        .time_ns = source->time_ns,
    };
    int rc;

    /* The console reports each record that it has written by itself. */
    do {
        piece.len_bytes = len_bytes < EP_CONSOLE_RECORD_MAX
                              ? len_bytes
                              : EP_CONSOLE_RECORD_MAX;
        len_bytes -= piece.len_bytes;
        piece.is_end = is_end && len_bytes == 0;
        if (piece.len_bytes > 0) {
            source->came++;
            source->came_sum = job_hash_add(
                source->came_sum, job_hash(piece.mem, piece.len_bytes, 0));
        }
        rc = ep_fold_out_piece(&lane->out, &piece);
        if (len_bytes > 0)
            piece.mem += piece.len_bytes;
    } while (rc == 0 && len_bytes > 0);
    return rc;
}

static void part_drop(struct fold_lane *lane, struct fold_source *source)
{
    *(source->older != NULL ? &source->older->newer : &lane->oldest) =
        source->newer;
    *(source->newer != NULL ? &source->newer->older : &lane->newest) =
        source->older;
    source->older = source->newer = NULL;
    lane->parts_bytes -= source->part_cap;
    free(source->part);
    source->part = NULL;
    source->part_bytes = source->part_cap = 0;
}

/* The rank's unfinished line goes to the console from here on. */
static int part_pass(struct fold_lane *lane, struct fold_source *source,
                     uint64_t now_ns)
{
    int rc;

    job_fold_flush_rank(lane->fold, rank_of(lane, source));
    rc = show(lane, now_ns, true);
    if (rc == 0)
        rc = direct_put(lane, source, source->part, source->part_bytes, false);
    source->is_direct = true;
    part_drop(lane, source);
    return rc;
}

static int part_add(struct fold_lane *lane, struct fold_source *source,
                    const uint8_t *mem, uint32_t len_bytes, uint64_t now_ns)
{
    const uint32_t need = source->part_bytes + len_bytes;

    if (need > source->part_cap) {
        const uint32_t cap = need < PART_MIN ? PART_MIN : need * 2;
        uint8_t *part = realloc(source->part, cap);

        if (part == NULL)
            return OV_ENOMEM;
        if (source->part == NULL) {
            source->part_ns = now_ns;
            source->older = lane->newest;
            *(lane->newest != NULL ? &lane->newest->newer : &lane->oldest) =
                source;
            lane->newest = source;
        }
        lane->parts_bytes += cap - source->part_cap;
        source->part = part;
        source->part_cap = cap;
    }
    memcpy(source->part + source->part_bytes, mem, len_bytes);
    source->part_bytes = need;
    return 0;
}

static int part_end(struct fold_lane *lane, struct fold_source *source,
                    uint64_t now_ns)
{
    int rc = line_put(lane, source, source->part, source->part_bytes, now_ns);

    part_drop(lane, source);
    return rc;
}

/* Takes bytes of a line that belongs to a whole output. */
static int whole_piece_put(struct fold_lane *lane, struct fold_source *source,
                           const uint8_t *mem, uint32_t len_bytes,
                           uint64_t now_ns)
{
    const bool has_newline = mem[len_bytes - 1] == '\n';
    int rc = 0;

    while (rc == 0 && source->part_bytes + len_bytes > EP_FOLD_LINE_MAX) {
        const uint32_t fits = EP_FOLD_LINE_MAX - source->part_bytes;

        rc = part_add(lane, source, mem, fits, now_ns);
        if (rc == 0)
            rc = part_end(lane, source, now_ns);
        mem += fits;
        len_bytes -= fits;
    }
    if (rc == 0 && has_newline && source->part == NULL)
        return line_put(lane, source, mem, len_bytes, now_ns);
    if (rc == 0)
        rc = part_add(lane, source, mem, len_bytes, now_ns);
    if (rc == 0 && (has_newline || lane->parts_bytes > EP_FOLD_PARTS_BYTES))
        rc = part_end(lane, source, now_ns);
    return rc;
}

/* Takes bytes up to the end of a line, or without one. */
static int piece_put(struct fold_lane *lane, struct fold_source *source,
                     const uint8_t *mem, uint32_t len_bytes, uint64_t now_ns)
{
    const bool has_newline = mem[len_bytes - 1] == '\n';
    int rc;

    if (lane->wholes != NULL)
        return whole_piece_put(lane, source, mem, len_bytes, now_ns);
    if (source->is_direct) {
        source->is_direct = !has_newline;
        return direct_put(lane, source, mem, len_bytes, false);
    }
    if (has_newline && source->part == NULL)
        return line_put(lane, source, mem, len_bytes, now_ns);
    rc = part_add(lane, source, mem, len_bytes, now_ns);
    if (rc != 0)
        return rc;
    if (has_newline && source->part_bytes <= EP_FOLD_LINE_MAX)
        return part_end(lane, source, now_ns);
    if (ep_fold_whole_is_busy(&lane->whole) ||
        (source->part_bytes < EP_FOLD_LINE_MAX &&
         lane->parts_bytes <= EP_FOLD_PARTS_BYTES))
        return 0;
    rc = part_pass(lane, source, now_ns);
    source->is_direct = !has_newline;
    return rc;
}

/* ---- records ---- */

static struct waiting *record_keep(struct fold_lane *lane,
                                   struct fold_source *source,
                                   const struct job_record *rec)
{
    struct waiting *it = malloc(sizeof(*it));

    if (it == NULL)
        return NULL;
    *it = (struct waiting){
        .text = job_texts_hold(&lane->records, rec->mem, rec->len_bytes,
                               job_hash(rec->mem, rec->len_bytes, 0)),
        .lines = UINT64_MAX,
    };
    if (it->text == NULL) {
        free(it);
        return NULL;
    }
    if (source->first == NULL)
        source->last = &source->first;
    *source->last = it;
    source->last = &it->next;
    lane->queue_bytes += sizeof(*it);
    return it;
}

static int pieces_put(struct fold_lane *lane, struct fold_source *source,
                      const struct job_record *rec, uint64_t now_ns)
{
    const uint8_t *at = rec->mem, *end = at + rec->len_bytes;
    int rc = 0;

    while (rc == 0 && at < end) {
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
        const uint8_t *behind = newline != NULL ? newline + 1 : end;

        rc = piece_put(lane, source, at, (uint32_t)(behind - at), now_ns);
        at = behind;
    }
    return rc;
}

/* Takes the bytes of a record. */
static int record_put(struct fold_lane *lane, struct fold_source *source,
                      const struct job_record *rec, uint64_t now_ns)
{
    struct waiting *it = record_keep(lane, source, rec);
    int rc = it != NULL ? pieces_put(lane, source, rec, now_ns) : OV_ENOMEM;

    if (rc != 0)
        return rc;
    it->has_sum = source->part == NULL;
    it->sum = source->came_sum;
    it->lines = source->came + (source->part != NULL);
    settle(lane, rec->rank);
    return 0;
}

int ep_fold_lane_record(struct fold_lane *lane, const struct job_record *rec,
                        uint64_t now_ns)
{
    struct fold_source *source = &lane->sources[rec->rank];
    int rc = 0;

    source->host = rec->host;
    source->time_ns = rec->time_ns;
    if (rec->len_bytes > 0)
        rc = record_put(lane, source, rec, now_ns);
    if (rc == 0 && rec->is_end)
        rc = ep_fold_lane_end(lane, rec->rank, now_ns);
    return rc;
}

int ep_fold_lane_end(struct fold_lane *lane, uint32_t rank, uint64_t now_ns)
{
    struct fold_source *source = &lane->sources[rank];
    int rc = 0;

    if (source->part != NULL)
        rc = part_end(lane, source, now_ns);
    else if (source->is_direct)
        rc = direct_put(lane, source, NULL, 0, true);
    source->is_direct = false;
    job_fold_end(lane->fold, rank);
    return rc;
}

int ep_fold_lane_finish(struct fold_lane *lane, uint64_t now_ns)
{
    int rc = 0;

    while (rc == 0 && lane->oldest != NULL)
        rc = part_end(lane, lane->oldest, now_ns);
    if (rc == 0 && lane->wholes != NULL)
        rc = wholes_show(lane);
    job_fold_flush(lane->fold);
    return rc;
}

int ep_fold_lane_show(struct fold_lane *lane, uint64_t now_ns)
{
    int rc = 0;

    while (rc == 0 && lane->wholes == NULL && lane->oldest != NULL &&
           !ep_fold_whole_is_busy(&lane->whole) &&
           now_ns - lane->oldest->part_ns >= EP_FOLD_WAIT_NS &&
           ep_fold_out_has_room(&lane->out))
        rc = part_pass(lane, lane->oldest, now_ns);
    return rc == 0 ? show(lane, now_ns, false) : rc;
}

uint64_t ep_fold_lane_deadline(const struct fold_lane *lane)
{
    const uint64_t group_ns = job_fold_deadline(lane->fold);
    const uint64_t part_ns = lane->oldest != NULL && lane->wholes == NULL
                                 ? lane->oldest->part_ns + EP_FOLD_WAIT_NS
                                 : UINT64_MAX;

    return group_ns < part_ns ? group_ns : part_ns;
}

bool ep_fold_lane_has_room(const struct fold_lane *lane)
{
    return ep_fold_out_has_room(&lane->out) &&
           !ep_fold_whole_is_busy(&lane->whole) && !ep_fold_lane_is_full(lane);
}

bool ep_fold_lane_is_empty(const struct fold_lane *lane)
{
    return job_fold_first(lane->fold) == NULL &&
           (lane->oldest == NULL || lane->wholes != NULL) &&
           !ep_fold_whole_is_busy(&lane->whole) &&
           ep_fold_out_is_idle(&lane->out);
}

/* Returns the bytes of all records that are not written. */
static uint64_t records_bytes(const struct fold_lane *lane)
{
    uint64_t bytes = 0;

    for (uint32_t rank = 0; rank < lane->cfg.ranks; rank++) {
        const struct waiting *at = lane->sources[rank].first;

        for (; at != NULL; at = at->next)
            bytes += at->text->len_bytes;
    }
    return bytes;
}

uint64_t ep_fold_lane_waiting(const struct fold_lane *lane)
{
    const struct job_fold_group *at = job_fold_first(lane->fold);
    uint64_t bytes = 0;

    for (; at != NULL; at = at->next)
        bytes += (uint64_t)at->text->len_bytes * at->members.count;
    for (const struct fold_source *it = lane->oldest; it != NULL;
         it = it->newer)
        bytes += it->part_bytes;
    if (lane->wholes != NULL || ep_fold_whole_is_busy(&lane->whole))
        bytes = records_bytes(lane);
    return bytes;
}

/* ---- opening and ending ---- */

int ep_fold_lane_open(struct fold_lane *lane, const struct fold_lane_cfg *cfg)
{
    const struct job_fold_cfg fold = {.ranks = cfg->ranks,
                                      .wait_ns = EP_FOLD_WAIT_NS,
                                      .max_bytes = EP_FOLD_LANE_BYTES};
    struct fold_out_cfg out = {.channel = cfg->channel,
                               .has_hosts = cfg->has_hosts,
                               .style = cfg->style,
                               .plain = cfg->plain,
                               .host_of = host_of,
                               .on_record = on_record,
                               .on_group = on_group,
                               .on_whole = on_whole,
                               .on_piece = on_piece,
                               .arg = lane};

    *lane = (struct fold_lane){.cfg = *cfg};
    lane->sources = calloc(cfg->ranks, sizeof(*lane->sources));
    if (lane->sources == NULL || job_fold_open(&fold, &lane->fold) != 0 ||
        (cfg->how != EP_FOLD_LIVE &&
         job_wholes_open(cfg->ranks, EP_FOLD_WHOLE_BYTES, &lane->wholes) !=
             0)) {
        ep_fold_lane_close(lane);
        return OV_ENOMEM;
    }
    out.fold = lane->fold;
    ep_fold_out_open(&lane->out, &out);
    return 0;
}

static void waiting_free(struct fold_lane *lane)
{
    for (uint32_t rank = 0; rank < lane->cfg.ranks; rank++) {
        struct waiting *at = lane->sources[rank].first, *next;

        for (; at != NULL; at = next) {
            next = at->next;
            job_texts_let_go(&lane->records, at->text);
            free(at);
        }
    }
}

void ep_fold_lane_close(struct fold_lane *lane)
{
    ep_fold_whole_close(&lane->whole);
    job_wholes_close(lane->wholes);
    ep_fold_out_close(&lane->out);
    while (lane->oldest != NULL)
        part_drop(lane, lane->oldest);
    if (lane->sources != NULL)
        waiting_free(lane);
    job_texts_fini(&lane->records);
    job_fold_close(lane->fold);
    free(lane->sources);
    *lane = (struct fold_lane){.fold = NULL};
}
