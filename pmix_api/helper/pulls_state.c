/* Reports the state of the tool's pulls. */
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/pulls_impl.h"

struct px_registration *px_pulls_find(struct px_pulls *pulls, uint32_t number)
{
    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        if (pulls->all[i].number == number)
            return &pulls->all[i];
    }
    return NULL;
}

static bool is_due(struct px_pulls *pulls, const struct px_source *source,
                   uint32_t base)
{
    const struct px_registration *pull =
        px_pulls_find(pulls, px_source_owner(source));

    return (base == PX_PULLS_ANY || px_source_base(source) == base) &&
           !(pull != NULL && pull->is_stopped) && !px_source_is_over(source);
}

bool px_pulls_are_due(struct px_pulls *pulls, uint32_t base)
{
    bool are = px_forward_is_open(pulls->forwards, base);

    for (unsigned i = 0; i < pulls->sources_count; i++)
        are |= is_due(pulls, pulls->sources[i], base);
    return are;
}

uint64_t px_pulls_moved(const struct px_pulls *pulls)
{
    return pulls->deliveries.given + px_lib_taken();
}

/* Makes an empty delivery for a job that does not exist, and returns its
 * number: when it counts as read, so does everything before it. */
uint64_t px_pulls_mark(struct px_pulls *pulls)
{
    const struct px_lib_output nothing = {.nspace = PX_LIB_NOBODY,
                                          .channel = PX_LIB_STDOUT};
    struct px_source_deliveries *all = &pulls->deliveries;

    if (px_lib_room() == 0 || px_lib_deliver(&nothing) != 0)
        return 0;
    all->given++;
    all->last = NULL;
    all->owners[all->given % PX_SOURCE_DELIVERIES] = 0;
    return all->given;
}

void px_pulls_note(const struct px_pulls *pulls,
                   const struct px_registration *pull, const char *what)
{
    const struct px_lib_name *tool = px_jobs_tool(pulls->cfg.jobs);

    px_jobs_note(pulls->cfg.jobs, "PMIx pull %u %s, of tool %s.%u",
                 pull->number, what, tool->nspace, tool->rank);
}
