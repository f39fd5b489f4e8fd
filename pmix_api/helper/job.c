/* The job of this run, and what the library is told of it. */
#include "pmix_api/helper/job.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "overlay/base/err.h"

struct part {
    char *host, *program; /* owned; equal ones of neighbours are one */
    uint32_t first_rank;
    uint32_t ranks;
};

static struct {
    pthread_mutex_t lock;
    pmix_nspace_t nspace;
    uint32_t size, apps, ended;
    uint32_t next_rank;
    struct part *parts; /* [parts_max], ascending ranks */
    uint32_t parts_count, parts_max;
    int32_t *status; /* [size]; -1: it runs */
    uint32_t *pids;  /* [size]; 0: not started */
    char here[256];
} job = {.lock = PTHREAD_MUTEX_INITIALIZER};

int px_job_start(const struct px_start *start)
{
    px_text_copy(start->nspace, job.nspace, sizeof(job.nspace));
    job.size = start->size;
    job.apps = start->apps;
    job.parts_max = start->parts;
    job.parts = calloc((size_t)job.parts_max + 1, sizeof(*job.parts));
    job.status = malloc(((size_t)job.size + 1) * sizeof(*job.status));
    job.pids = calloc((size_t)job.size + 1, sizeof(*job.pids));
    if (gethostname(job.here, sizeof(job.here) - 1) != 0)
        strcpy(job.here, "localhost");
    if (job.parts == NULL || job.status == NULL || job.pids == NULL)
        return OV_ENOMEM;
    memset(job.status, 0xff, job.size * sizeof(*job.status));
    return 0;
}

/* A string of its own, or the one of the part before. */
static char *keep(struct px_text text, char *before)
{
    if (before != NULL && strlen(before) == text.len_bytes &&
        memcmp(before, text.at, text.len_bytes) == 0)
        return before;
    return strndup(text.at, text.len_bytes);
}

int px_job_part(const struct px_part *told)
{
    struct part *part = &job.parts[job.parts_count];
    const struct part none = {.host = NULL};
    const struct part *before = job.parts_count > 0 ? part - 1 : &none;

    if (job.parts_count == job.parts_max || told->first_rank != job.next_rank ||
        told->ranks > job.size - told->first_rank)
        return OV_EPROTO;
    *part = (struct part){
        .host = keep(told->host, before->host),
        .program = keep(told->program, before->program),
        .first_rank = told->first_rank,
        .ranks = told->ranks,
    };
    if (part->host == NULL || part->program == NULL)
        return OV_ENOMEM;
    job.parts_count++;
    job.next_rank += told->ranks;
    return 0;
}

bool px_job_is_whole(void)
{
    return job.size > 0 && job.parts_count == job.parts_max &&
           job.next_rank == job.size;
}

void px_job_exit(uint32_t rank, uint32_t status)
{
    pthread_mutex_lock(&job.lock);
    if (rank < job.size && job.status[rank] < 0) {
        job.status[rank] = (int32_t)(status & INT32_MAX);
        job.ended++;
    }
    pthread_mutex_unlock(&job.lock);
}

void px_job_pids(const struct px_pids *told)
{
    struct ov_rd rd = ov_rd_init(told->mem, 4 * (size_t)told->count);

    pthread_mutex_lock(&job.lock);
    for (uint32_t i = 0; i < told->count; i++) {
        uint32_t pid = ov_rd_u32(&rd);

        if (told->first < job.size && i < job.size - told->first && pid != 0)
            job.pids[told->first + i] = pid;
    }
    pthread_mutex_unlock(&job.lock);
}

const char *px_job_nspace(void)
{
    return job.nspace;
}

uint32_t px_job_size(void)
{
    return job.size;
}

bool px_job_has_ended(void)
{
    bool has_ended;

    pthread_mutex_lock(&job.lock);
    has_ended = job.ended == job.size;
    pthread_mutex_unlock(&job.lock);
    return has_ended;
}

bool px_job_runs(uint32_t rank)
{
    bool runs;

    pthread_mutex_lock(&job.lock);
    runs = job.status[rank] < 0;
    pthread_mutex_unlock(&job.lock);
    return runs;
}

/* --- registration */

struct maps {
    char *hosts, *ranks; /* owned */
    uint32_t hosts_count;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *const *left = a, *const *right = b;
    int order = strcmp((*left)->host, (*right)->host);

    if (order != 0)
        return order;
    return (*left)->first_rank < (*right)->first_rank ? -1 : 1;
}

/* By host, then by rank; the caller frees it. NULL when memory is out. */
static const struct part **sort_parts(void)
{
    const struct part **sorted =
        calloc((size_t)job.parts_count + 1, sizeof(*sorted));

    for (uint32_t i = 0; sorted != NULL && i < job.parts_count; i++)
        sorted[i] = &job.parts[i];
    if (sorted != NULL)
        qsort(sorted, job.parts_count, sizeof(struct part *), compare_parts);
    return sorted;
}

/* "host,host" and "0,1;2,3": who is where, as the library reads it. A host may
 * have several parts, of which neighbours are sorted. */
static void write_maps(const struct part **sorted, FILE *hosts, FILE *ranks,
                       uint32_t *count)
{
    const char *last = NULL;

    for (uint32_t i = 0; i < job.parts_count; i++) {
        const struct part *part = sorted[i];
        bool is_new = last == NULL || strcmp(last, part->host) != 0;

        if (is_new)
            fprintf(hosts, "%s%s", *count > 0 ? "," : "", part->host);
        for (uint32_t k = 0; k < part->ranks; k++)
            fprintf(ranks, "%s%u",
                    k > 0 || !is_new ? "," : (*count > 0 ? ";" : ""),
                    part->first_rank + k);
        *count += is_new;
        last = part->host;
    }
}

/* The strings are the caller's to free, also after an error. */
static int make_maps(struct maps *maps)
{
    const struct part **sorted = sort_parts();
    size_t len;
    FILE *hosts = open_memstream(&maps->hosts, &len);
    FILE *ranks = open_memstream(&maps->ranks, &len);
    bool is_bad = sorted == NULL || hosts == NULL || ranks == NULL;

    if (!is_bad)
        write_maps(sorted, hosts, ranks, &maps->hosts_count);
    if (hosts != NULL && fclose(hosts) != 0)
        is_bad = true;
    if (ranks != NULL && fclose(ranks) != 0)
        is_bad = true;
    free(sorted);
    return is_bad ? OV_ENOMEM : 0;
}

static pmix_status_t give(uint32_t hosts, const char *node_map,
                          const char *proc_map)
{
    enum { INFOS = 8 };
    pmix_info_t info[INFOS];
    pmix_status_t rc;

    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    PMIX_INFO_LOAD(&info[0], PMIX_JOBID, job.nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_UNIV_SIZE, &job.size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &job.size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[3], PMIX_MAX_PROCS, &job.size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[4], PMIX_JOB_NUM_APPS, &job.apps, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[5], PMIX_NUM_NODES, &hosts, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[6], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[7], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    rc = PMIx_server_register_nspace(job.nspace, 0, info, INFOS, NULL, NULL);
    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

pmix_status_t px_job_register(void)
{
    struct maps maps = {.hosts = NULL};
    char *node_map = NULL, *proc_map = NULL;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (make_maps(&maps) == 0)
        rc = PMIx_generate_regex(maps.hosts, &node_map);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn(maps.ranks, &proc_map);
    if (rc == PMIX_SUCCESS)
        rc = give(maps.hosts_count, node_map, proc_map);
    free(node_map);
    free(proc_map);
    free(maps.hosts);
    free(maps.ranks);
    return rc;
}

/* --- places and processes */

const char *px_job_here(void)
{
    return job.here;
}

bool px_job_place(uint32_t index, struct px_place *out)
{
    const struct part *part = &job.parts[index];

    if (index >= job.parts_count)
        return false;
    *out = (struct px_place){part->host, part->program, part->first_rank,
                             part->ranks};
    return true;
}

/* Nodes are numbered as they stand in the map of nodes. */
const char *px_job_host(uint32_t node)
{
    const struct part **sorted = sort_parts();
    const char *host = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; sorted != NULL && i < job.parts_count; i++) {
        if (i > 0 && strcmp(sorted[i]->host, sorted[i - 1]->host) == 0)
            continue;
        if (count++ == node)
            host = sorted[i]->host;
    }
    free(sorted);
    return host;
}

int px_job_exit_code(uint32_t status)
{
    if (WIFSIGNALED((int)status))
        return 128 + WTERMSIG((int)status);
    return WEXITSTATUS((int)status);
}

static pmix_proc_state_t state_of(uint32_t rank)
{
    int32_t status = job.status[rank];

    if (status >= 0)
        return WIFSIGNALED(status) ? PMIX_PROC_STATE_ABORTED_BY_SIG
                                   : PMIX_PROC_STATE_TERMINATED;
    return job.pids[rank] != 0 ? PMIX_PROC_STATE_RUNNING
                               : PMIX_PROC_STATE_LAUNCH_UNDERWAY;
}

void px_job_describe(uint32_t rank, const struct px_place *place,
                     pmix_proc_info_t *out)
{
    PMIX_LOAD_PROCID(&out->proc, job.nspace, rank);
    out->hostname = strdup(place->host);
    out->executable_name = strdup(place->program);
    pthread_mutex_lock(&job.lock);
    out->pid = (pid_t)job.pids[rank];
    out->state = state_of(rank);
    if (job.status[rank] >= 0)
        out->exit_code = px_job_exit_code((uint32_t)job.status[rank]);
    pthread_mutex_unlock(&job.lock);
}
