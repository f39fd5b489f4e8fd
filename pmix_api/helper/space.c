/* What the library is told of a job. */
#include "pmix_api/helper/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/job_impl.h"
#include "pmix_api/helper/kept.h"

enum { INFOS = 8 };

struct maps {
    char *hosts, *ranks; /* owned */
    uint32_t hosts_count;
};

static int compare_parts(const void *a, const void *b)
{
    const struct px_job_part *const *left = a, *const *right = b;
    int order = strcmp((*left)->host, (*right)->host);

    if (order != 0)
        return order;
    return (*left)->first_rank < (*right)->first_rank ? -1 : 1;
}

/* By host, then by rank; the caller frees it. NULL when memory is out. */
static const struct px_job_part **sort_parts(const struct px_job_state *job)
{
    const struct px_job_part **sorted =
        calloc((size_t)job->parts_count + 1, sizeof(*sorted));

    for (uint32_t i = 0; sorted != NULL && i < job->parts_count; i++)
        sorted[i] = &job->parts[i];
    if (sorted != NULL)
        qsort(sorted, job->parts_count, sizeof(struct px_job_part *),
              compare_parts);
    return sorted;
}

/* "host,host" and "0,1;2,3": who is where, as the library reads it. A host may
 * have several parts, of which neighbours are sorted. */
static void write_maps(uint32_t parts, const struct px_job_part **sorted,
                       FILE *hosts, FILE *ranks, uint32_t *count)
{
    const char *last = NULL;

    for (uint32_t i = 0; i < parts; i++) {
        const struct px_job_part *part = sorted[i];
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
static int make_maps(const struct px_job_state *job, struct maps *maps)
{
    const struct px_job_part **sorted = sort_parts(job);
    size_t len;
    FILE *hosts = open_memstream(&maps->hosts, &len);
    FILE *ranks = open_memstream(&maps->ranks, &len);
    bool is_bad = sorted == NULL || hosts == NULL || ranks == NULL;

    if (!is_bad)
        write_maps(job->parts_count, sorted, hosts, ranks, &maps->hosts_count);
    if (hosts != NULL && fclose(hosts) != 0)
        is_bad = true;
    if (ranks != NULL && fclose(ranks) != 0)
        is_bad = true;
    free(sorted);
    return is_bad ? OV_ENOMEM : 0;
}

/* What a registration borrows. */
struct space {
    pmix_info_t info[INFOS];
};

static void fill(struct space *space, const struct px_job_state *job,
                 uint32_t hosts, const char *node_map, const char *proc_map)
{
    const uint32_t *size = &job->name.size;
    pmix_info_t *info = space->info;

    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    PMIX_INFO_LOAD(&info[0], PMIX_JOBID, job->name.nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_UNIV_SIZE, size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[3], PMIX_MAX_PROCS, size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[4], PMIX_JOB_NUM_APPS, &job->apps, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[5], PMIX_NUM_NODES, &hosts, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[6], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[7], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
}

static void end(struct space *space)
{
    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_DESTRUCT(&space->info[i]);
    free(space);
}

static void on_registered(pmix_status_t status, void *arg)
{
    (void)status;
    end(arg);
}

/* NULL when memory is out. */
static struct space *describe(const struct px_job_state *job)
{
    struct space *space = calloc(1, sizeof(*space));
    struct maps maps = {.hosts = NULL};
    char *node_map = NULL, *proc_map = NULL;

    if (space != NULL && make_maps(job, &maps) == 0 &&
        PMIx_generate_regex(maps.hosts, &node_map) == PMIX_SUCCESS &&
        PMIx_generate_ppn(maps.ranks, &proc_map) == PMIX_SUCCESS) {
        fill(space, job, maps.hosts_count, node_map, proc_map);
    } else {
        free(space);
        space = NULL;
    }
    free(node_map);
    free(proc_map);
    free(maps.hosts);
    free(maps.ranks);
    return space;
}

pmix_status_t px_space_register(uint32_t base, bool waits)
{
    const struct px_job_state *job = px_job_state(base);
    struct space *space = describe(job);
    pmix_status_t rc;

    if (space == NULL)
        return PMIX_ERR_NOMEM;
    rc = PMIx_server_register_nspace(job->name.nspace, 0, space->info, INFOS,
                                     waits ? NULL : on_registered, space);
    if (waits || rc != PMIX_SUCCESS)
        end(space);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

static void on_forgotten(pmix_status_t status, void *arg)
{
    (void)status;
    px_job_forget((uint32_t)(uintptr_t)arg);
}

uint32_t px_space_over(uint32_t base)
{
    struct px_job old;
    uint32_t token;

    if (px_job_over(base, &token, &old)) {
        px_kept_forget(old.nspace);
        PMIx_server_deregister_nspace(old.nspace, on_forgotten,
                                      (void *)(uintptr_t)old.base);
    }
    return token;
}

/* Nodes are numbered as they stand in the map of nodes. */
const char *px_space_host(const struct px_job *of, uint32_t node)
{
    const struct px_job_state *job = px_job_state(of->base);
    const struct px_job_part **sorted = job != NULL ? sort_parts(job) : NULL;
    const char *host = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; sorted != NULL && i < job->parts_count; i++) {
        if (i > 0 && strcmp(sorted[i]->host, sorted[i - 1]->host) == 0)
            continue;
        if (count++ == node)
            host = sorted[i]->host;
    }
    free(sorted);
    return host;
}
