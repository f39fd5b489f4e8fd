/* xylem attach: shows the output of a running job and sends it input, as a
 * client of its session's door.
 *
 * The job is not disturbed: the client gets a copy of the output, of which the
 * session drops what the client does not read in time.
 */
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
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
#include "commands/options.h"
#include "commands/refuse.h"
#include "commands/stream_options.h"
#include "endpoints/run/run.h"
#include "endpoints/sys/process.h"
#include "overlay/base/err.h"
#include "text/style.h"
#include "topo/ranges.h"

#define OPTION_INTO struct attach_options
/* The most bytes of output that wait here to be shown. */
#define FILE_BYTES ((uint64_t)1 << 30)

struct attach_options {
    struct choose_by which;         /* at most one of its members is given */
    struct topo_ranges ranks;       /* empty: all ranks */
    bool feeds;                     /* send stdin to stdin_ranks */
    struct topo_ranges stdin_ranks; /* empty: all ranks */
    struct ep_run_options output;   /* only the options about how output is
                                       shown are used */
    bool verbose;
};

static struct {
    struct attach_options options;
    struct show_job job;
    struct event_base *base;
    bool is_leaving;
    int code;
} attach;

/* --- options */

static void read_pid(const char *text, void *into)
{
    struct attach_options *o = into;

    o->which.pid = ep_process_number(text);
    if (o->which.pid == 0)
        usage("--pid takes a process number, not '%s'", text);
}

/* Reads the name of a session or a job, as in xylem run --dvm=WHICH. */
static void take_which(const char *word, struct option_words *words)
{
    struct choose_by *which = &attach.options.which;

    (void)words;
    if (which->pid != 0 || which->nspace != NULL || which->uri != NULL)
        usage("name one job: '%s' is another", word);
    which->pid = ep_process_number(word);
    if (which->pid == 0)
        which->nspace = word;
}

/* Reads a list of ranks, whose memory is never freed. */
static void read_list(const char *option, const char *text,
                      struct topo_ranges *out)
{
    uint32_t terms = topo_ranges_terms(text, strlen(text));
    struct topo_range *items = calloc(terms + 1u, sizeof(*items));
    struct topo_fault fault = {.what = "out of memory"};

    if (items != NULL) {
        topo_ranges_init(out, items, terms + 1);
        if (topo_ranges_parse(out, text, strlen(text), &fault) == 0)
            return;
    }
    usage("%s '%s': %s", option, text, fault.what);
}

static void read_ranks(const char *text, void *into)
{
    struct attach_options *o = into;

    read_list("--ranks", text, &o->ranks);
}

static void read_stdin(const char *text, void *into)
{
    struct attach_options *o = into;

    o->feeds = true;
    if (strcmp(text, "all") != 0)
        read_list("--stdin", text, &o->stdin_ranks);
}

// clang-format off
static const struct option_row which_options[] = {
    {.doc = "Which job:"},
    {"pid", 'p', "P", "that of the xylem run with this process number",
     0, READ(read_pid)},
    {"nspace", 0, "NS", "the one of this name, as --label=full shows it",
     0, TEXT(which.nspace)},
    {"uri", 0, "URI",
     "that of the launcher at this address, as xylem run -v prints it",
     0, TEXT(which.uri)},
    {.doc = "Input and processes:"},
    {"ranks", 'r', "LIST", "show these alone, as 0,4-7", 0, READ(read_ranks)},
    {"stdin", 'i', "RANKS", "send stdin to these processes, or to all",
     0, READ(read_stdin)},
    {0},
};

/* --help shows this row at the end of output_options. */
static const struct option_row verbose_option[] = {
    {"verbose", 'v', NULL,
     "say to what it is attached, also where --nspace names it",
     0, FLAG(verbose)},
    {0},
};
// clang-format on

static void parse_options(int argc, char **argv, struct attach_options *out)
{
    const struct option_table tables[] = {
        {.rows = which_options, .into = out},
        {.rows = output_options, .into = &out->output},
        {.rows = verbose_option, .into = out},
        {.rows = NULL},
    };
    const struct option_command command = {
        .name = "xylem attach",
        .args_doc = "[WHICH]",
        .doc = "Show the output of a running job, and send it input. WHICH is "
               "the process number of its xylem run, or its name; without it: "
               "the one running on this machine.",
        .tables = tables,
        .on_word = take_which,
    };

    usage_command = "attach";
    options_parse(argc, argv, &command);
    if ((out->which.pid != 0) + (out->which.nspace != NULL) +
            (out->which.uri != NULL) >
        1)
        usage("--pid, --nspace and --uri each name a job: give one of them");
    stream_options_check(&out->output, false);
}

/* --- how the program ends */

/* Ends with this exit code, unless an earlier call gave another one; output in
 * hand is still written. */
static void finish(int code)
{
    if (attach.code == 0)
        attach.code = code;
    if (attach.is_leaving)
        return;
    attach.is_leaving = true;
    feed_close();
    sift_finish();
    show_finish();
}

static void on_complete(void)
{
    finish(0);
}

/* The launcher has ended without sending the end of each channel, so it did not
 * end properly. */
static void on_gone(void)
{
    if (!attach.is_leaving)
        finish(words_say("the launcher ended before the end of %llu channels: "
                         "output may be missing",
                         (unsigned long long)show_open_channels()));
}

static void on_alone(void)
{
    if (!attach.is_leaving)
        finish(words_say("the launcher closed the connection but goes on: "
                         "output may be missing (attach again)"));
}

static void on_drained(void)
{
    if (attach.is_leaving)
        event_base_loopbreak(attach.base);
}

static void on_error(bool is_left, const char *why)
{
    finish(is_left ? 128 + SIGPIPE : words_say("%s", why));
}

static void on_unread(int err)
{
    finish(words_say("cannot read stdin: %s; no more input is sent to the job",
                     strerror(err)));
}

/* The first signal ends the program after it has shown the output that has
 * come; the second signal ends it at once. */
static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)number;
    (void)what;
    (void)arg;
    if (attach.is_leaving)
        show_give_up();
    finish(0);
}

/* Stops this program alone, so that the shell gets its terminal back. */
static void on_stop(evutil_socket_t number, short what, void *arg)
{
    (void)number;
    (void)what;
    (void)arg;
    show_hold(true);
    kill(getpid(), SIGSTOP); /* returns after SIGCONT */
    show_hold(false);
}

/* --- how the program begins */

static bool hear(int signo, event_callback_fn on_event)
{
    struct event *event =
        event_new(attach.base, signo, EV_SIGNAL | EV_PERSIST, on_event, NULL);

    return event != NULL && event_add(event, NULL) == 0;
}

/* SIGTSTP is left as it is where that is not its default. */
static bool hear_stop(void)
{
    struct sigaction action;

    return sigaction(SIGTSTP, NULL, &action) != 0 ||
           action.sa_handler != SIG_DFL || hear(SIGTSTP, on_stop);
}

static bool open_base(pid_t launcher)
{
    static const struct loss_events losses = {.on_gone = on_gone,
                                              .on_alone = on_alone};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    attach.base = event_base_new();
    if (attach.base == NULL)
        return false;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (!hear(signals[i], on_signal))
            return false;
    }
    return hear_stop() && loss_open(attach.base, launcher, &losses) == 0;
}

static const char *check_ranks(const char *option,
                               const struct topo_ranges *ranks, uint32_t size)
{
    static char why[128];
    uint32_t count = topo_ranges_size(ranks);
    uint32_t last = topo_ranges_nth(ranks, count - 1);

    if (count == 0 || last < size)
        return NULL;
    snprintf(
        why, sizeof(why),
        "%s: there is no rank %u: the job has %u processes, counted from 0",
        option, last, size);
    return why;
}

/* Asks for output, after setting the number of channels to wait for. */
static void pull(void)
{
    const struct topo_ranges *ranks = &attach.options.ranks;

    session_pull(ranks, attach.job.channels);
    show_expect(attach.job.channels, topo_ranges_size(ranks));
}

static void on_live(void)
{
    /* A user who has named the job knows which job it is. */
    if (attach.options.verbose || attach.options.which.nspace == NULL)
        words_say("attached to %s: %u process%s, Ctrl-C leaves",
                  attach.job.nspace, attach.job.size,
                  attach.job.size == 1 ? "" : "es");
}

static void on_broken(const char *why)
{
    finish(words_say("%s", why));
}

static const char *begin(pid_t launcher)
{
    static const struct session_events session_events = {
        .on_live = on_live,
        .on_output = sift_put,
        .on_lost = show_lost,
        .on_pushed = feed_pushed,
        .on_error = on_broken,
    };
    static const struct show_events show_events = {
        .on_complete = on_complete,
        .on_lost = loss_begin,
        .on_drained = on_drained,
        .on_room = session_go_on,
        .on_error = on_error,
    };
    const struct attach_options *o = &attach.options;
    const char *why = NULL;

    if (!open_base(launcher))
        return ov_strerror(OV_ENOMEM);
    attach.job.ranks = &o->ranks;
    why = show_open(attach.base, &o->output, &attach.job, true, &show_events);
    if (why == NULL)
        why = session_open(attach.base, show_writer(), FILE_BYTES,
                           &session_events);
    if (why == NULL && sift_open(&o->output.filter, &attach.job) != 0)
        why = ov_strerror(OV_ENOMEM);
    if (why != NULL)
        return why;
    pull();
    if (o->feeds && feed_open(attach.base, &o->stdin_ranks, session_push, false,
                              on_unread) != 0)
        why = ov_strerror(OV_ENOMEM);
    return why;
}

/* Finds the job at the session. Until this has returned, a signal ends the
 * program at once. */
static const char *find_job(struct ep_session *found)
{
    const struct attach_options *o = &attach.options;
    const char *why = session_attach(found, o->which.nspace, &attach.job);

    if (why == NULL)
        why = check_ranks("--ranks", &o->ranks, attach.job.size);
    if (why == NULL)
        why = check_ranks("--stdin", &o->stdin_ranks, attach.job.size);
    return why;
}

int attach_main(int argc, char **argv)
{
    struct ep_session found;
    const char *why;
    pid_t launcher;

    parse_options(argc, argv, &attach.options);
    if (choose_launcher(&attach.options.which, &found) != 0)
        return 1;
    launcher = found.pid;
    signal(SIGPIPE, SIG_IGN);
    why = find_job(&found);
    if (why == NULL)
        why = begin(launcher);
    if (why != NULL)
        return refuse("%s", why);
    event_base_dispatch(attach.base);
    show_hold(true);
    feed_close();
    session_leave();
    sift_tell();
    show_close();
    sift_close();
    session_close();
    if (attach.code == 0 && show_dropped_bytes() > 0)
        return refuse(
            "%llu bytes of output are missing: they were read too slowly",
            (unsigned long long)show_dropped_bytes());
    return attach.code;
}
