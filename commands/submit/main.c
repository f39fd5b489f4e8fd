/* xylem-submit: runs a job in a dvm, as any PMIx tool can, and shows its output
 * and feeds it as if it had a tree of its own. `xylem run --dvm` becomes this
 * program.
 *
 * The job ends when this process does: it is the tool that has started it.
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
#include "commands/attach/show.h"
#include "commands/attach/words.h"
#include "commands/choose.h"
#include "commands/refuse.h"
#include "commands/run_options.h"
#include "commands/start.h"
#include "commands/submit/job.h"
#include "commands/submit/link.h"
#include "endpoints/run/signals.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "endpoints/sys/waker.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"
#include "text/style.h"

/* A dvm that does not answer does not prevent a stop. */
enum { EXIT_TIMEOUT = 124, STOP_WAIT_S = 1 };

static struct {
    struct ep_run_options options;
    struct event_base *base;
    struct event *wakes; /* by the library's thread, through: */
    int wake;            /* eventfd */
    struct event *limit; /* --timeout */
    struct event *stop;  /* the dvm has had its time to stop the job */
    struct run_signals *signals;
    struct topo_ranges readers;
    struct topo_range reader; /* the only member of these */
    struct show_job job;
    struct job_end end;
    bool is_complete, has_ended, is_stopping, is_leaving;
    bool is_quiet; /* what reads stdout has left */
    int code;
} submit = {.wake = -1};

/* --- how it ends */

/* What goes wrong while the rest is written counts, too; the first of it. */
static void finish(int code)
{
    if (submit.code == 0)
        submit.code = code;
    if (submit.is_leaving)
        return;
    submit.is_leaving = true;
    feed_close();
    show_finish();
}

static const char *host_of(uint32_t rank)
{
    const char *host = rank < submit.job.size ? submit.job.hosts[rank] : NULL;

    return host != NULL ? host : "?";
}

/* As a run with a tree of its own has it. */
static int tell_end(const struct job_end *end)
{
    if (end->is_lost)
        return words_say("a node with processes of the job is lost: it has not "
                         "run to its end (the dvm says which)");
    if (!end->has_failed)
        return 0;
    if (end->is_signal)
        words_say("rank %u on %s was ended by signal %d (%s)", end->rank,
                  host_of(end->rank), end->code, strsignal(end->code));
    else
        words_say("rank %u on %s returned %d", end->rank, host_of(end->rank),
                  end->code);
    if (end->failed > 1)
        words_say("%u processes ended badly", end->failed);
    return end->is_signal ? 128 + end->code : end->code;
}

static void check_over(void)
{
    if (submit.is_complete && submit.has_ended)
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
        finish(
            words_say("the dvm has cut this off, but goes on: the job is ended "
                      "(what serves tools there has died; start the job "
                      "again)"));
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
    const char *path = submit.options.input;

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
    words_say("the time of %g s is over; the job ends",
              submit.options.timeout_s);
    finish(EXIT_TIMEOUT);
}

/* --- signals: they are the job's */

static void send_signal(int signo)
{
    show_let_pass(true);
    job_signal(signo);
}

/* The second one: nothing is waited for. */
static void on_interrupt(void *arg, int signo, uint32_t nth)
{
    (void)arg;
    if (nth == 1) {
        send_signal(signo);
        return;
    }
    words_say("killing the processes; output that cannot be written is given "
              "up");
    send_signal(SIGKILL);
    show_give_up();
    finish(128 + signo);
    event_base_loopbreak(submit.base);
}

/* The processes stop, then this one, so that the shell gets its terminal. */
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
    kill(getpid(), SIGSTOP); /* returns with SIGCONT, which is heard next */
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
    feed_wake();
    send_signal(SIGCONT);
}

static void on_other(void *arg, int signo)
{
    (void)arg;
    send_signal(signo);
}

/* --- news of the library's thread */

static void wake(void)
{
    ep_waker_wake(submit.wake);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    (void)arg;
    ep_waker_hear(fd);
    if (job_is_told()) {
        show_let_pass(false);
        stop_self();
    }
    if (job_has_ended(&submit.end)) {
        submit.has_ended = true;
        check_over();
    }
}

/* --- how it begins */

static bool open_base(pid_t dvm)
{
    static const struct loss_events losses = {.on_gone = on_gone,
                                              .on_alone = on_alone};

    submit.base = event_base_new();
    submit.wake = ep_waker_open();
    if (submit.base == NULL || submit.wake < 0)
        return false;
    submit.wakes = ep_waker_event(submit.base, submit.wake, on_wake, NULL);
    submit.limit = evtimer_new(submit.base, on_limit, NULL);
    submit.stop = evtimer_new(submit.base, on_stop_wait, NULL);
    return submit.wakes != NULL && submit.limit != NULL &&
           submit.stop != NULL && loss_open(submit.base, dvm, &losses) == 0;
}

/* It counts from begun_ns on. */
static bool arm_limit(uint64_t begun_ns)
{
    double gone_s = (double)(ep_clock_ns() - begun_ns) / 1e9;
    double left_s = submit.options.timeout_s - gone_s;
    struct timeval limit = {0, 1}; /* it is over */

    if (left_s > 0)
        limit = (struct timeval){
            (time_t)left_s,
            (suseconds_t)((left_s - (double)(time_t)left_s) * 1e6)};
    return submit.options.timeout_s <= 0 ||
           event_add(submit.limit, &limit) == 0;
}

/* PMIx has one rank or all for that. */
static uint32_t read_readers(const char *text)
{
    struct topo_fault fault = {.what = "there is nothing"};

    topo_ranges_init(&submit.readers, &submit.reader, 1);
    if (strcmp(text, "none") == 0)
        return JOB_READER_NONE;
    if (strcmp(text, "all") == 0)
        return JOB_READERS_ALL;
    if (topo_ranges_parse(&submit.readers, text, strlen(text), &fault) != 0 ||
        topo_ranges_size(&submit.readers) != 1)
        usage("with --dvm, --stdin takes all, none or one rank, not '%s'",
              text);
    return submit.reader.first;
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

static int find_dvm(const char *word, struct chosen *out)
{
    static const struct dvm_use use = {.option = "run --dvm", .verb = "use"};
    struct ep_session dvm;

    if (strchr(word, ';') != NULL)
        return choose_uri(word, out);
    if (choose_dvm(word[0] != '\0' ? word : NULL, &use, &dvm) != 0)
        return 1;
    return choose_address(&dvm, out);
}

static const char *begin(const char *uri, uint32_t reader)
{
    static const struct link_events link_events = {
        .on_output = show_put,
        .on_lost = show_lost,
        .on_pushed = feed_pushed,
    };
    static const struct show_events show_events = {
        .on_complete = on_complete,
        .on_lost = loss_begin,
        .on_drained = on_drained,
        .on_error = on_error,
    };
    const struct ep_run_options *o = &submit.options;
    const char *why = job_judge(o), *nspace;
    unsigned channels = 1u << TEXT_CHANNEL_STDOUT | 1u << TEXT_CHANNEL_STDERR;

    if (o->stddiag)
        channels |= 1u << TEXT_CHANNEL_STDDIAG;
    if (why == NULL)
        why = link_open(uri, &link_events);
    if (why == NULL)
        why = job_watch(wake);
    if (why == NULL)
        why = job_start(o, reader, &nspace);
    if (why == NULL)
        why = link_job(nspace, &submit.job);
    if (why == NULL)
        why = show_open(submit.base, o, &submit.job, false, &show_events);
    if (why == NULL)
        why = link_pull(&channels);
    show_expect(channels, 0);
    if (why == NULL && reader != JOB_READER_NONE &&
        feed_open(submit.base, &submit.readers, link_push, true, on_unread) !=
            0)
        why = ov_strerror(OV_ENOMEM);
    if (why == NULL && o->verbose)
        words_say("%u process%s running as %s", submit.job.size,
                  submit.job.size == 1 ? " is" : "es are", nspace);
    return why;
}

static int end(void)
{
    int code = submit.code, of_job = 0;

    feed_close();
    show_give_up(); /* nothing is in the way of our words */
    if (submit.is_complete && submit.has_ended && !submit.is_quiet)
        of_job = tell_end(&submit.end);
    if (code == 0)
        code = of_job;
    show_close();
    link_close();
    if (show_dropped_bytes() > 0) {
        fprintf(stderr,
                "xylem: the output is not whole: %llu bytes are missing\n",
                (unsigned long long)show_dropped_bytes());
        code = code == 0 ? 1 : code;
    }
    return code;
}

int main(int argc, char **argv)
{
    static char name[] = "xylem run";
    static const struct run_command command = {
        .name = name,
        .args_doc = RUN_ARGS_DOC,
        .doc = "Run PROGRAM in the tree of a running dvm.",
        .sets = OF_JOB};
    static const struct run_signal_events signals = {.on_interrupt =
                                                         on_interrupt,
                                                     .on_stop = on_stop,
                                                     .on_continue = on_continue,
                                                     .on_other = on_other};
    static struct chosen chosen;
    const char *why;
    uint64_t begun_ns;
    uint32_t reader;

    start();
    run_options_parse(argc, argv, &command, &submit.options);
    reader = read_readers(submit.options.stdin_ranks);
    ep_prelude_open(submit.options.timeout_s, ep_clock_ns());
    begun_ns = ep_clock_ns();
    if (submit.options.input != NULL)
        open_input(submit.options.input);
    if (find_dvm(submit.options.dvm, &chosen) != 0)
        return 1;
    if (!open_base(chosen.pid) || !arm_limit(begun_ns))
        return refuse("%s", ov_strerror(OV_ENOMEM));
    signal(SIGPIPE, SIG_IGN);
    why = begin(chosen.uri, reader);
    ep_prelude_close();
    if (why == NULL &&
        ep_run_signals_open(submit.base, &signals, NULL, &submit.signals) != 0)
        why = ov_strerror(OV_ENOMEM);
    if (why != NULL)
        return refuse("%s", why);
    event_base_dispatch(submit.base);
    return end();
}
