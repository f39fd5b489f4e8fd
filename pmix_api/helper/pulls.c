/* Handles the pulls of the tool, from their request to their end. */
#include "pmix_api/helper/pulls.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/sys/clock.h"
#include "job/program.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls_impl.h"

enum {
    CHANNELS = PX_LIB_STDOUT | PX_LIB_STDERR | PX_LIB_STDDIAG,
    CHANNEL_LEAST = PX_LIB_STDOUT,
    TICK_US = 50 * 1000,
    SOON_US = 5 * 1000, /* A shorter time, used while the tool reads redirected
                         * output. */
    /* After this many redirected bytes, find out how much the tool has read. */
    TOLD_BYTES = 512 * 1024,
};

static void look_soon(void *arg)
{
    struct px_pulls *pulls = arg;

    event_active(pulls->soon, 0, 0);
}

/* --- ends of channels */

/* Notes the end of a channel in all pulls that name it. */
static void on_end(void *arg, uint32_t base, uint32_t rank, uint8_t channel)
{
    struct px_pulls *pulls = arg;

    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        struct px_registration *pull = &pulls->all[i];

        for (size_t k = 0; k < pull->scopes.count; k++) {
            if (pull->scopes.at[k].job.base != base ||
                (pull->open[k][rank] & channel) == 0)
                continue;
            pull->open[k][rank] &= (uint8_t)~channel;
            pull->open_count--;
        }
    }
    look_soon(pulls);
}

static const struct px_source_events source_events = {
    .on_end = on_end,
    .on_change = look_soon,
};

/* --- sources of output */

/* The channels of a rank that this pull wants and that no source delivers
 * already, nor a job that the tool has started. */
static uint8_t uncovered(const struct px_pulls *pulls,
                         const struct px_registration *pull, size_t nth,
                         uint32_t rank)
{
    uint8_t channels = pull->open[nth][rank];

    for (unsigned i = 0; i < pulls->sources_count; i++)
        channels &= (uint8_t)~px_source_covers(
            pulls->sources[i], pull->scopes.at[nth].job.base, rank);
    channels &= (uint8_t)~px_forward_covers(
        pulls->forwards, pull->scopes.at[nth].job.base, rank);
    return channels;
}

/* Returns how many bytes of earlier output to ask the session for: none where
 * the tool has already received the output without a pull. */
static uint32_t cache_of(const struct px_lib_wish *wish,
                         const struct px_jobs_entry *job, bool is_late)
{
    if (is_late)
        return 0;
    if (!wish->has_cache)
        return job->comes != 0 ? 0 : JOB_CACHE_UNSAID;
    return wish->cache_bytes < JOB_CACHE_UNSAID ? (uint32_t)wish->cache_bytes
                                                : JOB_CACHE_UNSAID - 1;
}

static int open_source(struct px_pulls *pulls, struct px_registration *pull,
                       const struct px_scope *scope, uint8_t channels,
                       bool is_late)
{
    const struct px_source_cfg cfg = {
        .way = pulls->cfg.way,
        .writer = pulls->cfg.writer,
        .dir = pulls->cfg.dir,
        .deliveries = &pulls->deliveries,
        .owner = pull->number,
        .scope = scope,
        .channels = channels,
        .wish = px_registration_wish(pull, &scope->job),
        .cache_bytes = cache_of(&pull->wish, &scope->job, is_late)};
    struct px_source *source;
    int rc = OV_EFULL;

    if (pulls->sources_count < PX_PULLS_SOURCES_MAX)
        rc = px_source_open(&cfg, &source_events, pulls, &source);
    if (rc != 0)
        return rc;
    pulls->sources[pulls->sources_count++] = source;
    if (is_late)
        px_source_begin(source);
    return 0;
}

/* Opens a source for those ranks of which exactly these channels are wanted. */
static int ask_for(struct px_pulls *pulls, struct px_registration *pull,
                   size_t nth, uint8_t channels, const uint8_t *wanted,
                   bool is_late)
{
    const struct px_jobs_entry *job = &pull->scopes.at[nth].job;
    struct px_scope scope = {.job = *job};
    struct topo_range *items =
        calloc((size_t)job->size / 2 + 1, sizeof(*items));
    int rc = items != NULL ? 0 : OV_ENOMEM;

    topo_ranges_init(&scope.ranks, items, job->size / 2 + 1);
    for (uint32_t rank = 0; rc == 0 && rank < job->size; rank++) {
        if (wanted[rank] == channels)
            rc = topo_ranges_add(&scope.ranks, (struct topo_range){rank, rank});
    }
    if (rc == 0 && scope.ranks.count > 0)
        rc = open_source(pulls, pull, &scope, channels, is_late);
    free(items);
    return rc;
}

static int ask_job(struct px_pulls *pulls, struct px_registration *pull,
                   size_t nth, bool is_late)
{
    const uint32_t size = pull->scopes.at[nth].job.size;
    uint8_t *wanted = calloc(size, 1);
    int rc = wanted != NULL ? 0 : OV_ENOMEM;

    for (uint32_t rank = 0; rc == 0 && rank < size; rank++)
        wanted[rank] = uncovered(pulls, pull, nth, rank);
    for (unsigned channels = CHANNEL_LEAST; rc == 0 && channels <= CHANNELS;
         channels += CHANNEL_LEAST)
        rc = ask_for(pulls, pull, nth, (uint8_t)channels, wanted, is_late);
    free(wanted);
    return rc;
}

static int ask_all(struct px_pulls *pulls, struct px_registration *pull,
                   bool is_late)
{
    int rc = 0;

    for (size_t nth = 0; rc == 0 && nth < pull->scopes.count; nth++)
        rc = ask_job(pulls, pull, nth, is_late);
    return rc;
}

static void close_source(struct px_pulls *pulls, unsigned nth)
{
    px_source_close(pulls->sources[nth]);
    pulls->sources[nth] = pulls->sources[--pulls->sources_count];
}

/* --- a pull begins */

static void drop_pull(struct px_pulls *pulls, struct px_registration *pull)
{
    for (unsigned i = pulls->sources_count; i-- > 0;) {
        if (px_source_owner(pulls->sources[i]) == pull->number)
            close_source(pulls, i);
    }
    px_forward_forget(pulls->forwards, pull->number);
    px_registration_end(pull);
}

static void answer_pull(struct px_pulls *pulls, enum px_lib_answer answer)
{
    struct px_registration *pull = px_pulls_find(pulls, pulls->asked);

    pulls->asked = 0;
    if (answer == PX_LIB_YES && px_registration_claim(pull, pulls) != 0)
        answer = PX_LIB_NO_RESOURCE;
    if (answer == PX_LIB_YES) {
        pull->is_begun = true;
        pull->since = pulls->deliveries.given;
        pulls->known++;
        for (unsigned i = 0; i < pulls->sources_count; i++) {
            if (px_source_owner(pulls->sources[i]) == pull->number)
                px_source_begin(pulls->sources[i]);
        }
        for (size_t i = 0; i < pull->scopes.count; i++) {
            const struct px_jobs_entry *job = &pull->scopes.at[i].job;
            const struct px_lib_wish wish = px_registration_wish(pull, job);

            px_forward_wish(pulls->forwards, job->base, &wish);
        }
    } else {
        drop_pull(pulls, pull);
    }
    px_lib_answer_pull(answer);
    look_soon(pulls);
}

static void watch_time(struct px_pulls *pulls)
{
    const struct timeval tick = {.tv_usec =
                                     pulls->is_moving ? SOON_US : TICK_US};

    if (!event_pending(pulls->tick, EV_TIMEOUT, NULL))
        event_add(pulls->tick, &tick);
}

static void acknowledge(struct px_pulls *pulls);

/* Finds a free slot for a pull, after freeing slots of pulls that have ended
 * since the last look. */
static struct px_registration *find_free(struct px_pulls *pulls)
{
    if (px_pulls_find(pulls, 0) == NULL)
        acknowledge(pulls);
    return px_pulls_find(pulls, 0);
}

void px_pulls_on_pull(struct px_pulls *pulls, const struct px_lib_pull *asked)
{
    struct px_registration *pull = find_free(pulls);
    struct px_scopes scopes;
    enum px_lib_answer answer = px_pulls_judge(pulls, asked, &scopes);

    if (answer == PX_LIB_YES && pull == NULL) {
        px_scopes_end(&scopes);
        answer = PX_LIB_NO_RESOURCE;
    }
    if (answer != PX_LIB_YES) {
        px_lib_answer_pull(answer);
        return;
    }
    *pull = (struct px_registration){
        .number = ++pulls->made, .scopes = scopes, .wish = asked->wish};
    pulls->asked = pull->number;
    pulls->asked_ms = ep_clock_ms();
    if (px_registration_want(pull, asked->channels) != 0 ||
        ask_all(pulls, pull, false) != 0) {
        answer_pull(pulls, PX_LIB_NO_RESOURCE);
        return;
    }
    px_pulls_note(pulls, pull, pull->wish.copies ? "copies" : "redirects");
    look_soon(pulls);
}

/* Answers the pull that waits, once the session has answered all its sources.
 */
static void look_for_answer(struct px_pulls *pulls)
{
    bool are_all_live = true;

    if (pulls->asked == 0)
        return;
    for (unsigned i = 0; i < pulls->sources_count; i++) {
        const struct px_source *source = pulls->sources[i];

        if (px_source_owner(source) != pulls->asked)
            continue;
        if (px_source_state(source) == PX_SOURCE_GONE) {
            answer_pull(pulls, PX_LIB_NO_RESOURCE);
            return;
        }
        are_all_live &= px_source_state(source) == PX_SOURCE_LIVE;
    }
    if (!are_all_live && ep_clock_ms() - pulls->asked_ms < pulls->cfg.answer_ms)
        return;
    if (!are_all_live)
        px_pulls_note(pulls, px_pulls_find(pulls, pulls->asked),
                      "is answered before all nodes have received it");
    answer_pull(pulls, PX_LIB_YES);
}

/* --- a pull ends */

static void stop_pull(struct px_pulls *pulls, struct px_registration *pull)
{
    pull->is_stopped = true;
    pulls->known--;
    for (unsigned i = 0; i < pulls->sources_count; i++) {
        if (px_source_owner(pulls->sources[i]) == pull->number)
            px_source_stop(pulls->sources[i]);
    }
    px_forward_forget(pulls->forwards, pull->number);
    look_soon(pulls);
}

/* Opens sources for output that other pulls still want and that only sources of
 * the ended pull delivered. */
static void ask_again(struct px_pulls *pulls)
{
    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        struct px_registration *pull = &pulls->all[i];

        if (pull->number != 0 && pull->is_begun && !pull->is_stopped)
            (void)ask_all(pulls, pull, true);
    }
}

/* Looks for deliveries that reached no pull; these show which pulls the tool
 * has deregistered. */
static void look_for_missed(struct px_pulls *pulls)
{
    uint64_t number;

    while ((number = px_lib_missed(pulls->missed)) != 0) {
        const uint32_t owner =
            pulls->deliveries.owners[number % PX_SOURCE_DELIVERIES];
        struct px_registration *pull = px_pulls_find(pulls, owner);

        pulls->missed = number;
        px_forwards_missed(pulls->forwards, number);
        if (owner == 0 || pull == NULL)
            continue;
        for (unsigned i = 0; i < pulls->sources_count; i++) {
            if (px_source_owner(pulls->sources[i]) == owner)
                px_source_missed(pulls->sources[i], number);
        }
        if (!pull->is_stopped) {
            stop_pull(pulls, pull);
            ask_again(pulls);
        }
    }
}

void px_pulls_on_stop(struct px_pulls *pulls)
{
    struct px_registration *only = NULL;

    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        if (pulls->all[i].is_begun && !pulls->all[i].is_stopped)
            only = &pulls->all[i];
    }
    if (pulls->known == 1 && only != NULL)
        stop_pull(pulls, only);
    else if (pulls->known > 0 && only == NULL)
        pulls->known--; /* All channels of this pull had ended. */
}

#define ENDED "has ended"

/* Closes sources, and then pulls, that have ended. */
static void reap_ended(struct px_pulls *pulls, uint64_t taken)
{
    for (unsigned i = pulls->sources_count; i-- > 0;) {
        struct px_source *source = pulls->sources[i];
        const struct px_registration *pull =
            px_pulls_find(pulls, px_source_owner(source));

        if ((px_source_is_over(source) || pull->is_stopped) &&
            px_source_is_settled(source, taken)) {
            px_source_settle(source);
            close_source(pulls, i);
        }
    }
    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        struct px_registration *pull = &pulls->all[i];
        bool has_source = false;

        for (unsigned k = 0; k < pulls->sources_count; k++)
            has_source |= px_source_owner(pulls->sources[k]) == pull->number;
        if (pull->number != 0 && pull->is_begun && !has_source &&
            (pull->is_stopped || pull->open_count == 0)) {
            px_pulls_note(pulls, pull, ENDED);
            px_registration_end(pull);
        }
    }
}

/* --- output, in turns */

/* Lets the next source make a delivery and, after all sources, the jobs that
 * the tool has started. These deliver nothing while a pull waits for its
 * answer, because libpmix then handles nothing else. */
static bool give_turn(struct px_pulls *pulls, uint64_t now_ms)
{
    if (pulls->turn < pulls->sources_count)
        return px_source_give(pulls->sources[pulls->turn], now_ms);
    look_for_missed(pulls);
    return pulls->asked == 0 && px_forwards_give(pulls->forwards, now_ms);
}

/* Lets sources make one delivery each, in turn, while there is room. Sources
 * that redirect then also read on in this order. */
static void give_in_turn(struct px_pulls *pulls)
{
    const uint64_t now_ms = (uint64_t)ep_clock_ms();
    unsigned idle = 0;

    for (unsigned i = 0; i < pulls->sources_count; i++) {
        if (pulls->sources[i] == pulls->deliveries.last)
            pulls->turn = i; /* source i has just had its turn */
    }
    while (idle <= pulls->sources_count) {
        pulls->turn = (pulls->turn + 1) % (pulls->sources_count + 1);
        if (give_turn(pulls, now_ms))
            idle = 0;
        else
            idle++;
    }
}

static bool is_busy(const struct px_pulls *pulls)
{
    bool is_it = pulls->asked != 0 || pulls->is_ending ||
                 px_forwards_are_busy(pulls->forwards);

    for (unsigned i = 0; i < pulls->sources_count; i++)
        is_it |= px_source_is_busy(pulls->sources[i]);
    return is_it;
}

static bool is_taken_of_use(const struct px_pulls *pulls)
{
    bool is_it = px_forwards_are_busy(pulls->forwards);

    for (unsigned i = 0; i < pulls->sources_count; i++)
        is_it |= px_source_redirects(pulls->sources[i]);
    return is_it;
}

/* Finds out which deliveries the tool has read and which reached no pull.
 * px_lib_taken() must be called before px_lib_missed(), which else does not
 * know all of these yet. If all sources copy, px_lib_taken(), which asks the
 * kernel, is not needed. */
static void acknowledge(struct px_pulls *pulls)
{
    const uint64_t taken = is_taken_of_use(pulls) ? px_lib_taken() : 0;

    pulls->deliveries.untold_bytes = 0;
    pulls->is_moving = taken != pulls->taken;
    pulls->taken = taken;
    look_for_missed(pulls);
    px_forwards_taken(pulls->forwards, taken);
    for (unsigned i = 0; i < pulls->sources_count; i++)
        px_source_taken(pulls->sources[i], taken);
    reap_ended(pulls, taken);
    if (is_busy(pulls))
        watch_time(pulls);
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct px_pulls *pulls = arg;

    (void)fd;
    (void)what;
    look_for_answer(pulls);
    give_in_turn(pulls);
    if (is_busy(pulls) && pulls->deliveries.untold_bytes < TOLD_BYTES)
        watch_time(pulls);
    else
        acknowledge(pulls);
}

/* For a tool that has disconnected: true when what it has read was reported to
 * the session. */
static bool are_settled(const struct px_pulls *pulls)
{
    const uint64_t taken = px_lib_taken();
    bool are = true;

    for (unsigned i = 0; i < pulls->sources_count; i++) {
        px_source_taken(pulls->sources[i], taken);
        are &= px_source_has_told(pulls->sources[i], taken);
    }
    return are;
}

static void settle_pulls(const struct px_pulls *pulls)
{
    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        if (pulls->all[i].is_begun)
            px_pulls_note(pulls, &pulls->all[i], ENDED);
    }
    pulls->cfg.on_settled(pulls->cfg.arg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct px_pulls *pulls = arg;

    (void)fd;
    (void)what;
    if (pulls->is_ending) {
        if (are_settled(pulls))
            settle_pulls(pulls);
        else
            watch_time(pulls);
        return;
    }
    acknowledge(pulls);
    on_soon(-1, 0, pulls);
}

void px_pulls_on_room(struct px_pulls *pulls)
{
    give_in_turn(pulls);
    look_soon(pulls);
}

void px_pulls_end(struct px_pulls *pulls)
{
    const struct timeval now = {.tv_usec = 0};

    pulls->is_ending = true;
    for (unsigned i = 0; i < pulls->sources_count; i++)
        px_source_stop(pulls->sources[i]);
    px_forwards_stop(pulls->forwards);
    look_for_missed(pulls);
    event_del(pulls->soon);
    event_add(pulls->tick, &now);
}

/* --- output that comes without a pull */

/* Stops all pulls that named the channel when this delivery was made. */
static void on_missed(void *arg, uint32_t base, uint32_t rank, uint8_t channel,
                      uint64_t delivery)
{
    struct px_pulls *pulls = arg;

    for (unsigned i = 0; i < PX_PULLS_MAX; i++) {
        struct px_registration *pull = &pulls->all[i];

        if (px_pulls_has(pull) && pull->since < delivery &&
            (px_registration_names(pull, base, rank) & channel) != 0)
            stop_pull(pulls, pull);
    }
}

static int open_forwards(struct px_pulls *pulls)
{
    static const struct px_forwards_events events = {
        .pulled = px_pulls_pulled,
        .since = px_pulls_since,
        .on_missed = on_missed,
        .on_end = on_end,
        .on_change = look_soon,
    };
    const struct px_forwards_cfg cfg = {.writer = pulls->cfg.writer,
                                        .dir = pulls->cfg.dir,
                                        .deliveries = &pulls->deliveries,
                                        .events = &events,
                                        .arg = pulls};

    return px_forwards_open(&cfg, &pulls->forwards);
}

struct px_forwards *px_pulls_forwards(const struct px_pulls *pulls)
{
    return pulls->forwards;
}

/* --- opening and closing */

int px_pulls_open(const struct px_pulls_cfg *cfg, struct px_pulls **out)
{
    struct px_pulls *pulls = calloc(1, sizeof(*pulls));

    *out = pulls;
    if (pulls == NULL)
        return OV_ENOMEM;
    pulls->cfg = *cfg;
    pulls->soon = event_new(cfg->way->base, -1, 0, on_soon, pulls);
    pulls->tick = evtimer_new(cfg->way->base, on_tick, pulls);
    if (pulls->soon != NULL && pulls->tick != NULL && open_forwards(pulls) == 0)
        return 0;
    px_pulls_close(pulls);
    *out = NULL;
    return OV_ENOMEM;
}

void px_pulls_close(struct px_pulls *pulls)
{
    if (pulls == NULL)
        return;
    while (pulls->sources_count > 0)
        close_source(pulls, 0);
    px_forwards_close(pulls->forwards);
    for (unsigned i = 0; i < PX_PULLS_MAX; i++)
        px_registration_end(&pulls->all[i]);
    if (pulls->soon != NULL)
        event_free(pulls->soon);
    if (pulls->tick != NULL)
        event_free(pulls->tick);
    free(pulls);
}
