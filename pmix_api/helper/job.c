/* The jobs of this run, and their processes. */
#include "pmix_api/helper/job.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/failure.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/job_impl.h"
#include "pmix_api/spawn.h"

static struct {
    pthread_mutex_t lock;
    struct px_job_state *list; /* owned; the run's own first */
    char here[256];
    bool is_dvm;   /* the first one is the daemons */
    uint64_t over; /* so far */
} jobs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    pthread_mutex_lock(&jobs.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&jobs.lock);
}

/* --- under the lock */

static struct px_job_state *find(uint32_t number)
{
    struct px_job_state *job = jobs.list;

    while (job != NULL && (number < job->name.base ||
                           number - job->name.base >= job->name.size))
        job = job->next;
    return job;
}

static struct px_job_state *find_name(const char *nspace)
{
    struct px_job_state *job = jobs.list;

    while (job != NULL && strcmp(job->name.nspace, nspace) != 0)
        job = job->next;
    return job;
}

static bool is_whole(const struct px_job_state *job)
{
    return job->parts_count == job->parts_max &&
           job->next_rank == job->name.size;
}

/* --- words of the launcher */

static void free_job(struct px_job_state *job)
{
    for (uint32_t i = 0; job->parts != NULL && i < job->parts_count; i++) {
        const struct px_job_part *part = &job->parts[i];

        if (i == 0 || part->host != part[-1].host)
            free(part->host);
        if (i == 0 || part->program != part[-1].program)
            free(part->program);
    }
    free(job->parts);
    free(job->status);
    free(job->pids);
    free(job->stdin_state);
    free(job);
}

static struct px_job_state *make(const struct px_job_word *told)
{
    struct px_job_state *job = calloc(1, sizeof(*job));

    if (job == NULL)
        return NULL;
    px_text_copy(told->nspace, job->name.nspace, sizeof(job->name.nspace));
    job->name.base = told->base;
    job->name.size = told->size;
    job->name.forwards = told->forwards;
    job->name.cache_bytes = told->cache_bytes;
    job->pull = told->pull;
    job->token = told->token;
    job->apps = told->apps;
    job->parts_max = told->parts;
    job->parts = calloc((size_t)told->parts + 1, sizeof(*job->parts));
    job->status = malloc(((size_t)told->size + 1) * sizeof(*job->status));
    job->pids = calloc((size_t)told->size + 1, sizeof(*job->pids));
    job->stdin_state =
        calloc((size_t)told->size + 1, sizeof(*job->stdin_state));
    if (job->parts == NULL || job->status == NULL || job->pids == NULL ||
        job->stdin_state == NULL) {
        free_job(job);
        return NULL;
    }
    memset(job->status, 0xff, told->size * sizeof(*job->status));
    return job;
}

int px_job_add(const struct px_job_word *told)
{
    struct px_job_state *job = make(told), **at = &jobs.list;
    bool is_new;

    if (job == NULL)
        return OV_ENOMEM;
    lock();
    is_new = find(told->base) == NULL && find_name(job->name.nspace) == NULL;
    while (*at != NULL)
        at = &(*at)->next;
    if (is_new)
        *at = job;
    unlock();
    if (!is_new)
        free_job(job);
    return is_new ? 0 : OV_EPROTO;
}

int px_job_start(const struct px_start *start)
{
    const struct px_job_word own = {
        .size = start->size,
        .apps = start->apps,
        .parts = start->parts,
        .forwards = PX_FORWARD_ALL,
        .cache_bytes = start->cache_bytes,
        .nspace = start->nspace,
    };

    if (gethostname(jobs.here, sizeof(jobs.here) - 1) != 0)
        strcpy(jobs.here, "localhost");
    jobs.is_dvm = start->is_dvm;
    return px_job_add(&own);
}

/* A string of its own, or the one of the part before. */
static char *keep(struct px_text text, char *before)
{
    if (before != NULL && strlen(before) == text.len_bytes &&
        memcmp(before, text.at, text.len_bytes) == 0)
        return before;
    return strndup(text.at, text.len_bytes);
}

static int add_part(struct px_job_state *job, const struct px_part *told)
{
    const struct px_job_part none = {.host = NULL};
    const struct px_job_part *before =
        job->parts_count > 0 ? &job->parts[job->parts_count - 1] : &none;
    uint32_t first = told->first_rank - job->name.base;
    struct px_job_part part;

    if (job->parts_count == job->parts_max || first != job->next_rank ||
        told->ranks > job->name.size - first)
        return OV_EPROTO;
    part = (struct px_job_part){
        .host = keep(told->host, before->host),
        .program = keep(told->program, before->program),
        .first_rank = first,
        .ranks = told->ranks,
    };
    if (part.host == NULL || part.program == NULL)
        return OV_ENOMEM;
    job->parts[job->parts_count++] = part;
    job->next_rank += told->ranks;
    return 0;
}

int px_job_part(const struct px_part *told)
{
    struct px_job_state *job;
    int rc = OV_EPROTO;

    lock();
    job = find(told->first_rank);
    if (job != NULL)
        rc = add_part(job, told);
    unlock();
    return rc;
}

bool px_job_whole_with(const struct px_part *told, struct px_job *out,
                       uint32_t *pull)
{
    const struct px_job_state *job;
    bool is_last;

    lock();
    job = find(told->first_rank);
    is_last = job != NULL && is_whole(job);
    if (is_last) {
        *out = job->name;
        *pull = job->pull;
    }
    unlock();
    return is_last;
}

bool px_job_is_whole(void)
{
    return jobs.list != NULL && jobs.list->name.size > 0 && is_whole(jobs.list);
}

void px_job_exit(uint32_t number, uint32_t status)
{
    struct px_job_state *job;

    lock();
    job = find(number);
    if (job != NULL && job->status[number - job->name.base] < 0) {
        job->status[number - job->name.base] = (int32_t)(status & INT32_MAX);
        job->ended++;
    }
    unlock();
}

void px_job_pids(const struct px_pids *told)
{
    struct ov_rd rd = ov_rd_init(told->mem, 4 * (size_t)told->count);
    struct px_job_state *job;

    lock();
    job = find(told->first);
    for (uint32_t i = 0; job != NULL && i < told->count; i++) {
        uint32_t pid = ov_rd_u32(&rd), rank = told->first - job->name.base;

        if (i < job->name.size - rank && pid != 0)
            job->pids[rank + i] = pid;
    }
    unlock();
}

void px_job_set_wish(uint32_t base, const struct px_wish *wish)
{
    struct px_job_state *job;

    lock();
    job = find(base);
    if (job != NULL)
        job->wish = *wish;
    unlock();
}

void px_job_wish(uint32_t number, struct px_wish *out)
{
    const struct px_job_state *job;

    lock();
    job = find(number);
    *out = job != NULL ? job->wish : (struct px_wish){.copies = false};
    unlock();
}

void px_job_set_spawner(uint32_t base, const void *tool,
                        const pmix_proc_t *name)
{
    struct px_job_state *job;

    lock();
    job = find(base);
    if (job != NULL) {
        job->spawner = tool;
        job->spawner_name = *name;
    }
    unlock();
}

void px_job_leave(const pmix_proc_t *name)
{
    lock();
    for (struct px_job_state *job = jobs.list; job != NULL; job = job->next) {
        if (job->spawner != NULL && PMIX_CHECK_PROCID(&job->spawner_name, name))
            job->spawner = NULL;
    }
    unlock();
}

bool px_job_at(uint32_t number, const void *tool, struct px_job *out,
               bool *is_spawner)
{
    const struct px_job_state *job;

    lock();
    job = find(number);
    if (job != NULL) {
        *out = job->name;
        *is_spawner = job->spawner != NULL && job->spawner == tool;
    }
    unlock();
    return job != NULL;
}

/* What was closed by a push stays so. */
static void set_stdin(uint32_t first, uint32_t last,
                      enum px_job_stdin_state state)
{
    lock();
    for (struct px_job_state *job = jobs.list; job != NULL; job = job->next) {
        uint32_t base = job->name.base;

        for (uint32_t rank = first > base ? first - base : 0;
             rank < job->name.size && base + rank <= last; rank++) {
            if (job->stdin_state[rank] != PX_JOB_STDIN_CLOSED)
                job->stdin_state[rank] = (uint8_t)state;
        }
    }
    unlock();
}

void px_job_stdin(uint32_t first, uint32_t last, bool is_open)
{
    set_stdin(first, last, is_open ? PX_JOB_STDIN_THERE : PX_JOB_STDIN_NONE);
}

void px_job_close_stdin(uint32_t first, uint32_t last)
{
    set_stdin(first, last, PX_JOB_STDIN_CLOSED);
}

void px_job_set_full(uint32_t base, bool is_full)
{
    struct px_job_state *job;

    lock();
    job = find(base);
    if (job != NULL)
        job->is_full = is_full;
    unlock();
}

/* --- ended ones */

/* The one that has been over for longest, where there are more than are kept;
 * NULL: all may stay. */
static struct px_job_state *oldest_over(void)
{
    struct px_job_state *oldest = NULL;
    uint32_t count = 0;

    for (struct px_job_state *job = jobs.list; job != NULL; job = job->next) {
        if (job->over_nth == 0)
            continue;
        count++;
        if (oldest == NULL || job->over_nth < oldest->over_nth)
            oldest = job;
    }
    return count > JOBS_OVER_MAX ? oldest : NULL;
}

bool px_job_over(uint32_t base, uint32_t *token, struct px_job *forget)
{
    struct px_job_state *job;

    lock();
    job = find(base);
    *token = job != NULL ? job->token : 0;
    if (job != NULL && job->name.base > 0 && job->over_nth == 0)
        job->over_nth = ++jobs.over;
    job = oldest_over();
    if (job != NULL) {
        *forget = job->name;
        job->over_nth = 0; /* it is chosen once */
    }
    unlock();
    return job != NULL;
}

void px_job_forget(uint32_t base)
{
    struct px_job_state **at = &jobs.list, *job;

    lock();
    while (*at != NULL && (*at)->name.base != base)
        at = &(*at)->next;
    job = *at;
    if (job != NULL)
        *at = job->next;
    unlock();
    if (job != NULL)
        free_job(job);
}

/* --- names */

const char *px_job_own(void)
{
    return jobs.list->name.nspace;
}

uint32_t px_job_own_size(void)
{
    return jobs.list->name.size;
}

bool px_job_find(const char *nspace, struct px_job *out)
{
    const struct px_job_state *job;
    bool is_there;

    lock();
    job = find_name(nspace);
    is_there = job != NULL && is_whole(job);
    if (is_there)
        *out = job->name;
    unlock();
    return is_there;
}

bool px_job_next(struct px_job *job)
{
    const struct px_job_state *next;

    lock();
    next = jobs.list;
    while (next != NULL &&
           (!is_whole(next) || (job->size > 0 && next->name.base <= job->base)))
        next = next->next;
    if (next != NULL)
        *job = next->name;
    unlock();
    return next != NULL;
}

bool px_job_next_listed(struct px_job *job)
{
    bool is_hidden = jobs.is_dvm && job->size == 0;

    return px_job_next(job) && (!is_hidden || px_job_next(job));
}

bool px_job_is_daemons(const struct px_job *job)
{
    return jobs.is_dvm && job->base == 0;
}

bool px_job_of_token(uint32_t token, struct px_job *out)
{
    const struct px_job_state *job;

    lock();
    job = jobs.list;
    while (job != NULL && (job->token != token || token == 0))
        job = job->next;
    if (job != NULL)
        *out = job->name;
    unlock();
    return job != NULL;
}

bool px_job_name(uint32_t number, pmix_proc_t *out)
{
    const struct px_job_state *job;

    lock();
    job = find(number);
    if (job != NULL)
        PMIX_LOAD_PROCID(out, job->name.nspace, number - job->name.base);
    unlock();
    return job != NULL;
}

bool px_job_has_ended(uint32_t base)
{
    const struct px_job_state *job;
    bool has_ended;

    lock();
    job = find(base);
    has_ended = job == NULL || job->ended == job->name.size;
    unlock();
    return has_ended;
}

uint32_t px_job_count_failed(uint32_t base)
{
    const struct px_job_state *job;
    uint32_t failed = 0;

    lock();
    job = find(base);
    for (uint32_t rank = 0; job != NULL && rank < job->name.size; rank++)
        failed += job->status[rank] > 0;
    unlock();
    return failed;
}

bool px_job_can_take(uint32_t number)
{
    const struct px_job_state *job;
    bool can;

    lock();
    job = find(number);
    can = job != NULL &&
          job->stdin_state[number - job->name.base] == PX_JOB_STDIN_THERE &&
          job->status[number - job->name.base] < 0;
    unlock();
    return can;
}

bool px_job_is_full(uint32_t first, uint32_t last)
{
    bool is_it = false;

    lock();
    for (const struct px_job_state *job = jobs.list; job != NULL && !is_it;
         job = job->next)
        is_it = job->is_full && job->name.base <= last &&
                first <= job->name.base + job->name.size - 1;
    unlock();
    return is_it;
}

bool px_job_is_one(uint32_t first, uint32_t last)
{
    bool is_it;

    lock();
    is_it = find(first) == find(last);
    unlock();
    return is_it;
}

/* --- places and processes */

const struct px_job_state *px_job_state(uint32_t base)
{
    const struct px_job_state *job;

    lock();
    job = find(base);
    unlock();
    return job;
}

const char *px_job_here(void)
{
    return jobs.here;
}

bool px_job_place(const struct px_job *job, uint32_t index,
                  struct px_place *out)
{
    const struct px_job_state *state = px_job_state(job->base);
    const struct px_job_part *part;

    if (state == NULL || index >= state->parts_count)
        return false;
    part = &state->parts[index];
    *out = (struct px_place){part->host, part->program, part->first_rank,
                             part->ranks};
    return true;
}

static pmix_proc_state_t state_of(const struct px_job_state *job, uint32_t rank)
{
    int32_t status = job->status[rank];

    if (status >= 0)
        return WIFSIGNALED(status) ? PMIX_PROC_STATE_ABORTED_BY_SIG
                                   : PMIX_PROC_STATE_TERMINATED;
    /* Nobody can ask before the daemons run; they do not tell their pids. */
    return job->pids[rank] != 0 || px_job_is_daemons(&job->name)
               ? PMIX_PROC_STATE_RUNNING
               : PMIX_PROC_STATE_LAUNCH_UNDERWAY;
}

void px_job_describe(const struct px_job *job, uint32_t rank,
                     const struct px_place *place, pmix_proc_info_t *out)
{
    const struct px_job_state *state;

    PMIX_LOAD_PROCID(&out->proc, job->nspace, rank);
    out->hostname = strdup(place->host);
    out->executable_name = strdup(place->program);
    lock();
    state = find(job->base);
    if (state != NULL) {
        out->pid = (pid_t)state->pids[rank];
        out->state = state_of(state, rank);
        if (state->status[rank] >= 0)
            out->exit_code = job_failure_code(state->status[rank]);
    }
    unlock();
}
