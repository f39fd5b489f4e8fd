/* Redirected output that went down with the helper. */
#include "pmix_api/host_salvage.h"

#include <stdio.h>

#include "overlay/base/err.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/host_keep.h"

enum { TURN_MAX = 512 }; /* outputs looked at, one after another */

/* --- it has died */

static bool is_left(const struct px_host_pull *pull)
{
    return pull->has_journal && !px_spool_is_empty(&pull->journal.spool);
}

/* Told once. */
static uint64_t lost_of(const struct px_host *host, struct px_host_pull *pull,
                        uint64_t position)
{
    uint64_t unkept = pull->journal.unkept_bytes;

    pull->journal.unkept_bytes = 0;
    return !pull->has_journal && pull->told.redirects &&
                   px_keep_is_due(host, pull)
               ? host->redirected_bytes - host->redirected_before - position
               : unkept;
}

/* It has fallen behind, perhaps, and is none that redirects any more; but this
 * is older. Where nothing is left of it, it says what its tool has. */
static void move(struct px_host *host, struct px_host_pull **at)
{
    struct px_host_pull *pull = *at, **last = &host->salvage.pulls;

    *at = pull->next;
    pull->next = NULL;
    pull->is_stopped = true;
    pull->told.redirects = is_left(pull);
    if (!is_left(pull))
        px_journal_close(&pull->journal);
    job_late_close(&pull->late);
    while (*last != NULL)
        last = &(*last)->next;
    *last = pull;
}

static void say(struct px_host *host, uint64_t bytes)
{
    char text[160];

    snprintf(text, sizeof(text),
             "up to %llu bytes of redirected output that were with the PMIx "
             "helper, and not with a tool, are shown here",
             (unsigned long long)bytes);
    host->cfg.events->on_say(host->cfg.arg, text);
}

/* Its tool lives, and reads what was sent. */
static void settle(const struct px_host *host, struct px_host_pull *pull)
{
    pull->sent_at = host->redirected_before + pull->at.sent;
    if (pull->has_journal)
        px_journal_settle(&pull->journal, pull->sent_at);
}

static void move_all(struct px_host *host)
{
    struct px_host_pull **at = &host->pulls;

    while (*at != NULL) {
        if ((*at)->has_journal)
            move(host, at);
        else
            at = &(*at)->next;
    }
}

uint64_t px_salvage_take(struct px_host *host)
{
    uint64_t lost = 0, left = 0;
    bool is_any = false;

    px_keep_look(host);
    px_queue_salvage(host);
    for (struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        settle(host, pull);
        lost += lost_of(host, pull, 0);
        left += is_left(pull) ? pull->journal.left_bytes : 0;
        is_any |= is_left(pull);
    }
    if (is_any)
        move_all(host);
    host->salvage.out += host->backs;
    if (left > 0)
        say(host, left);
    event_active(host->salvage.turn, 0, 0);
    return lost;
}

bool px_salvage_pull(struct px_host *host, const struct px_end *end)
{
    struct px_host_pull **at = px_pulls_find(host, end->id), *pull = *at;

    if (pull == NULL)
        return false;
    if (pull->has_journal)
        px_journal_settle(&pull->journal,
                          host->redirected_before + end->position);
    px_revival_say_lost(host, lost_of(host, pull, end->position),
                        "of redirected output");
    if (!is_left(pull))
        return false;
    move(host, at);
    px_pulls_sum_up(host);
    px_queue_return(host);
    px_pulls_note_end(host, end->id);
    event_active(host->salvage.turn, 0, 0);
    return true;
}

/* --- and it is given back */

static bool is_same(const struct px_journal_entry *a,
                    const struct px_journal_entry *b)
{
    return a->at == b->at && a->len_bytes == b->len_bytes &&
           a->rank == b->rank && a->channel == b->channel;
}

/* The one whose next output came first; NULL: none has any. */
static struct px_host_pull *oldest(struct px_host *host,
                                   struct px_journal_entry *first)
{
    struct px_host_pull *found = NULL;
    struct px_journal_entry entry;

    for (struct px_host_pull *pull = host->salvage.pulls; pull != NULL;
         pull = pull->next) {
        if (!px_journal_peek(&pull->journal, &entry) ||
            (found != NULL && first->at <= entry.at))
            continue;
        found = pull;
        *first = entry;
    }
    return found;
}

/* Where several tools were to have it, it is given back once. */
static void skip(struct px_host *host, const struct px_journal_entry *given)
{
    struct px_journal_entry entry;

    for (struct px_host_pull *pull = host->salvage.pulls; pull != NULL;
         pull = pull->next) {
        if (px_journal_peek(&pull->journal, &entry) && is_same(&entry, given))
            px_journal_skip(&pull->journal);
    }
}

static void give(struct px_host *host, struct px_host_pull *pull)
{
    uint8_t mem[PX_OUTPUT_BYTES_MAX];
    struct px_journal_entry entry;
    struct job_record back;

    if (!px_journal_take(&pull->journal, &entry, mem))
        return;
    skip(host, &entry);
    back = (struct job_record){.proc = entry.rank,
                               .channel = entry.channel,
                               .is_end = entry.is_end,
                               .mem = mem,
                               .len_bytes = entry.len_bytes};
    host->salvage.out++;
    if (!host->cfg.events->on_back(host->cfg.arg, &back))
        host->salvage.out--;
}

/* Nothing more of it comes back; others may ask it what its tool has. */
static void finish(struct px_host *host, struct px_host_pull *pull)
{
    px_revival_say_lost(host, lost_of(host, pull, 0), "of redirected output");
    px_journal_close(&pull->journal);
    pull->told.redirects = false;
}

/* Those of which nothing is left; they go with the last one. */
static void reap(struct px_host *host)
{
    bool is_any = false, are_left = false;

    for (struct px_host_pull *pull = host->salvage.pulls; pull != NULL;
         pull = pull->next) {
        are_left |= is_left(pull);
        if (is_left(pull) || !pull->told.redirects)
            continue;
        finish(host, pull);
        is_any = true;
    }
    while (!are_left && host->salvage.pulls != NULL)
        px_pulls_drop(&host->salvage.pulls);
    if (!is_any)
        return;
    px_pulls_sum_up(host);
    host->cfg.events->on_back_over(host->cfg.arg);
    px_pulls_go_on(host);
    px_flush_go_on(host);
}

/* The next one. What is elsewhere is not read. */
static void step(struct px_host *host)
{
    struct px_journal_entry first;
    struct px_host_pull *pull = oldest(host, &first);

    if (pull == NULL)
        return;
    if (px_keep_is_elsewhere(host, &first))
        skip(host, &first);
    else
        give(host, pull);
}

/* Others have their turn in between. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval now = {.tv_sec = 0};
    struct px_host *host = arg;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < TURN_MAX && host->salvage.out < PX_BACK_MAX; i++)
        step(host);
    reap(host);
    if (host->salvage.pulls != NULL && host->salvage.out < PX_BACK_MAX)
        event_add(host->salvage.turn, &now);
}

bool px_salvage_taken(struct px_host *host)
{
    if (host->salvage.out == 0)
        return false;
    host->salvage.out--;
    event_active(host->salvage.turn, 0, 0);
    return true;
}

int px_salvage_open(struct px_host *host)
{
    host->salvage.turn = event_new(host->cfg.base, -1, 0, on_turn, host);
    return host->salvage.turn == NULL ? OV_ENOMEM : 0;
}

void px_salvage_close(struct px_host *host)
{
    while (host->salvage.pulls != NULL)
        px_pulls_drop(&host->salvage.pulls);
    if (host->salvage.turn != NULL)
        event_free(host->salvage.turn);
}
