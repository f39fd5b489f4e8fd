/* A pull that is registered. */
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/tool/pulls_impl.h"

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

uint8_t px_registration_names(const struct px_registration *pull, uint32_t base,
                              uint32_t rank)
{
    for (size_t i = 0; i < pull->scopes.count; i++) {
        if (pull->scopes.at[i].job.base == base)
            return pull->open[i][rank];
    }
    return 0;
}

bool px_pulls_has(const struct px_pulls *pulls,
                  const struct px_registration *pull)
{
    return pull->number != 0 && !pull->is_stopped && pull->open != NULL &&
           (pull->is_begun || pull->number == pulls->asked);
}

uint8_t px_pulls_pulled(void *arg, uint32_t base, uint32_t rank)
{
    const struct px_pulls *pulls = arg;
    uint8_t channels = 0;

    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        if (px_pulls_has(pulls, &pulls->all[i]))
            channels |= px_registration_names(&pulls->all[i], base, rank);
    }
    return channels;
}
