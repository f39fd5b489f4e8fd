/* Messages of the nodes about their processes and about themselves. */
#include "endpoints/run/words.h"

#include <errno.h>
#include <string.h>

#include "endpoints/client/viewers.h"
#include "endpoints/run/down.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/interrupt.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/launch.h"
#include "endpoints/run/left_out.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/own.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/readers.h"
#include "endpoints/run/recent.h"
#include "endpoints/run/rest.h"
#include "endpoints/run/stalls.h"
#include "endpoints/run/clients.h"
#include "endpoints/sys/clock.h"

/* --- messages about the session */

static void on_usage(struct run *r, uint32_t node, const struct job_word *word)
{
    (void)node;
    ep_run_counts_usage(&r->counts, &word->usage);
}

/* Reports the first of these messages only, without --verbose: what holds for
 * one host usually holds for many. */
static void on_pieces(struct run *r, uint32_t node, const struct job_word *word)
{
    int err = (int)word->err;

    (r->told.pieces ? ep_voice_note : ep_voice_remark)(
        &r->voice,
        "%s: unfinished lines fill their buffer, and no file in TMPDIR or "
        "/var/tmp can hold more (%s): some lines come out in pieces",
        ep_run_host(&r->plan, node),
        err == ENOTSUP ? "both are in memory" : strerror(err));
    r->told.pieces = true;
}

static void on_adopted(struct run *r, uint32_t node,
                       const struct job_word *word)
{
    char parent[32] = "the launcher";

    if (word->parent != 0 && word->parent <= r->plan.nodes_count)
        snprintf(parent, sizeof(parent), "node %u",
                 ep_run_place(&r->plan, word->parent));
    ep_voice_note(&r->voice, "node %u on %s has a new parent, %s, after %.3f s",
                  ep_run_place(&r->plan, node), ep_run_host(&r->plan, node),
                  parent, (double)word->away_us / 1e6);
    ep_run_counts_repair(&r->counts, word->away_us);
}

static void on_over(struct run *r, uint32_t node, const struct job_word *word)
{
    ep_run_nodes_over(r->nodes, node, word->jobs);
}

/* Tells whether the run can begin: if nodes were asked for their machines, all
 * have answered, and the machines are as assumed. When they differ, the run
 * ends. */
static bool are_surveyed(struct run *r)
{
    if (!ep_run_survey_asks(&r->plan))
        return true;
    if (r->plan.survey.come < r->plan.nodes_count)
        return false;
    if (ep_run_survey_fits(&r->plan, r->nodes, &r->voice))
        return true;
    ep_run_abort(r, 1);
    return false;
}

/* Begins once all nodes have joined. A node that was lost meanwhile counts as
 * joined in the tree; the launch is about to end because of it. */
void ep_run_begin(struct run *r)
{
    if (!r->plan.survey.has_joined ||
        r->session.state != JOB_SESSION_LAUNCHING ||
        ep_run_launch_misses(r->launch) || !are_surveyed(r))
        return;
    ep_run_begun(r);
    ep_run_launch_joined(r->launch);
    ep_run_down_begin(r->down);
    if (r->options.is_dvm) {
        ep_run_dvm_begin(r);
        ep_run_clients_open(r);
    } else if (ep_run_own_tell(r)) {
        ep_run_abort(r, 1);
    }
    /* Further jobs must come after the run's own. */
    ep_viewers_again(r->clients.viewers);
    ep_run_interrupt_begun(r);
}

static void on_note(struct run *r, uint32_t node, const struct job_word *word)
{
    /* Only the first is reported without --verbose: what holds for one host
     * usually holds for many. */
    (r->told.note ? ep_voice_note : ep_voice_remark)(
        &r->voice, "%s: %s", ep_run_host(&r->plan, node), word->text);
    r->told.note = true;
}

static void on_line_lost(struct run *r, uint32_t node,
                         const struct job_word *word)
{
    (r->told.line ? ep_voice_note : ep_voice_say)(
        &r->voice,
        "%s: an unfinished line of process %u cannot be read back from its "
        "temporary file: %s",
        ep_run_host(&r->plan, node), word->rank, strerror((int)word->err));
    r->told.line = true;
}

static void on_machine(struct run *r, uint32_t node,
                       const struct job_word *word)
{
    if (ep_run_jobs_machine(r, node, word) && ep_run_survey_come(&r->plan))
        ep_run_begin(r);
}

/* --- messages about the processes of a job */

static void on_unread(const struct run_job *job, uint32_t rank,
                      const char *host)
{
    if (ep_run_job_is_own(job))
        ep_run_readers_unread(job->run->told.readers, rank);
    else
        ep_voice_say(&job->run->voice,
                     "rank %u of a further job on %s does not read its stdin: "
                     "input pushed to its job waits for it",
                     rank, host);
}

/* Reports what has happened to a process's stdin. The run's own job waits for a
 * slow reader, as all its readers get the same stdin; the readers of a further
 * job get what clients push. */
static void on_slow_stdin(struct run_job *job, uint32_t node,
                          const struct job_word *word)
{
    struct run *r = job->run;
    const bool is_own = ep_run_job_is_own(job);
    const char *host = ep_run_host(&r->plan, node);
    const char *whose = is_own ? "" : " of a further job";
    const char *waits = is_own ? "the job waits for it from now on"
                               : "input pushed to its job waits for it";
    const uint32_t rank = word->rank - job->desc.base;

    if (job->life.is_killed)
        return;
    switch ((enum job_stdin_event)word->stdin_event) {
    case JOB_STDIN_FULL:
        ep_voice_say(&r->voice,
                     "rank %u%s on %s has %.4g MiB of unread stdin, the most "
                     "that is spilled (--stdin-slow=spill=BYTES): %s",
                     rank, whose, host,
                     (double)job->desc.spill_bytes / (1 << 20), waits);
        break;
    case JOB_STDIN_UNSAVED:
        ep_voice_say(&r->voice,
                     "stdin of rank %u%s on %s cannot be spilled any further "
                     "(%s%s): %s",
                     rank, whose, host, strerror((int)word->err),
                     job->desc.slow == JOB_SLOW_SPILL
                         ? "; --spill-dir names another place"
                         : "",
                     is_own ? waits : "input pushed to any job waits for it");
        break;
    case JOB_STDIN_BEHIND:
    case JOB_STDIN_FREE:
        ep_viewers_behind(r->clients.viewers, word->rank,
                          word->stdin_event == JOB_STDIN_BEHIND);
        break;
    case JOB_STDIN_UNREAD:
        on_unread(job, rank, host);
        break;
    case JOB_STDIN_CLOSED:
        ep_voice_say(&r->voice,
                     "rank %u%s on %s has not read its stdin for %g s: its "
                     "stdin is closed (--stdin-slow=close)",
                     rank, whose, host, job->desc.close_ms / 1000.0);
        ep_viewers_has_stdin(r->clients.viewers, word->rank, word->rank, false);
        break;
    case JOB_STDIN_SHUT:
        ep_viewers_has_stdin(r->clients.viewers, word->rank, word->rank, false);
        break;
    case JOB_STDIN_LOST:
        ep_voice_say(
            &r->voice,
            "spilled stdin of rank %u%s on %s cannot be read back: %s; "
            "%s ends",
            rank, whose, host, strerror((int)word->err),
            is_own ? "the job" : "that job");
        job->events->on_abort(job);
        break;
    case JOB_STDIN_EVENTS:
        break;
    }
}

/* Notes how much of stdin the process has read. What no reader of the run's own
 * job has read is given back at the end. */
static void count_taken(const struct run_job *job, const struct job_word *word)
{
    if (ep_run_job_is_own(job))
        ep_run_down_took(job->run->down, word->rank, word->taken_bytes);
}

static void on_pids(struct run_job *job, uint32_t node,
                    const struct job_word *word)
{
    const struct run_clients *tap = &job->run->clients;

    (void)node;
    ep_viewers_started(tap->viewers, word->rank, word->pids, word->count);
    if (tap->desk != NULL)
        job->run->options.desk->started(tap->desk);
}

static void on_doing(struct run_job *job, uint32_t node,
                     const struct job_word *word)
{
    (void)node;
    if (word->ticket == 0)
        ep_run_stalls_hear(job->stalls, word);
    if (ep_run_look_hear(&job->look, &job->life, word) &&
        ep_run_job_is_own(job))
        ep_run_rest_heard(job->run->end.rest.rest);
}

static void on_started(struct run_job *job, uint32_t node,
                       const struct job_word *word)
{
    ep_run_nodes_heard(job->run->nodes, node, word->sent_ns, ep_clock_ns());
    ep_run_job_started(job, node);
}

/* Hands what the process says of its output to the proof. Bytes that were
 * neither sent nor left out are missing of its stdout; but of a further job
 * they may have been dropped, as no tool wanted them. */
static void prove(struct run_job *job, const struct job_word *word)
{
    const uint32_t rank = word->rank - job->desc.base;
    const uint64_t missing = ep_left_ended(job->left, rank, word->tallies);
    struct job_tally tallies[JOB_WORD_OUTPUTS];

    memcpy(tallies, word->tallies, sizeof(tallies));
    if (ep_run_job_is_own(job))
        tallies[0].bytes += missing;
    ep_proof_ended(job->proof, rank, tallies);
}

static void on_left(struct run_job *job, uint32_t node,
                    const struct job_word *word)
{
    struct run *r = job->run;

    ep_left_hear(job->left, word->rank - job->desc.base, word);
    if (word->limited_lines == 0 || r->told.limit)
        return;
    r->told.limit = true;
    ep_voice_remark(&r->voice,
                    "rank %u on %s: a line stays although it may not match, as "
                    "a pattern of --grep or --grep-v takes too long on it; so "
                    "do others like it",
                    word->rank - job->desc.base, ep_run_host(&r->plan, node));
}

static void on_last(struct run_job *job, uint32_t node,
                    const struct job_word *word)
{
    (void)node;
    if (ep_run_job_is_own(job))
        ep_recent_add_unseen(job->run->told.recent, word->rank,
                             (const uint8_t *)word->text,
                             (uint32_t)strlen(word->text));
}

static void on_exit_word(struct run_job *job, uint32_t node,
                         const struct job_word *word)
{
    struct run_nodes *nodes = job->run->nodes;
    const uint64_t now_ns = ep_clock_ns();

    ep_run_nodes_heard(nodes, node, word->sent_ns, now_ns);
    prove(job, word);
    count_taken(job, word);
    (void)ep_run_job_ended(job, word->rank, word->status,
                           ep_run_nodes_span(nodes, node, word, now_ns));
}

/* Handles the failed start of a process, which has written and read nothing. */
static void on_failed(struct run_job *job, uint32_t node,
                      const struct job_word *word)
{
    (void)node;
    prove(job, word);
    count_taken(job, word);
    (void)ep_run_job_unstarted(job, word->rank, word->text, (int)word->err);
}

/* --- the handler of each kind of message */

typedef void session_word_fn(struct run *r, uint32_t node,
                             const struct job_word *word);
typedef void process_word_fn(struct run_job *job, uint32_t node,
                             const struct job_word *word);

static session_word_fn *const of_session[JOB_WORD_KINDS] = {
    [JOB_WORD_ADOPTED] = on_adopted,     [JOB_WORD_USAGE] = on_usage,
    [JOB_WORD_NOTE] = on_note,           [JOB_WORD_OVER] = on_over,
    [JOB_WORD_MACHINE] = on_machine,     [JOB_WORD_PIECES] = on_pieces,
    [JOB_WORD_LINE_LOST] = on_line_lost,
};

static process_word_fn *const of_process[JOB_WORD_KINDS] = {
    [JOB_WORD_PIDS] = on_pids,        [JOB_WORD_STARTED] = on_started,
    [JOB_WORD_STDIN] = on_slow_stdin, [JOB_WORD_EXIT] = on_exit_word,
    [JOB_WORD_FAILED] = on_failed,    [JOB_WORD_DOING] = on_doing,
    [JOB_WORD_LEFT] = on_left,        [JOB_WORD_LAST] = on_last,
};

static void on_word(struct run *r, uint32_t node, const struct job_word *word)
{
    struct run_job *job;

    if (of_session[word->kind] != NULL)
        of_session[word->kind](r, node, word);
    if (of_process[word->kind] == NULL)
        return;
    job = ep_run_job_of(r, word->ranges_count > 0 ? word->ranges[0].first
                                                  : word->rank);
    if (job != NULL)
        of_process[word->kind](job, node, word);
}

void ep_run_words(struct run *r, uint32_t node, const struct ov_slice *slice)
{
    struct ov_rd rd =
        ov_rd_init(slice->buf->mem + slice->off_bytes, slice->len_bytes);
    struct job_word word;

    while (ov_rd_left(&rd) > 0 && job_word_decode(&rd, &word) == 0)
        on_word(r, node, &word);
}
