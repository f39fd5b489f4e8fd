/* Copies of what is redirected. */
#include "pmix_api/host_keep.h"

#include "pmix_api/host_impl.h"

enum {
    FILE_BYTES = 288 << 20, /* more than waits for a tool that does not read
                               before its output is redirected no more */
};

static unsigned count(const struct px_host_pull *first)
{
    unsigned journals = 0;

    for (const struct px_host_pull *pull = first; pull != NULL;
         pull = pull->next)
        journals += pull->journal.spool.mem != NULL;
    return journals;
}

/* In memory: what is on its way to a tool that reads; less for all but the
 * first few, of which some may still come back. */
static uint64_t near_bytes(const struct px_host *host)
{
    unsigned others = count(host->pulls) + count(host->salvage.pulls);

    if (others < 2)
        return 4 << 20;
    return others < 8 ? 256 << 10 : 32 << 10;
}

/* Only the run's own job has something to go back to. */
bool px_keep_is_due(const struct px_host *host, const struct px_host_pull *pull)
{
    return !host->cfg.is_dvm && pull->ranges_count > 0 &&
           pull->ranges[0].first < host->cfg.size;
}

void px_keep_begin(struct px_host *host, struct px_host_pull *pull)
{
    if (!pull->told.redirects || !px_keep_is_due(host, pull) ||
        host->share.head == NULL)
        return;
    pull->has_journal = px_journal_open(&pull->journal, near_bytes(host),
                                        FILE_BYTES, host->folder) == 0;
    pull->until = pull->until_at = UINT64_MAX;
}

void px_keep_end(const struct px_host *host, struct px_host_pull *pull)
{
    if (pull->until > host->pushed)
        pull->until = host->pushed;
}

/* What the helper has said last: what the tool has read is forgotten. */
static void settle(struct px_host *host, struct px_host_pull *pull)
{
    if (px_share_settled(&host->share, pull->told.id, &pull->slot, &pull->at))
        px_journal_settle(&pull->journal,
                          host->redirected_before + pull->at.read);
}

void px_keep_look(struct px_host *host)
{
    for (struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (pull->has_journal)
            settle(host, pull);
    }
}

static struct px_host_pull *find(const struct px_host *host, uint32_t id)
{
    struct px_host_pull *pull = host->pulls;

    while (pull != NULL && pull->told.id != id)
        pull = pull->next;
    return pull;
}

static void go_live(const struct px_host *host, struct px_host_pull *pull)
{
    pull->is_live = true;
    pull->live_at = host->redirected_bytes;
}

void px_keep_live(struct px_host *host, uint32_t id)
{
    struct px_host_pull *pull = find(host, id);

    if (pull != NULL)
        go_live(host, pull);
}

/* One that was over before has had no turn of some channels. */
void px_keep_turned(struct px_host *host, uint32_t id)
{
    struct px_host_pull *pull = find(host, id);

    if (pull != NULL && --pull->turns == 0 && pull->late.waits == NULL &&
        !pull->is_stopped)
        go_live(host, pull);
}

static bool has_rank(const struct px_host_pull *pull, uint32_t rank)
{
    uint32_t low = 0, high = pull->ranges_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (pull->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pull->ranges_count && pull->ranges[low].first <= rank;
}

/* Also where it is over: what was redirected to it before is its own. */
static bool redirects(const struct px_host_pull *pull, uint32_t rank,
                      uint8_t channel)
{
    unsigned channels =
        pull->told.channels & ~(unsigned)job_late_channels(&pull->late, rank);

    return (channels & 1u << channel) != 0 && has_rank(pull, rank);
}

static bool is_for(const struct px_host *host, const struct px_host_pull *pull,
                   uint32_t rank, uint8_t channel)
{
    return pull->has_journal && rank < host->cfg.size &&
           redirects(pull, rank, channel);
}

static bool is_over(const struct px_host_pull *pull, uint64_t nth)
{
    return nth >= pull->until;
}

void px_keep_output(struct px_host *host, const struct px_output *output,
                    uint64_t nth)
{
    uint64_t at = host->redirected_bytes;

    host->redirected_bytes += output->len_bytes;
    for (struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (is_over(pull, nth) && pull->until_at > at)
            pull->until_at = at;
        if (is_over(pull, nth) ||
            !is_for(host, pull, output->rank, output->channel))
            continue;
        settle(host, pull);
        px_journal_keep(&pull->journal, at, output);
    }
}

bool px_keep_has(const struct px_host *host, uint32_t rank, uint8_t channel,
                 uint64_t nth)
{
    for (const struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (!is_over(pull, nth) && is_for(host, pull, rank, channel))
            return true;
    }
    return false;
}

static bool has_had(const struct px_host *host, const struct px_host_pull *pull,
                    const struct px_journal_entry *entry)
{
    return pull->is_live && entry->at >= pull->live_at &&
           entry->at < pull->until_at &&
           is_for(host, pull, entry->rank, entry->channel);
}

/* Where its helper has died it has what was sent to it. */
bool px_keep_is_elsewhere(const struct px_host *host,
                          const struct px_journal_entry *entry)
{
    for (const struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (has_had(host, pull, entry))
            return true;
    }
    for (const struct px_host_pull *pull = host->salvage.pulls; pull != NULL;
         pull = pull->next) {
        if (entry->at + entry->len_bytes <= pull->sent_at &&
            has_had(host, pull, entry))
            return true;
    }
    return false;
}
