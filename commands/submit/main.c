/* xylem run --dvm: runs a job in a dvm, as a client of the dvm's door: shows
 * its output and sends it input as if the job had a tree of its own.
 *
 * The job ends when this process does, because this process is the client that
 * has started it.
 */
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/attach/feed.h"
#include "commands/attach/loss.h"
#include "commands/attach/session.h"
#include "commands/attach/show.h"
#include "commands/attach/sift.h"
#include "commands/attach/words.h"
#include "commands/choose.h"
#include "commands/commands.h"
#include "commands/refuse.h"
#include "commands/submit/ending.h"
#include "commands/submit/request.h"
#include "commands/submit/stalled.h"
#include "endpoints/run/signals.h"
#include "endpoints/run/style.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"
#include "text/style.h"

/* A second is how long a SIGTSTP waits for the dvm to stop the job; a dvm that
 * does not answer must not prevent our stop. */
enum { EXIT_TIMEOUT = 124, STOP_WAIT_S = 1 };

/* When this much output waits here, the dvm stops reading output of the
 * processes. */
#define FILE_BYTES ((uint64_t)16 << 20)

static struct {
    const struct ep_run_options *options;
    struct event_base *base;
    struct event *limit; /* --timeout */
    struct event *stop;  /* timer: STOP_WAIT_S have passed */
    struct run_signals *signals;
    uint32_t reader; /* the rank that reads stdin, as for request_make() */
    struct topo_ranges readers;
    struct topo_range only; /* a range that has only `reader` */
    struct show_job job;
    unsigned untold; /* how many signals the dvm has not acknowledged yet */
    bool is_started, is_complete, is_stopping, is_leaving;
    bool is_quiet; /* the reader of stdout has closed it */
    int code;
} submit;

/* --- how the program ends */

/* Ends with this exit code, unless an earlier call gave another one; output in
 * hand is still written. */
static void finish(int code)
{
    if (submit.code == 0)
        submit.code = code;
    if (submit.is_leaving)
        return;
    submit.is_leaving = true;
    feed_close();
    sift_finish();
    show_finish();
}

static void check_over(void)
{
    if (submit.is_complete && ending_is_over())
        finish(0);
}

static void on_complete(void)
{
    submit.is_complete = true;
    check_over();
}

/* The dvm has ended. */
static void on_gone(void)
{
    if (!submit.is_leaving)
        finish(words_say("the dvm has ended, and the job with it"));
}

static void on_alone(void)
{
    if (!submit.is_leaving)
        finish(words_say("the dvm closed the connection but goes on: the job "
                         "is ended (start it again)"));
}

static void on_broken(const char *why)
{
    finish(words_say("%s", why));
}

static void on_drained(void)
{
    if (submit.is_leaving)
        event_base_loopbreak(submit.base);
}

static void on_error(bool is_left, const char *why)
{
    submit.is_quiet |= is_left;
    finish(is_left ? 128 + SIGPIPE : words_say("%s", why));
}

static void on_unread(int err)
{
    const char *path = submit.options->input;

    finish(words_say("cannot read %s: %s; the job ends",
                     path != NULL ? path : "stdin", strerror(err)));
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (submit.is_leaving)
        return;
    words_say("timed out after %g s (--timeout); the job ends",
              submit.options->timeout_s);
    finish(EXIT_TIMEOUT);
}

/* --- signals, which are passed to the job */

static void send_signal(int signo)
{
    submit.untold++;
    session_signal(signo);
}

/* Handles a SIGINT or SIGTERM. The first signal ends this program, and so the
 * job, when some processes do not run yet; the second signal ends this program
 * at once. */
static void on_interrupt(void *arg, int signo, uint32_t nth)
{
    (void)arg;
    if (nth == 1 && submit.is_started) {
        send_signal(signo);
        return;
    }
    if (nth == 1) {
        finish(128 + signo);
        return;
    }
    words_say(
        "killing the processes; output that cannot be written is discarded");
    send_signal(SIGKILL);
    show_give_up();
    finish(128 + signo);
    event_base_loopbreak(submit.base);
}

/* Handles a SIGTSTP: stops the processes first, then this process, so that the
 * shell gets its terminal back. */
static void on_stop(void *arg)
{
    static const struct timeval wait = {.tv_sec = STOP_WAIT_S};

    (void)arg;
    if (submit.is_stopping)
        return;
    submit.is_stopping = true;
    event_add(submit.stop, &wait);
    send_signal(SIGTSTP);
}

static void stop_self(void)
{
    if (!submit.is_stopping)
        return;
    submit.is_stopping = false;
    event_del(submit.stop);
    show_hold(true);
    kill(getpid(), SIGSTOP); /* returns after SIGCONT, which is handled next */
}

static void on_stop_wait(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    stop_self();
}

static void on_continue(void *arg)
{
    (void)arg;
    show_hold(false);
    feed_wake();
    send_signal(SIGCONT);
}

static void on_other(void *arg, int signo)
{
    (void)arg;
    send_signal(signo);
}

static void on_signalled(void)
{
    if (submit.untold > 0 && --submit.untold == 0)
        stop_self();
}

/* --- news of the job */

static void on_started(void)
{
    const struct ep_run_options *o = submit.options;

    submit.is_started = true;
    if (submit.is_leaving)
        return;
    if (o->verbose)
        words_say("%u process%s running as %s", submit.job.size,
                  submit.job.size == 1 ? " is" : "es are", submit.job.nspace);
    if (submit.reader != REQUEST_READER_NONE &&
        feed_open(submit.base, &submit.readers, session_push, true,
                  on_unread) != 0)
        finish(words_say("%s", ov_strerror(OV_ENOMEM)));
}

static void on_unstarted(const struct job_door *unstarted)
{
    if (!submit.is_leaving)
        finish(words_say(
            "%s", request_explain(submit.options, submit.reader, unstarted)));
}

static void on_ended(const struct job_door *ended)
{
    ending_over(ended);
    check_over();
}

/* --- how the program begins */

static bool open_base(pid_t dvm)
{
    static const struct loss_events losses = {.on_gone = on_gone,
                                              .on_alone = on_alone};

    submit.base = event_base_new();
    if (submit.base == NULL)
        return false;
    submit.limit = evtimer_new(submit.base, on_limit, NULL);
    submit.stop = evtimer_new(submit.base, on_stop_wait, NULL);
    return submit.limit != NULL && submit.stop != NULL &&
           ending_open(submit.base, &submit.job) == 0 &&
           loss_open(submit.base, dvm, &losses) == 0;
}

/* Starts the timer of --timeout, whose time counts from begun_ns. */
static bool arm_limit(uint64_t begun_ns)
{
    double gone_s = (double)(ep_clock_ns() - begun_ns) / 1e9;
    double left_s = submit.options->timeout_s - gone_s;
    struct timeval limit = {0, 1}; /* at once, if that time has passed
                                      already */

    if (left_s > 0)
        limit = (struct timeval){
            (time_t)left_s,
            (suseconds_t)((left_s - (double)(time_t)left_s) * 1e6)};
    return submit.options->timeout_s <= 0 ||
           event_add(submit.limit, &limit) == 0;
}

/* Reads --stdin: in a dvm stdin goes to one rank, to all, or to none. */
static uint32_t read_readers(const char *text)
{
    struct topo_fault fault;

    topo_ranges_init(&submit.readers, &submit.only, 1);
    if (strcmp(text, "none") == 0)
        return REQUEST_READER_NONE;
    if (strcmp(text, "all") == 0)
        return JOB_READERS_ALL;
    if (topo_ranges_parse(&submit.readers, text, strlen(text), &fault) != 0 ||
        topo_ranges_size(&submit.readers) != 1)
        usage("with --dvm, --stdin takes all, none or one rank, not '%s'",
              text);
    return submit.only.first;
}

static void open_input(const char *path)
{
    char why[EP_WHY_MAX];
    int fd, rc = ep_path_read("--input", path, &fd, why);

    if (rc != 0)
        exit(refuse("%s", why) + (rc == OV_EINVAL));
    if (dup2(fd, STDIN_FILENO) < 0)
        exit(refuse("%s", strerror(errno)));
    close(fd);
}

/* Opens what --output and --error name, for as long as this program runs. */
static void open_outputs(const struct ep_run_options *options)
{
    char why[EP_WHY_MAX];
    int fds[2], rc = ep_run_output_look(options, fds, why);

    if (rc != 0)
        exit(refuse("%s", why) + (rc == OV_EINVAL));
}

/* Starts the job. */
static const char *ask_for_job(struct ep_session *dvm)
{
    const struct ep_run_options *o = submit.options;
    const char *why = request_judge(o);
    struct job_request request;
    struct job_door answer;

    if (why == NULL)
        why = request_make(o, submit.reader, &request);
    if (why != NULL)
        return why;
    why = session_spawn(dvm, &request, &submit.job, &answer);
    if (answer.kind == JOB_DOOR_UNSTARTED)
        why = request_explain(o, submit.reader, &answer);
    job_request_fini(&request);
    return why;
}

static const char *begin(struct ep_session *dvm)
{
    static const struct session_events session_events = {
        .on_output = sift_put,
        .on_lost = show_lost,
        .on_pushed = feed_pushed,
        .on_error = on_broken,
        .on_started = on_started,
        .on_unstarted = on_unstarted,
        .on_signalled = on_signalled,
        .on_heard = ending_output,
        .on_first = ending_first,
        .on_stalled = stalled_hear,
        .on_note = ending_note,
        .on_ended = on_ended,
    };
    static const struct show_events show_events = {
        .on_complete = on_complete,
        .on_lost = loss_begin,
        .on_drained = on_drained,
        .on_room = session_go_on,
        .on_error = on_error,
    };
    const char *why = ask_for_job(dvm);

    if (why == NULL && stalled_open(submit.base, dvm->pid, &submit.job,
                                    submit.options->stall_command) != 0)
        why = ov_strerror(OV_ENOMEM);
    if (why == NULL)
        why = show_open(submit.base, submit.options, &submit.job, false,
                        &show_events);
    if (why == NULL && sift_open(&submit.options->filter, &submit.job) != 0)
        why = ov_strerror(OV_ENOMEM);
    if (why == NULL)
        why = session_open(submit.base, show_writer(), FILE_BYTES,
                           &session_events);
    show_expect(submit.job.channels, 0);
    return why;
}

static int end_program(void)
{
    int code = submit.code, of_job = 0;

    feed_close();
    show_hold(true);
    show_give_up(); /* drops output, so that stderr is free for our message */
    if (submit.is_complete && ending_is_over() && !submit.is_quiet)
        of_job = ending_tell(sift_has_left());
    if (!submit.is_quiet && !submit.options->quiet) {
        sift_tell();
        ending_tell_note();
    }
    if (code == 0)
        code = of_job;
    stalled_close();
    session_leave();
    ending_close();
    show_close();
    sift_close();
    session_close();
    if (show_dropped_bytes() > 0) {
        fprintf(stderr, "xylem: output is incomplete: %llu bytes are missing\n",
                (unsigned long long)show_dropped_bytes());
        code = code == 0 ? 1 : code;
    }
    return code;
}

int run_dvm(const struct ep_run_options *options)
{
    static const struct dvm_use use = {.option = "run --dvm", .verb = "use"};
    static const struct run_signal_events signals = {.on_interrupt =
                                                         on_interrupt,
                                                     .on_stop = on_stop,
                                                     .on_continue = on_continue,
                                                     .on_other = on_other};
    const uint64_t begun_ns = options->start_ns;
    const char *word = options->dvm, *why;
    struct ep_session dvm;

    submit.options = options;
    submit.reader = read_readers(options->stdin_ranks);
    ep_prelude_open(options->timeout_s, begun_ns);
    if (options->input != NULL)
        open_input(options->input);
    open_outputs(options);
    if (choose_dvm(word[0] != '\0' ? word : NULL, &use, &dvm) != 0)
        return 1;
    if (!open_base(dvm.pid) || !arm_limit(begun_ns))
        return refuse("%s", ov_strerror(OV_ENOMEM));
    signal(SIGPIPE, SIG_IGN);
    why = begin(&dvm);
    ep_prelude_close();
    if (why == NULL &&
        ep_run_signals_open(submit.base, &signals, NULL, &submit.signals) != 0)
        why = ov_strerror(OV_ENOMEM);
    if (why != NULL)
        return refuse("%s", why);
    event_base_dispatch(submit.base);
    return end_program();
}
