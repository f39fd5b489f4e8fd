/* The text of a job: an accepted text places each rank once, and is the same
 * after it was written and read again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/job.h"
#include "overlay/base/err.h"

enum { RANKS_LOOKED_AT = 100 };

static int read_copy(const char *mem, size_t len_bytes, struct job *job)
{
    char *copy = malloc(len_bytes > 0 ? len_bytes : 1);
    int rc;

    FUZZ_CHECK(copy != NULL);
    memcpy(copy, mem, len_bytes);
    rc = job_decode(copy, len_bytes, job);
    free(copy);
    return rc;
}

static void check_rank(const struct job *job, uint32_t rank)
{
    struct job_part part = {0};
    uint32_t app = TOPO_NONE, before = 0;
    uint32_t node = job_node_of(job, rank, &app);

    FUZZ_CHECK(node != TOPO_NONE && node > 0 && app < job->apps_count);
    while (job_next_on_node(job, node, &part) && part.app < app)
        before += part.count;
    FUZZ_CHECK(part.app == app);
    FUZZ_CHECK(rank >= part.first_rank && rank - part.first_rank < part.count);
    FUZZ_CHECK(job_on_node(job, node) >= before + part.count);
}

static void check_job(const struct job *job)
{
    FUZZ_CHECK(job->size > 0 && job->apps_count > 0);
    for (uint32_t i = 0; i < job->apps_count; i++) {
        const struct job_app *app = &job->apps[i];
        const char **env = job_app_env(job, i);

        FUZZ_CHECK(app->argv.count > 0);
        FUZZ_CHECK(app->argv.at[app->argv.count] == NULL);
        FUZZ_CHECK(env != NULL);
        free(env);
    }
    for (uint32_t i = 0; i < RANKS_LOOKED_AT && i < job->size; i++) {
        check_rank(job, i);
        check_rank(job, job->size - 1 - i);
    }
    FUZZ_CHECK(job_node_of(job, job->size, NULL) == TOPO_NONE);
    FUZZ_CHECK(!job_reads(job, job->size));
    for (uint32_t i = 0; i < job->readers_count; i++) {
        FUZZ_CHECK(job_reads(job, job->readers[i].first));
        FUZZ_CHECK(job_reads(job, job->readers[i].last));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct text_buf text = {0}, same = {0};
    struct job job, again;
    int rc = read_copy((const char *)mem, len_bytes, &job);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0) {
        FUZZ_CHECK(job.apps == NULL && job.size == 0);
        return 0;
    }
    check_job(&job);
    job_encode(&job, &text);
    FUZZ_CHECK(!text.bad);
    FUZZ_CHECK(read_copy(text.at, text.len_bytes, &again) == 0);
    job_encode(&again, &same);
    FUZZ_CHECK(!same.bad && strcmp(text.at, same.at) == 0);
    job_fini(&job);
    job_fini(&again);
    text_buf_fini(&text);
    text_buf_fini(&same);
    return 0;
}
