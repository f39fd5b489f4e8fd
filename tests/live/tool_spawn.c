/* A run whose tap starts further jobs in its tree.
 *
 *     tool_spawn XYLEMD STATS REPORT COUNT AT_ONCE PROCS OWN PROGRAM [ARG...]
 *
 * Runs the shell's words OWN on three virtual nodes. Once it has put out
 * something COUNT jobs of the program are started, AT_ONCE at a time, with
 * PROCS processes each (0: one a node). REPORT gets a line for each thing that
 * is told of a process or job, by the number of the job, 0 being the run's own:
 *
 *     output JOB RANK CHANNEL TEXT...   a record, newlines as \n
 *     end JOB RANK CHANNEL              the channel's end
 *     exit JOB RANK STATUS
 *     started JOB | ended JOB WHOLE | failed JOB RANK STEP ERRNO
 *     refused WHY
 *     all                               the last job has ended
 *
 * With XYLEM_TEST_KILL each job is killed once it has put out something.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/run/run.h"

enum { NODES = 3, JOBS_MAX = 1024, PAD_BYTES = 32 * 1024 };

struct started {
    uint32_t base;
    bool is_over, is_kill_due;
};

static struct {
    struct ep_tap_cfg run;
    FILE *report;
    struct event *later;
    struct started jobs[JOBS_MAX + 1]; /* the run's own first */
    uint32_t count, made, over, at_once, procs;
    const char *const *argv;
    bool kills;
} tap;

static uint32_t started_of(uint32_t number)
{
    uint32_t i = tap.made;

    while (i > 0 && tap.jobs[i].base > number)
        i--;
    return i;
}

/* Calls of the launcher are answered from the loop. */
static void wake(void)
{
    static const struct timeval now = {0, 0};

    if (!evtimer_pending(tap.later, NULL))
        evtimer_add(tap.later, &now);
}

static bool spawn(void)
{
    static char pad[PAD_BYTES];
    struct job_env env = {.what = JOB_ENV_SET, .text = pad};
    const struct job_wish app = {.program.argv = tap.argv,
                                 .env = &env,
                                 .env_count = 1,
                                 .procs = tap.procs};
    const struct ep_tap_spawn what = {.apps = &app, .apps_count = 1};
    struct ep_tap_spawned spawned;
    char why[EP_TAP_WHY_MAX];

    /* So much of a job would be noticed if it stayed. */
    memset(pad, 'x', sizeof(pad) - 1);
    memcpy(pad, "PAD=", 4);
    if (!tap.run.events->on_spawn(tap.run.arg, &what, &spawned, why)) {
        fprintf(tap.report, "refused %s\n", why);
        tap.count = tap.made;
        return false;
    }
    tap.jobs[++tap.made] = (struct started){.base = spawned.base};
    return true;
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    for (uint32_t i = 1; i <= tap.made; i++) {
        struct started *job = &tap.jobs[i];
        struct topo_range all = {job->base, job->base + tap.procs - 1};

        if (job->is_kill_due && !job->is_over)
            tap.run.events->on_signal(tap.run.arg, SIGKILL, &all, 1);
        tap.jobs[i].is_kill_due = false;
    }
    while (tap.made < tap.count && tap.made - tap.over < tap.at_once && spawn())
        ;
    if (tap.over == tap.count)
        fputs("all\n", tap.report);
}

/* --- the tap */

static void *on_open(const struct ep_tap_cfg *cfg)
{
    tap.run = *cfg;
    tap.later = evtimer_new(cfg->base, on_later, NULL);
    return tap.later == NULL ? NULL : &tap;
}

static void on_close(void *arg)
{
    (void)arg;
    event_free(tap.later);
}

static void put_text(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] == '\n')
            fputs("\\n", tap.report);
        else
            fputc(text[i], tap.report);
    }
    fputc('\n', tap.report);
}

static enum ep_tap_output on_output(void *arg, const struct job_record *rec)
{
    uint32_t nth = started_of(rec->proc);
    struct started *job = &tap.jobs[nth];

    (void)arg;
    if (rec->len_bytes > 0) {
        fprintf(tap.report, "output %u %u %u ", nth, rec->proc - job->base,
                rec->channel);
        put_text(rec->mem, rec->len_bytes);
        job->is_kill_due = tap.kills && nth > 0;
        wake();
    }
    if (rec->is_end)
        fprintf(tap.report, "end %u %u %u\n", nth, rec->proc - job->base,
                rec->channel);
    return EP_TAP_PASSED;
}

static void on_exit_(void *arg, uint32_t rank, uint32_t status)
{
    uint32_t nth = started_of(rank);

    (void)arg;
    fprintf(tap.report, "exit %u %u %u\n", nth, rank - tap.jobs[nth].base,
            status);
}

static void on_job(void *arg, const struct ep_tap_job *job)
{
    uint32_t nth = started_of(job->base);

    (void)arg;
    switch (job->event) {
    case EP_TAP_JOB_BEGUN: /* as on_spawn answers */
        break;
    case EP_TAP_JOB_STARTED:
        fprintf(tap.report, "started %u\n", nth);
        break;
    case EP_TAP_JOB_FAILED:
        fprintf(tap.report, "failed %u %u %s %d\n", nth, job->rank, job->step,
                job->err);
        break;
    case EP_TAP_JOB_ENDED:
        fprintf(tap.report, "ended %u %d\n", nth, job->is_whole);
        tap.jobs[nth].is_over = true;
        tap.over++;
        wake();
        break;
    case EP_TAP_JOB_FORGOTTEN: /* nothing was kept */
        break;
    }
}

static bool on_flush(void *arg)
{
    (void)arg;
    return false;
}

static const struct ep_tap_ops ops = {
    .open = on_open,
    .close = on_close,
    .output = on_output,
    .exit = on_exit_,
    .job = on_job,
    .flush = on_flush,
};

int main(int argc, char **argv)
{
    const char *own[] = {"sh", "-c", NULL, NULL};
    struct ep_run_options options = {
        .nodes = NODES,
        .launch_timeout_s = 60,
        .heartbeat_s = 10,
        .linger_s = 2,
        .stdin_ranks = "none",
        .apps_count = 1,
        .tap = &ops,
    };

    if (argc < 9)
        return 2;
    options.xylemd = argv[1];
    options.stats = argv[2];
    tap.report = fopen(argv[3], "w");
    if (tap.report == NULL || setvbuf(tap.report, NULL, _IOLBF, 0) != 0)
        return 2;
    tap.count = (uint32_t)atoi(argv[4]);
    tap.at_once = (uint32_t)atoi(argv[5]);
    tap.procs = (uint32_t)atoi(argv[6]);
    own[2] = argv[7];
    tap.argv = (const char *const *)argv + 8;
    tap.kills = getenv("XYLEM_TEST_KILL") != NULL;
    options.apps[0].program.argv = own;
    if (tap.count > JOBS_MAX)
        return 2;
    return ep_run(&options);
}
