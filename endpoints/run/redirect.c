/* Which records go to the console, and which only to the tap. */
#include "endpoints/run/redirect.h"

#include <stdlib.h>

#include "job/replay.h"
#include "endpoints/run/back.h"
#include "endpoints/run/held.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/tap.h"
#include "overlay/base/err.h"

enum { CHANNELS = JOB_WORD_OUTPUTS, NONE = RUN_RECORDS_MAX };

struct entry {
    struct job_record rec;
    uint32_t next; /* of those that wait: a cookie */
};

struct run_redirect {
    uint32_t *at_console;  /* owned [size x CHANNELS]: records not written */
    struct entry *entries; /* owned [RUN_RECORDS_MAX], by cookie, or NULL */
    struct event *turn;    /* owned: a channel has nothing at the console */
    uint32_t first, last;  /* that wait, in order; NONE: none */
    uint32_t waiting;      /* so many */
    struct run_back back;
};

static uint32_t *at_console(const struct run *r, uint32_t rank, uint8_t channel)
{
    unsigned which = job_word_output(channel);

    if (rank >= r->own.desc.size || which >= CHANNELS)
        return NULL;
    return &r->redirect.back->at_console[(size_t)rank * CHANNELS + which];
}

/* --- to one or the other */

static void to_console(struct run *r, const struct job_record *rec)
{
    uint32_t *count = at_console(r, rec->rank, rec->channel);
    int places = ep_output_record(r->output, rec);

    for (int i = 1; i < places; i++)
        ep_run_hold(r->held, rec->cookie);
    if (places > 0) {
        if (count != NULL && rec->len_bytes > 0)
            *count += (uint32_t)places;
        return;
    }
    ep_voice_say(&r->voice,
                 "a record of rank %u cannot be shown: out of memory",
                 rec->rank);
    ep_run_let_go(r->held, rec->cookie);
    ep_run_abort(r, 1);
}

/* The console hears of the channel's end in any case. */
static void end_at_console(struct run *r, const struct job_record *rec)
{
    struct job_record end = *rec;

    end.mem = NULL;
    end.len_bytes = 0;
    end.cookie = RUN_NO_RECORD;
    if (rec->is_end)
        to_console(r, &end);
}

static void dispatch(struct run *r, const struct job_record *rec)
{
    struct job_record *kept;

    if (!ep_run_tap_redirects(r, rec->rank, rec->channel)) {
        ep_run_tap_output(r, rec);
        to_console(r, rec);
        return;
    }
    kept = &r->redirect.back->entries[rec->cookie].rec;
    *kept = *rec;
    kept->is_redirected = true;
    if (!ep_run_tap_output(r, kept)) {
        to_console(r, rec);
        return;
    }
    ep_run_let_go(r->held, rec->cookie); /* the tap has its own hold */
}

static int decode(const struct job_record *rec,
                  struct job_replay_answer *answer)
{
    return job_replay_answer_decode(ov_rd_init(rec->mem, rec->len_bytes),
                                    answer);
}

/* It is no output, and has no place among that. */
static bool is_heard(const struct job_record *rec)
{
    struct job_replay_answer answer;

    return decode(rec, &answer) == 0 && answer.is_heard;
}

/* What makes no sense is nobody's. */
static void replay(struct run *r, const struct job_record *rec)
{
    struct job_replay_answer answer;
    struct job_record output = *rec;

    if (decode(rec, &answer) == 0) {
        output.is_end = false;
        output.heard = (uint32_t)answer.heard;
        output.is_turn = answer.is_turn;
        output.before_bytes = answer.dropped_bytes;
        output.len_bytes = (uint32_t)ov_rd_left(&answer.bytes);
        output.mem = output.len_bytes > 0 ? answer.bytes.at : NULL;
        ep_run_tap_output(r, &output);
    }
    ep_run_let_go(r->held, rec->cookie);
}

/* --- those that wait */

static bool is_same(const struct job_record *a, const struct job_record *b)
{
    return a->rank == b->rank && a->channel == b->channel;
}

static bool has_waiting(const struct run_redirect *it,
                        const struct job_record *rec)
{
    for (uint32_t at = it->first; at != NONE; at = it->entries[at].next) {
        if (is_same(&it->entries[at].rec, rec))
            return true;
    }
    return false;
}

/* For the end of the job. */
static void count_waiting(struct run *r)
{
    const struct run_redirect *it = r->redirect.back;

    r->redirect.waiting = it->waiting + ep_run_back_is_waiting(&it->back);
}

static void wait(struct run *r, const struct job_record *rec)
{
    struct run_redirect *it = r->redirect.back;
    uint32_t cookie = (uint32_t)rec->cookie;

    it->entries[cookie] = (struct entry){.rec = *rec, .next = NONE};
    if (it->first == NONE)
        it->first = cookie;
    else
        it->entries[it->last].next = cookie;
    it->last = cookie;
    it->waiting++;
    count_waiting(r);
}

/* Of its records that were never elsewhere. */
static bool has_nothing(const struct run *r, uint32_t rank, uint8_t channel)
{
    const uint32_t *count = at_console(r, rank, channel);

    return count == NULL || *count == 0;
}

static bool must_wait(const struct run *r, const struct job_record *rec)
{
    if (ep_run_tap_gives_back(r, rec->rank, rec->channel))
        return true;
    if (ep_run_tap_redirects(r, rec->rank, rec->channel))
        return !has_nothing(r, rec->rank, rec->channel) ||
               ep_run_back_has(&r->redirect.back->back, rec->rank,
                               rec->channel);
    return ep_run_back_waits(&r->redirect.back->back, rec->rank, rec->channel);
}

/* All that wait are looked at, those that still must wait again. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    struct run_redirect *it = r->redirect.back;
    uint32_t at = it->first;

    (void)fd;
    (void)what;
    ep_run_back_show(r, &it->back, has_nothing);
    it->first = it->last = NONE;
    it->waiting = 0;
    count_waiting(r);
    while (at != NONE) {
        struct entry entry = it->entries[at];

        at = entry.next;
        if (has_waiting(it, &entry.rec) ||
            (entry.rec.ticket == 0 && must_wait(r, &entry.rec)))
            wait(r, &entry.rec);
        else if (entry.rec.ticket != 0)
            replay(r, &entry.rec);
        else
            dispatch(r, &entry.rec);
    }
    ep_run_check_done(r);
}

static void look_again(struct run *r)
{
    if (r->redirect.waiting > 0)
        event_active(r->redirect.back->turn, 0, 0);
}

bool ep_run_redirect_written(struct run *r, uint32_t place, uint32_t rank,
                             uint8_t channel)
{
    struct run_back *back = &r->redirect.back->back;
    uint32_t *count = at_console(r, rank, channel);

    if (back->first != NULL &&
        ep_run_back_written(back, place, rank, channel)) {
        look_again(r);
        return false;
    }
    if (count != NULL && *count > 0 && --*count == 0)
        look_again(r);
    return true;
}

/* --- records */

static bool prepare(struct run_redirect *it)
{
    if (it->entries == NULL)
        it->entries = calloc(RUN_RECORDS_MAX, sizeof(*it->entries));
    return it->entries != NULL;
}

void ep_run_redirect_record(struct run *r, const struct job_record *rec)
{
    struct run_redirect *it = r->redirect.back;
    bool is_usual = it->first == NONE && it->back.first == NULL &&
                    !ep_run_tap_redirects(r, rec->rank, rec->channel) &&
                    !ep_run_tap_gives_back(r, rec->rank, rec->channel);

    if (is_usual || !prepare(it)) {
        ep_run_tap_output(r, rec);
        to_console(r, rec);
    } else if (must_wait(r, rec) || has_waiting(it, rec)) {
        wait(r, rec);
    } else {
        dispatch(r, rec);
    }
}

/* It has its place among those of its channel. */
void ep_run_redirect_replay(struct run *r, const struct job_record *rec)
{
    if (!is_heard(rec) && has_waiting(r->redirect.back, rec))
        wait(r, rec);
    else
        replay(r, rec);
}

void ep_run_redirect_gone(struct run *r, uint64_t cookie)
{
    const struct job_record *rec = &r->redirect.back->entries[cookie].rec;

    for (uint32_t i = 0; rec->len_bytes > 0 && i < ep_output_places(r->output);
         i++)
        ep_proof_written(r->own.proof, i, rec->rank, rec->channel, rec->mem,
                         rec->len_bytes);
    end_at_console(r, rec);
}

void ep_run_redirect_returned(struct run *r, uint64_t cookie)
{
    struct job_record rec = r->redirect.back->entries[cookie].rec;

    if (r->session.state == JOB_SESSION_OVER)
        return;
    rec.is_redirected = false;
    ep_run_hold(r->held, cookie);
    to_console(r, &rec);
}

/* --- what has come back */

bool ep_run_redirect_back(struct run *r, const struct job_record *rec)
{
    struct run_back *back = &r->redirect.back->back;

    if (r->session.state == JOB_SESSION_OVER || rec->proc >= r->own.desc.size)
        return false;
    if (!ep_run_back_add(back, rec)) {
        ep_voice_say(&r->voice,
                     "a record of rank %u cannot be shown: out of memory",
                     rec->proc);
        ep_run_abort(r, 1);
        return false;
    }
    ep_watch_soon(r->watch);
    ep_run_back_show(r, back, has_nothing);
    count_waiting(r);
    return true;
}

bool ep_run_redirect_taken(struct run *r, uint64_t cookie)
{
    if (!ep_run_back_is(cookie))
        return false;
    if (ep_run_back_taken(&r->redirect.back->back, cookie)) {
        ep_run_tap_took_back(r);
        look_again(r);
    }
    return true;
}

/* In any case: the end of the job may have waited for this. */
void ep_run_redirect_back_over(struct run *r)
{
    if (r->redirect.back != NULL)
        event_active(r->redirect.back->turn, 0, 0);
}

/* --- beginning and end */

int ep_run_redirect_open(struct run *r)
{
    struct run_redirect *it = calloc(1, sizeof(*it));

    r->redirect.back = it;
    if (it == NULL)
        return OV_ENOMEM;
    it->first = it->last = NONE;
    ep_run_back_open(&it->back);
    it->at_console =
        calloc((size_t)r->own.desc.size * CHANNELS, sizeof(*it->at_console));
    it->turn = event_new(r->base, -1, 0, on_turn, r);
    return it->at_console == NULL || it->turn == NULL ? OV_ENOMEM : 0;
}

void ep_run_redirect_close(struct run *r)
{
    struct run_redirect *it = r->redirect.back;

    if (it == NULL)
        return;
    if (it->turn != NULL)
        event_free(it->turn);
    ep_run_back_close(&it->back);
    free(it->at_console);
    free(it->entries);
    free(it);
    r->redirect.back = NULL;
}
