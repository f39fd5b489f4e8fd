/* Sends each record either to the console and files or only to a client. */
#include "endpoints/run/redirect.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/client/viewers.h"
#include "endpoints/run/records.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/sys/clock.h"
#include "job/replay.h"
#include "job/route.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { CHANNELS = JOB_WORD_OUTPUTS };

/* The first cookie for output that a client has given back. It is larger than
 * any cookie of a record or of a tool's line. */
#define COOKIE_FIRST ((uint64_t)1 << 63)

/* A copy of output that a client has given back. */
struct back {
    struct job_route_back at;
    struct job_record rec;
    uint8_t *mem; /* owned, until all takers have finished with it */
};

struct run_redirect {
    /* Owned [RUN_RECORDS_MAX], indexed by cookie: records that wait. */
    struct job_record *records;
    struct event *turn; /* owned: fires when records that wait may go on */
    uint64_t backs_made;
};

/* Finds the number by which the route knows the channel. Returns false when it
 * has none; its records are then sent to clients and takers at once. */
static bool channel_of(const struct run *r, uint32_t rank, uint8_t channel,
                       uint32_t *out)
{
    unsigned which = job_word_output(channel);

    *out = rank * CHANNELS + which;
    return rank < r->own.desc.size && which < CHANNELS;
}

static void look_again(const struct run *r)
{
    if (job_route_waiting(r->redirect.route) > 0)
        event_active(r->redirect.kept->turn, 0, 0);
}

static void fail_record(struct run *r, const struct job_record *rec)
{
    ep_voice_say(&r->voice, "output of rank %u is lost: out of memory",
                 rec->proc);
    ep_run_abort(r, 1);
}

/* --- the destination of a record */

static void to_places(struct run *r, const struct job_record *rec)
{
    int places = ep_output_record(r->output, rec);
    uint32_t channel;

    if (places < 0) {
        ep_run_let_go(r->records, rec->cookie);
        fail_record(r, rec);
        return;
    }
    for (int i = 1; i < places; i++)
        ep_run_hold(r->records, rec->cookie);
    if (rec->len_bytes > 0 && channel_of(r, rec->rank, rec->channel, &channel))
        job_route_shown(r->redirect.route, channel, (uint32_t)places);
}

static void to_both(struct run *r, const struct job_record *rec)
{
    (void)ep_viewers_output(r->clients.viewers, rec);
    to_places(r, rec);
}

/* Counts a record that a client got instead of the console as written, so that
 * the proof does not miss it. */
static void count_taken(struct run *r, const struct job_record *rec)
{
    struct job_record end = *rec;

    for (uint32_t i = 0; rec->len_bytes > 0 && i < ep_output_places(r->output);
         i++)
        ep_proof_written(r->own.proof, i, rec->rank, rec->channel, rec->mem,
                         rec->len_bytes);
    /* The takers need to know that the channel has ended. */
    end.mem = NULL;
    end.len_bytes = 0;
    end.cookie = RUN_NO_RECORD;
    if (rec->is_end)
        to_places(r, &end);
}

static void to_client(struct run *r, const struct job_record *rec)
{
    struct job_record its = *rec;

    its.is_redirected = true;
    if (ep_viewers_output(r->clients.viewers, &its)) {
        count_taken(r, rec);
        ep_run_let_go(r->records, rec->cookie);
    } else {
        to_places(r, rec);
    }
}

static int decode_answer(const struct job_record *rec,
                         struct job_replay_answer *answer)
{
    return job_replay_answer_decode(ov_rd_init(rec->mem, rec->len_bytes),
                                    answer);
}

/* Sends an answer to the client that asked for earlier output. An answer that
 * makes no sense is dropped. */
static void to_asker(struct run *r, const struct job_record *rec)
{
    struct job_replay_answer answer;
    struct job_record output = *rec;

    if (decode_answer(rec, &answer) == 0) {
        output.is_end = false;
        output.heard = (uint32_t)answer.heard;
        output.is_turn = answer.is_turn;
        output.before_bytes = answer.dropped_bytes;
        output.len_bytes = (uint32_t)ov_rd_left(&answer.bytes);
        output.mem = output.len_bytes > 0 ? answer.bytes.at : NULL;
        (void)ep_viewers_output(r->clients.viewers, &output);
    }
    ep_run_let_go(r->records, rec->cookie);
}

static enum job_route_wish wish_of(const struct run *r,
                                   const struct job_record *rec)
{
    if (!ep_viewers_has_room(r->clients.viewers, rec))
        return JOB_ROUTE_FOR_LATER;
    if (rec->ticket != 0)
        return JOB_ROUTE_FOR_ASKER;
    if (ep_viewers_gives_back(r->clients.viewers, rec->rank, rec->channel))
        return JOB_ROUTE_FOR_LATER;
    return ep_viewers_redirects(r->clients.viewers, rec->rank, rec->channel)
               ? JOB_ROUTE_FOR_TOOL
               : JOB_ROUTE_FOR_PLACES;
}

static void route_record(struct run *r, const struct job_record *rec,
                         uint32_t channel)
{
    const struct run_redirect *it = r->redirect.kept;

    switch (job_route_record(r->redirect.route, (uint32_t)rec->cookie, channel,
                             wish_of(r, rec))) {
    case JOB_ROUTE_WAITS:
        it->records[rec->cookie] = *rec;
        break;
    case JOB_ROUTE_TO_PLACES:
        to_both(r, rec);
        break;
    case JOB_ROUTE_TO_TOOL:
        if (rec->ticket != 0)
            to_asker(r, rec);
        else
            to_client(r, rec);
        break;
    }
}

void ep_run_redirect_record(struct run *r, const struct job_record *rec)
{
    uint32_t channel;

    if (channel_of(r, rec->rank, rec->channel, &channel))
        route_record(r, rec, channel);
    else
        to_both(r, rec);
}

/* An answer that is_heard only says that a node knows what clients want. It is
 * no output, so it need not wait for output of its channel. */
void ep_run_redirect_replay(struct run *r, const struct job_record *rec)
{
    struct job_replay_answer answer;
    bool is_output = decode_answer(rec, &answer) == 0 && !answer.is_heard;
    uint32_t channel;

    if (is_output && channel_of(r, rec->rank, rec->channel, &channel))
        route_record(r, rec, channel);
    else
        to_asker(r, rec);
}

/* --- output that a client has given back */

static struct back *keep_back(struct run *r, const struct job_record *rec,
                              uint32_t channel)
{
    struct back *back = calloc(1, sizeof(*back));

    if (back == NULL)
        return NULL;
    back->mem = malloc(rec->len_bytes + 1);
    if (back->mem == NULL) {
        free(back);
        return NULL;
    }
    back->rec = (struct job_record){
        .cookie = COOKIE_FIRST + r->redirect.kept->backs_made++,
        .proc = rec->proc,
        .rank = rec->proc,
        .channel = rec->channel,
        .is_end = rec->is_end,
        .mem = rec->len_bytes > 0 ? back->mem : NULL,
        .len_bytes = rec->len_bytes,
    };
    if (rec->len_bytes > 0)
        memcpy(back->mem, rec->mem, rec->len_bytes);
    job_route_back_add(r->redirect.route, &back->at, channel);
    return back;
}

static void drop_backs(struct run *r, bool all)
{
    struct job_route_back *at;

    while ((at = job_route_back_pop(r->redirect.route, all)) != NULL) {
        struct back *back = (struct back *)at;

        free(back->mem);
        free(back);
    }
}

static void show_backs(struct run *r)
{
    struct job_route_back *at;

    while ((at = job_route_back_due(r->redirect.route)) != NULL) {
        struct job_record *rec = &((struct back *)at)->rec;
        int places;

        rec->host = ep_run_host_of_rank(&r->plan, rec->rank);
        rec->time_ns = r->options.style.has_time ? ep_clock_unix_ns() : 0;
        places = ep_output_record(r->output, rec);
        if (places > 0) {
            job_route_back_shown(at, (uint32_t)places, rec->len_bytes > 0);
            continue;
        }
        /* no taker holds the piece, and none will get it */
        job_route_back_shown(at, 0, false);
        fail_record(r, rec);
        ep_viewers_took_back(r->clients.viewers);
        drop_backs(r, false);
    }
}

bool ep_run_redirect_back(struct run *r, const struct job_record *rec)
{
    uint32_t channel;

    if (r->session.state == JOB_SESSION_OVER ||
        !channel_of(r, rec->proc, rec->channel, &channel))
        return false;
    if (keep_back(r, rec, channel) == NULL) {
        fail_record(r, rec);
        return false;
    }
    ep_watch_soon(r->watch);
    show_backs(r);
    return true;
}

static struct back *find_back(const struct run *r, uint64_t cookie)
{
    struct job_route_back *at = job_route_backs(r->redirect.route);

    while (at != NULL && ((struct back *)at)->rec.cookie != cookie)
        at = at->next;
    OV_ASSERT(at != NULL);
    return (struct back *)at;
}

bool ep_run_redirect_taken(struct run *r, uint64_t cookie)
{
    struct back *back;

    if (cookie < COOKIE_FIRST)
        return false;
    back = find_back(r, cookie);
    if (!job_route_back_taken(&back->at))
        return true;
    free(back->mem);
    back->mem = NULL;
    drop_backs(r, false);
    ep_viewers_took_back(r->clients.viewers);
    look_again(r);
    return true;
}

bool ep_run_redirect_written(struct run *r, uint32_t place, uint32_t rank,
                             uint8_t channel)
{
    uint32_t number;
    bool counts, is_due;

    if (!channel_of(r, rank, channel, &number))
        return true;
    counts = job_route_written(r->redirect.route, number, place, &is_due);
    if (!counts)
        drop_backs(r, false);
    if (is_due)
        look_again(r);
    return counts;
}

/* --- records that wait */

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    const struct run_redirect *it = r->redirect.kept;
    struct job_route_turn turn;
    uint32_t cookie;

    (void)fd;
    (void)what;
    show_backs(r);
    job_route_turn(r->redirect.route, &turn);
    while (job_route_next(r->redirect.route, &turn, &cookie)) {
        struct job_record rec = it->records[cookie];
        uint32_t channel;

        (void)channel_of(r, rec.rank, rec.channel, &channel);
        route_record(r, &rec, channel);
    }
    ep_run_check_done(r);
}

/* Fires even when no record waits, as the end of the job may have waited for
 * this. */
void ep_run_redirect_back_over(struct run *r)
{
    if (r->redirect.kept != NULL)
        event_active(r->redirect.kept->turn, 0, 0);
}

/* --- beginning and end */

int ep_run_redirect_open(struct run *r)
{
    struct run_redirect *it = calloc(1, sizeof(*it));

    r->redirect.kept = it;
    if (it == NULL || job_route_open(r->own.desc.size * CHANNELS,
                                     RUN_RECORDS_MAX, &r->redirect.route) != 0)
        return OV_ENOMEM;
    it->records = calloc(RUN_RECORDS_MAX, sizeof(*it->records));
    it->turn = event_new(r->base, -1, 0, on_turn, r);
    return it->records == NULL || it->turn == NULL ? OV_ENOMEM : 0;
}

void ep_run_redirect_close(struct run *r)
{
    struct run_redirect *it = r->redirect.kept;

    if (it == NULL)
        return;
    if (it->turn != NULL)
        event_free(it->turn);
    if (r->redirect.route != NULL)
        drop_backs(r, true);
    job_route_close(r->redirect.route);
    r->redirect.route = NULL;
    free(it->records);
    free(it);
    r->redirect.kept = NULL;
}
