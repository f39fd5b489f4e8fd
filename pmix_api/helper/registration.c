/* Decides about a pull of the tool, and keeps what it wants. */
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/history.h"
#include "pmix_api/helper/pulls_impl.h"

enum { OUTPUT = PX_LIB_STDOUT | PX_LIB_STDERR | PX_LIB_STDDIAG };

/* --- judging */

/* True when libpmix can match output to these names: each has the rank of a
 * process, or the rank that means all. libpmix knows no other rank for several
 * processes. */
static bool are_names(const struct px_pulls *pulls,
                      const struct px_lib_pull *asked)
{
    for (size_t i = 0; i < asked->count; i++) {
        const uint32_t rank = asked->targets[i].rank;

        if (rank != PX_LIB_LOCAL_NODE && rank != PX_LIB_LOCAL_PEERS)
            continue;
        px_jobs_note(pulls->cfg.jobs,
                     "a pull was refused: PMIX_RANK_LOCAL_%s cannot be pulled: "
                     "name ranks, or all",
                     rank == PX_LIB_LOCAL_NODE ? "NODE" : "PEERS");
        return false;
    }
    return true;
}

/* The name of the directive that a spawn needs so that one of these channels
 * can be pulled. */
static const char *name_forward(unsigned channels)
{
    if ((channels & PX_LIB_STDOUT) != 0)
        return "PMIX_FWD_STDOUT";
    return (channels & PX_LIB_STDERR) != 0 ? "PMIX_FWD_STDERR"
                                           : "PMIX_FWD_STDDIAG";
}

/* True when the jobs forward all these channels. A job may have been started
 * without some of them, and daemons have none. */
static bool are_forwarded(const struct px_pulls *pulls,
                          const struct px_scopes *scopes, unsigned channels)
{
    for (size_t i = 0; i < scopes->count; i++) {
        const struct px_jobs_entry *job = &scopes->at[i].job;
        const unsigned missing = channels & OUTPUT & ~(unsigned)job->channels;

        if (job->is_dvm)
            px_jobs_note(pulls->cfg.jobs,
                         "a pull was refused: %s is this dvm, whose daemons "
                         "have no output",
                         job->name);
        else if (missing != 0)
            px_jobs_note(pulls->cfg.jobs,
                         "a pull was refused: %s was not started with %s",
                         job->name, name_forward(missing));
        if (job->is_dvm || missing != 0)
            return false;
    }
    return true;
}

enum px_lib_answer px_pulls_judge(const struct px_pulls *pulls,
                                  const struct px_lib_pull *asked,
                                  struct px_scopes *scopes)
{
    enum px_lib_answer answer;

    if (asked->wish.strange != NULL) {
        px_jobs_note(pulls->cfg.jobs, "a pull was refused: %s is not supported",
                     asked->wish.strange);
        return PX_LIB_NOT_SUPPORTED;
    }
    if (asked->wish.is_bad || (asked->channels & OUTPUT) == 0)
        return PX_LIB_BAD_PARAM;
    if (!are_names(pulls, asked))
        return PX_LIB_NOT_SUPPORTED;
    answer =
        px_scopes_find(pulls->cfg.jobs, asked->targets, asked->count, scopes);
    if (answer == PX_LIB_YES &&
        !are_forwarded(pulls, scopes, asked->channels)) {
        px_scopes_end(scopes);
        answer = PX_LIB_NOT_SUPPORTED;
    }
    return answer;
}

/* --- the channels that a pull wants */

void px_registration_end(struct px_registration *pull)
{
    for (size_t i = 0; pull->open != NULL && i < pull->scopes.count; i++)
        free(pull->open[i]);
    free(pull->open);
    px_scopes_end(&pull->scopes);
    *pull = (struct px_registration){.number = 0};
}

static int want(struct px_registration *pull, size_t nth, uint8_t channels)
{
    const struct px_scope *scope = &pull->scopes.at[nth];

    pull->open[nth] = calloc(scope->job.size, 1);
    if (pull->open[nth] == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < scope->ranks.count; i++) {
        const struct topo_range *range = &scope->ranks.items[i];

        memset(pull->open[nth] + range->first, channels,
               range->last - range->first + 1);
    }
    pull->open_count += (uint64_t)topo_ranges_size(&scope->ranks) *
                        (unsigned)__builtin_popcount(channels);
    return 0;
}

int px_registration_want(struct px_registration *pull, uint16_t channels)
{
    int rc = 0;

    pull->open = calloc(pull->scopes.count, sizeof(*pull->open));
    if (pull->open == NULL)
        return OV_ENOMEM;
    for (size_t i = 0; rc == 0 && i < pull->scopes.count; i++)
        rc = want(pull, i, (uint8_t)channels & pull->scopes.at[i].job.channels);
    return rc;
}

struct px_lib_wish px_registration_wish(const struct px_registration *pull,
                                        const struct px_jobs_entry *job)
{
    const struct px_lib_wish *own = &pull->wish;
    struct px_lib_wish wish = job->wish;

    wish.copies = own->copies;
    if (own->has_drops)
        wish.drops_oldest = own->drops_oldest;
    if (own->has_cache)
        wish.cache_bytes = own->cache_bytes;
    wish.has_cache |= own->has_cache;
    if (own->has_buffer)
        wish.buffer_bytes = own->buffer_bytes;
    if (own->has_time)
        wish.buffer_s = own->buffer_s;
    return wish;
}

uint8_t px_registration_names(const struct px_registration *pull, uint32_t base,
                              uint32_t rank)
{
    for (size_t i = 0; i < pull->scopes.count; i++) {
        if (pull->scopes.at[i].job.base == base)
            return pull->open[i][rank];
    }
    return 0;
}

bool px_pulls_has(const struct px_registration *pull)
{
    return pull->number != 0 && pull->is_begun && !pull->is_stopped;
}

uint8_t px_pulls_pulled(void *arg, uint32_t base, uint32_t rank)
{
    const struct px_pulls *pulls = arg;
    uint8_t channels = 0;

    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        if (px_pulls_has(&pulls->all[i]))
            channels |= px_registration_names(&pulls->all[i], base, rank);
    }
    return channels;
}

uint64_t px_pulls_since(void *arg, uint32_t base, uint32_t rank,
                        uint8_t channel)
{
    const struct px_pulls *pulls = arg;
    uint64_t since = UINT64_MAX;

    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        const struct px_registration *pull = &pulls->all[i];

        if (px_pulls_has(pull) && pull->since < since &&
            (px_registration_names(pull, base, rank) & channel) != 0)
            since = pull->since;
    }
    return since != UINT64_MAX ? since : 0;
}

static int claim_job(const struct px_registration *pull, size_t nth,
                     struct px_pulls *pulls)
{
    const struct px_jobs_entry *job = &pull->scopes.at[nth].job;
    struct px_history_claim claim = {
        .owner = pull->number,
        .max_bytes = pull->wish.has_cache ? pull->wish.cache_bytes : 0,
        .is_last = px_registration_wish(pull, job).drops_oldest,
    };
    int rc = 0;

    for (; rc == 0 && claim.rank < job->size; claim.rank++) {
        claim.channels =
            pull->open[nth][claim.rank] &
            px_forward_covers(pulls->forwards, job->base, claim.rank);
        if (claim.channels != 0)
            claim.channels &=
                (uint8_t)~px_pulls_pulled(pulls, job->base, claim.rank);
        if (claim.channels != 0)
            rc = px_forward_claim(pulls->forwards, job->base, &claim);
    }
    return rc;
}

int px_registration_claim(const struct px_registration *pull,
                          struct px_pulls *pulls)
{
    int rc = 0;

    for (size_t nth = 0; rc == 0 && nth < pull->scopes.count; nth++)
        rc = claim_job(pull, nth, pulls);
    return rc;
}
