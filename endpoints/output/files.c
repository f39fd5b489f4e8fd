/* Gathers records by file, and hands them to the thread in batches. */
#include "config.h"

#include "endpoints/output/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <event2/event.h>

#include "endpoints/console/console.h"
#include "endpoints/output/file_set.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { OPEN_MAX = 256, OPEN_MIN = 4, BUCKETS_MIN = 64 };

enum task { TASK_WRITE, TASK_FINISH };

struct ep_files {
    struct ep_files_cfg cfg;
    struct ep_file_set set; /* used by the thread while is_busy */
    struct ep_sink *sink;   /* NULL after ep_files_give_up */
    struct event *deliver;
    struct ep_file **buckets; /* owned */
    uint32_t buckets_count;   /* a power of two */
    uint32_t files_count;
    struct ep_file *due_first; /* files that have records for the next batch */
    struct ep_file *due_last;
    struct ep_file *work; /* the batch that the thread writes */
    struct ep_file_item *free;
    /* records for which on_taken is to be called */
    struct ep_file_list dropped;
    uint64_t pending;
    uint64_t dropped_bytes;
    uint64_t seen_progress, seen_ns; /* values at the last ep_files_is_stuck */
    bool is_shared;
    bool is_busy; /* the thread is writing a batch */
    bool is_finishing, is_finished;
    bool is_dead; /* after an error: everything is dropped */
    bool is_error_told;
    bool is_drain_due; /* on_drained is to be called */
};

/* ---- lists and tables ---- */

static void list_put(struct ep_file_list *list, struct ep_file_item *item)
{
    item->next = NULL;
    if (list->last != NULL)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
}

static struct ep_file_item *list_get(struct ep_file_list *list)
{
    struct ep_file_item *item = list->first;

    if (item == NULL)
        return NULL;
    list->first = item->next;
    if (list->first == NULL)
        list->last = NULL;
    return item;
}

static uint32_t hash_of(const struct ep_files *files, uint32_t proc,
                        uint8_t channel, const char *path)
{
    uint32_t hash =
        (proc * TEXT_CHANNELS + channel) * UINT32_C(2654435761) >> 8;

    if (path != NULL) {
        for (hash = 2166136261u; *path != '\0'; path++)
            hash = (hash ^ (uint8_t)*path) * 16777619u;
    }
    return hash & (files->buckets_count - 1);
}

static uint32_t hash_again(const struct ep_files *files,
                           const struct ep_file *file)
{
    return hash_of(files, file->proc, file->origin.channel, file->path);
}

static bool table_grow(struct ep_files *files)
{
    const uint32_t count =
        files->buckets_count == 0 ? BUCKETS_MIN : files->buckets_count * 2;
    struct ep_file **old = files->buckets;
    const uint32_t old_count = files->buckets_count;
    struct ep_file *next;

    files->buckets = calloc(count, sizeof(struct ep_file *));
    if (files->buckets == NULL) {
        files->buckets = old;
        return false;
    }
    files->buckets_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        for (struct ep_file *at = old[i]; at != NULL; at = next) {
            struct ep_file **to = &files->buckets[hash_again(files, at)];

            next = at->next;
            at->next = *to;
            *to = at;
        }
    }
    free(old);
    return true;
}

static bool is_file_of(const struct ep_file *file, uint32_t proc,
                       uint8_t channel, const char *path)
{
    if (path != NULL)
        return strcmp(file->path, path) == 0;
    return file->proc == proc && file->origin.channel == channel;
}

/* Finds the file of a record, or makes it; returns NULL when memory is out. */
static struct ep_file *file_get(struct ep_files *files,
                                const struct text_origin *from, uint32_t proc)
{
    char text[PATH_MAX];
    const char *path = NULL;
    struct ep_file *file;
    uint32_t at;

    if (files->is_shared) {
        path = text;
        if (ep_names_path(&files->cfg.names, from, text, sizeof(text)))
            /* When it is too long, opening it gives the error. */
            text[sizeof(text) - 1] = '\0';
    }
    if (files->files_count >= files->buckets_count && !table_grow(files))
        return NULL;
    at = hash_of(files, proc, from->channel, path);
    for (file = files->buckets[at]; file != NULL; file = file->next) {
        if (is_file_of(file, proc, from->channel, path))
            return file;
    }
    file = calloc(1, sizeof(*file));
    if (file == NULL || (path != NULL && (file->path = strdup(path)) == NULL)) {
        free(file);
        return NULL;
    }
    file->origin = *from;
    file->proc = proc;
    file->fd = -1;
    file->next = files->buckets[at];
    files->buckets[at] = file;
    files->files_count++;
    return file;
}

/* ---- in the thread ---- */

static int task_write(void *arg)
{
    struct ep_files *files = arg;

    for (struct ep_file *at = files->work; at != NULL; at = at->next_work) {
        if (!ep_file_write(&files->set, at))
            break;
    }
    return 0;
}

static int task_finish(void *arg)
{
    struct ep_files *files = arg;

    for (uint32_t i = 0; i < files->buckets_count; i++) {
        for (struct ep_file *at = files->buckets[i]; at != NULL;
             at = at->next) {
            if (!ep_file_finish(&files->set, at))
                return 0;
        }
    }
    return 0;
}

/* ---- batches ---- */

static void item_free(struct ep_files *files, struct ep_file_item *item)
{
    item->next = files->free;
    files->free = item;
    OV_ASSERT(files->pending > 0);
    files->pending--;
}

static void item_answer(struct ep_files *files, struct ep_file_item *item)
{
    const struct ep_files_cfg *cfg = &files->cfg;
    const uint64_t cookie = item->cookie;

    if (!item->is_written)
        files->dropped_bytes += item->len_bytes;
    else if (item->len_bytes > 0)
        cfg->events->on_written(cfg->arg, item->proc, item->origin.channel,
                                item->mem, item->len_bytes);
    item_free(files, item);
    cfg->events->on_taken(cfg->arg, cookie);
}

static void work_answer(struct ep_files *files)
{
    struct ep_file *file = files->work;

    files->work = NULL;
    while (file != NULL) {
        struct ep_file *next = file->next_work;
        struct ep_file_item *item;

        while ((item = list_get(&file->work)) != NULL)
            item_answer(files, item);
        file = next;
    }
}

static void drop_list(struct ep_files *files, struct ep_file_list *list)
{
    struct ep_file_item *item;

    while ((item = list_get(list)) != NULL)
        list_put(&files->dropped, item);
}

/* Drops all records that wait for the next batch. */
static void drop_due(struct ep_files *files)
{
    files->is_dead = true;
    for (struct ep_file *at = files->due_first; at != NULL; at = at->next_due)
        drop_list(files, &at->due);
    files->due_first = files->due_last = NULL;
    event_active(files->deliver, 0, 0);
}

/* Drops the batch that the thread was to write. on_taken is called later, as
 * this may happen within ep_files_record. */
static void drop_work(struct ep_files *files)
{
    for (struct ep_file *at = files->work; at != NULL; at = at->next_work)
        drop_list(files, &at->work);
    files->work = NULL;
}

static void task_start(struct ep_files *files, enum task task)
{
    if (ep_sink_call(files->sink, task == TASK_WRITE ? task_write : task_finish,
                     files, task) == 0) {
        files->is_busy = true;
        return;
    }
    files->set.err = EAGAIN; /* there is no thread */
    strcpy(files->set.why, "cannot write output files: no more threads");
    drop_work(files);
    drop_due(files);
}

static void batch_start(struct ep_files *files)
{
    if (files->is_busy || files->is_dead)
        return;
    if (files->due_first == NULL) {
        if (files->is_finishing && !files->is_finished)
            task_start(files, TASK_FINISH);
        return;
    }
    files->work = files->due_first;
    for (struct ep_file *at = files->due_first; at != NULL; at = at->next_due) {
        at->work = at->due;
        at->due = (struct ep_file_list){.first = NULL};
        at->next_work = at->next_due;
    }
    files->due_first = files->due_last = NULL;
    task_start(files, TASK_WRITE);
}

static void on_task(void *arg, uint64_t task)
{
    struct ep_files *files = arg;

    files->is_busy = false;
    if (task == TASK_FINISH)
        files->is_finished = true;
    work_answer(files);
    if (files->set.err != 0)
        drop_due(files);
    batch_start(files);
    if (files->pending == 0)
        event_active(files->deliver, 0, 0);
}

/* True when on_error can be called: the thread no longer changes the error. */
static bool is_error_due(const struct ep_files *files)
{
    return files->is_dead && !files->is_error_told && files->sink != NULL;
}

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
    struct ep_files *files = arg;
    const struct ep_files_cfg *cfg = &files->cfg;
    struct ep_file_item *item;

    (void)fd;
    (void)what;
    if (is_error_due(files)) {
        files->is_error_told = true;
        cfg->events->on_error(cfg->arg, files->set.err, files->set.why);
    }
    while ((item = list_get(&files->dropped)) != NULL)
        item_answer(files, item);
    if (files->is_drain_due && ep_files_pending(files) == 0) {
        files->is_drain_due = false;
        cfg->events->on_drained(cfg->arg);
    }
}

/* ---- the calls ---- */

static const struct ep_sink_events sink_events = {.on_written = on_task};

uint32_t ep_files_open_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 >= OPEN_MAX)
        return OPEN_MAX;
    return limit.rlim_cur / 4 < OPEN_MIN ? OPEN_MIN
                                         : (uint32_t)(limit.rlim_cur / 4);
}

/* Makes the directory that comes before the first per cent sign, so that it
 * exists before the job begins. */
static int make_start(const struct ep_names *names)
{
    char path[PATH_MAX];
    size_t len;

    if (names->kind == EP_NAMES_EXACT)
        return 0; /* an exact name often has no directory to be made */
    len = names->kind == EP_NAMES_PATTERN ? strcspn(names->text, "%")
                                          : strlen(names->text);
    if (len + 2 > sizeof(path))
        return ENAMETOOLONG;
    memcpy(path, names->text, len);
    path[len] = '\0';
    if (names->kind == EP_NAMES_DIR)
        strcpy(path + len, "/");
    return ep_file_make_dirs(path);
}

int ep_files_open(const struct ep_files_cfg *cfg, struct ep_files **out)
{
    struct ep_files *files;
    int rc = make_start(&cfg->names);

    if (rc != 0) {
        errno = rc;
        return OV_ESYS;
    }
    files = calloc(1, sizeof(*files));
    if (files == NULL)
        return OV_ENOMEM;
    files->cfg = *cfg;
    files->is_shared = ep_names_is_shared(&cfg->names);
    files->deliver = event_new(cfg->base, -1, 0, on_deliver, files);
    if (files->deliver == NULL)
        rc = OV_ENOMEM;
    if (rc == 0)
        rc = ep_file_set_init(&files->set, &cfg->names, cfg->is_raw,
                              cfg->open_max > 0 ? cfg->open_max
                                                : ep_files_open_limit());
    if (rc == 0)
        rc = ep_sink_open(cfg->writer, -1, &sink_events, files, &files->sink);
    if (rc != 0) {
        ep_files_close(files);
        return rc;
    }
    *out = files;
    return 0;
}

int ep_files_record(struct ep_files *files, const struct job_record *rec)
{
    const struct text_origin origin = {
        .style = &files->cfg.style,
        .host = rec->host,
        .time_ns = rec->time_ns,
        .rank = rec->rank,
        .channel = rec->channel,
    };
    struct ep_file_item *item = files->free;
    /* While files are finished, the thread uses the table. */
    const bool is_late = files->is_dead || files->is_finishing;
    struct ep_file *file = NULL;

    if (!is_late && (file = file_get(files, &origin, rec->proc)) == NULL)
        return OV_ENOMEM;
    if (item != NULL)
        files->free = item->next;
    else if ((item = malloc(sizeof(*item))) == NULL)
        return OV_ENOMEM;
    *item = (struct ep_file_item){
        .origin = origin,
        .mem = rec->mem,
        .cookie = rec->cookie,
        .proc = rec->proc,
        .len_bytes = rec->len_bytes,
        .is_eof = rec->is_end,
    };
    files->pending++;
    files->is_drain_due = true;
    if (is_late) {
        list_put(&files->dropped, item);
        event_active(files->deliver, 0, 0);
        return 0;
    }
    if (file->due.first == NULL) {
        file->next_due = NULL;
        if (files->due_last != NULL)
            files->due_last->next_due = file;
        else
            files->due_first = file;
        files->due_last = file;
    }
    list_put(&file->due, item);
    batch_start(files);
    return 0;
}

void ep_files_finish(struct ep_files *files)
{
    if (files->is_finishing)
        return;
    files->is_finishing = true;
    files->is_drain_due = true;
    batch_start(files);
    event_active(files->deliver, 0, 0);
}

uint64_t ep_files_pending(const struct ep_files *files)
{
    const bool is_owed =
        files->is_finishing && !files->is_finished && !files->is_dead;

    return files->pending + is_owed + is_error_due(files);
}

bool ep_files_is_stuck(struct ep_files *files, uint64_t *since_ns)
{
    uint64_t progress;

    if (!files->is_busy) {
        files->seen_ns = 0;
        return false;
    }
    progress = atomic_load_explicit(&files->set.progress, memory_order_relaxed);
    if (files->seen_ns == 0 || progress != files->seen_progress) {
        files->seen_ns = ep_clock_ns();
        files->seen_progress = progress;
        return false;
    }
    *since_ns = files->seen_ns;
    return true;
}

void ep_files_give_up(struct ep_files *files)
{
    if (files->sink == NULL)
        return;
    atomic_store(&files->set.is_given_up, true);
    if (!ep_sink_close(files->sink, true)) {
        /* The thread does not come back, so memory that it uses is not
         * freed. */
        files->is_busy = true;
        files->sink = NULL;
        drop_due(files);
        return;
    }
    files->sink = NULL;
    files->is_busy = false;
    work_answer(files);
    drop_due(files);
}

uint64_t ep_files_dropped(const struct ep_files *files)
{
    return files->dropped_bytes;
}

static void tables_free(struct ep_files *files)
{
    struct ep_file_item *item;

    for (uint32_t i = 0; i < files->buckets_count; i++) {
        struct ep_file *next;

        for (struct ep_file *at = files->buckets[i]; at != NULL; at = next) {
            next = at->next;
            while ((item = list_get(&at->due)) != NULL)
                free(item);
            while ((item = list_get(&at->work)) != NULL)
                free(item);
            free(at->path);
            free(at);
        }
    }
    while ((item = list_get(&files->dropped)) != NULL)
        free(item);
    while ((item = files->free) != NULL) {
        files->free = item->next;
        free(item);
    }
    free(files->buckets);
}

void ep_files_close(struct ep_files *files)
{
    bool is_free = true;

    if (files == NULL)
        return;
    atomic_store(&files->set.is_given_up, true);
    if (files->sink != NULL)
        is_free = ep_sink_close(files->sink, true);
    else
        is_free = !files->is_busy;
    if (files->deliver != NULL)
        event_free(files->deliver);
    if (!is_free)
        return; /* the thread still uses this memory */
    ep_file_set_fini(&files->set);
    tables_free(files);
    free(files);
}
