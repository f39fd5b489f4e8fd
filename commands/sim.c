/* Running the simulator for a person: one run, many, a table. */
#include "commands/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/sim_json.h"
#include "commands/sim_options.h"
#include "commands/sim_plot.h"
#include "commands/sim_sweep.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum {
    ITEMS_AT_ONCE = 4096,
    PROGRESS_S = 2,
    SAMPLES_MAX = 1024, /* of the progress of levels */
    SUMMARIES_MAX = SIM_SWEEP_VALUES * SIM_SWEEP_VALUES,
};

/* What is kept of the runs. */
struct study {
    struct sim_options *options;
    struct sim_world world;
    struct sim_summary *runs;
    uint32_t count;
    struct sim_progress progress;
    uint32_t sample_every; /* slices of items */
    double told_s;
    int json_fd; /* -1: the figures go to a file by its name */
};

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A line on stderr every two seconds, over the one before. */
static void tell(struct study *study, double since_s)
{
    const struct sim_world *w = &study->world;
    double at_s = seconds(CLOCK_MONOTONIC);

    if (!isatty(STDERR_FILENO) || at_s < study->told_s + PROGRESS_S)
        return;
    study->told_s = at_s;
    fprintf(stderr,
            "\rxylem: %.0f s: %.3f s of virtual time, %" PRIu64
            " million steps\033[K",
            at_s - since_s, (double)w->queue.now_ns / 1e9, w->steps / 1000000);
}

/* --- progress of the levels */

/* Half of the samples go, the others stand for twice the time. */
static void thin(struct study *study)
{
    struct sim_progress *p = &study->progress;

    p->count /= 2;
    for (uint32_t i = 0; i < p->count; i++) {
        p->at_ns[i] = p->at_ns[2 * i + 1];
        memcpy(&p->bytes[i * p->levels], &p->bytes[(2 * i + 1) * p->levels],
               p->levels * sizeof(*p->bytes));
    }
    study->sample_every *= 2;
}

static void sample(struct study *study)
{
    const struct sim_world *w = &study->world;
    struct sim_progress *p = &study->progress;

    if (p->at_ns == NULL || !w->launcher->is_joined)
        return;
    if (p->count == SAMPLES_MAX)
        thin(study);
    p->at_ns[p->count] = w->queue.now_ns;
    for (uint32_t i = 0; i < p->levels; i++)
        p->bytes[p->count * p->levels + i] =
            w->measure->level[i].stdin_bytes + w->measure->level[i].shown_bytes;
    p->count++;
}

static void begin_samples(struct study *study)
{
    struct sim_progress *p = &study->progress;

    if (study->options->plot == NULL || study->options->sweeps_count > 0)
        return;
    free(p->at_ns);
    free(p->bytes);
    p->levels = study->world.measure->levels;
    p->count = 0;
    p->at_ns = calloc(SAMPLES_MAX, sizeof(*p->at_ns));
    p->bytes = calloc((size_t)SAMPLES_MAX * p->levels, sizeof(*p->bytes));
    study->sample_every = 1;
    if (p->at_ns == NULL || p->bytes == NULL) {
        fputs("xylem: there is no memory for a picture\n", stderr);
        exit(1);
    }
}

/* --- runs */

static void open_world(struct study *study)
{
    uint32_t nodes = study->options->cfg.overlay.plan.nodes;

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rxylem: building %u nodes\033[K", nodes);
    if (sim_world_open(&study->world, &study->options->cfg)) {
        fprintf(stderr, "xylem: there is no memory for %u nodes\n", nodes);
        exit(1);
    }
}

/* Runs the world to its end, or until real time is over. */
static void drive(struct study *study, double since_s)
{
    struct sim_world *w = &study->world;
    double until_s = since_s + (double)study->options->real_limit_ns / 1e9;
    uint64_t at_once = ITEMS_AT_ONCE;
    uint32_t slices = 0;

    /* Small runs have few items: a picture wants many points. */
    if (sim_nodes(w) < at_once)
        at_once = sim_nodes(w);
    while (!w->is_stopped && sim_world_run(w, at_once)) {
        if (slices++ % (study->sample_every > 0 ? study->sample_every : 1) == 0)
            sample(study);
        if (slices % 64 != 0)
            continue;
        tell(study, since_s);
        w->is_stopped = seconds(CLOCK_MONOTONIC) >= until_s;
    }
}

/* Runs the options as they are; the world stays open. */
static void run(struct study *study)
{
    struct sim_world *w = &study->world;
    double since_s = seconds(CLOCK_MONOTONIC);
    double cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);

    study->told_s = since_s;
    open_world(study);
    begin_samples(study);
    drive(study, since_s);
    sample(study);
    sim_world_finish(w);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    fprintf(stderr,
            "xylem: simulated in %.2f s of processor time, %.2f million steps "
            "a second\n",
            cpu_s, (double)w->steps / 1e6 / cpu_s);
    sim_summary_make(w, &study->runs[study->count++]);
}

/* Says in a line what became of one of many seeds. */
static void print_seed(const struct sim_summary *run)
{
    static const char *const words[] = {
        [SIM_END_WELL] = "ended well",
        [SIM_END_LOSS] = "ended with a loss",
        [SIM_END_STUCK] = "did not end",
        [SIM_END_BROKEN] = "BROKEN",
    };

    printf("seed %" PRIu64 ": %s at %" PRIu64 " ns, digest %016" PRIx64
           "%s%s\n",
           run->seed, words[run->end], run->end_ns, run->digest,
           run->why[0] != '\0' ? ": " : "", run->why);
    fflush(stdout);
}

static void run_seeds(struct study *study)
{
    for (uint32_t i = 0; i < study->options->runs; i++) {
        run(study);
        if (study->options->runs == 1)
            sim_report_print(&study->world, stdout);
        else
            print_seed(&study->runs[study->count - 1]);
        sim_world_close(&study->world);
        study->options->cfg.seed++;
    }
}

static void run_line(struct study *study)
{
    run(study);
    sim_world_close(&study->world);
    sim_sweep_line(stdout, &study->runs[study->count - 1]);
    fflush(stdout);
}

static void run_sweep(struct study *study)
{
    struct sim_options *o = study->options;
    static const struct sim_sweep once = {.count = 1};
    const struct sim_sweep *second =
        o->sweeps_count > 1 ? &o->sweeps[1] : &once;

    sim_sweep_head(stdout);
    for (uint32_t j = 0; j < second->count; j++) {
        if (o->sweeps_count > 1)
            sim_options_set(o, second->key, second->values[j]);
        for (uint32_t i = 0; i < o->sweeps[0].count; i++) {
            sim_options_set(o, o->sweeps[0].key, o->sweeps[0].values[i]);
            run_line(study);
        }
    }
}

/* --- what is written */

static int write_files(struct study *study)
{
    const struct sim_options *o = study->options;
    int code = 0;

    if (o->json != NULL &&
        sim_json_write(o->json, study->json_fd, study->runs, study->count)) {
        fprintf(stderr, "xylem: %s cannot be written: %s\n", o->json,
                strerror(errno));
        code = 1;
    }
    if (o->plot == NULL)
        return code;
    if (o->sweeps_count > 0
            ? sim_plot_sweep(
                  o->plot, sim_sweep_name(o->sweeps[0].key),
                  o->sweeps_count > 1 ? sim_sweep_name(o->sweeps[1].key) : NULL,
                  study->runs, study->count)
            : sim_plot_progress(o->plot, &study->runs[0], &study->progress)) {
        fprintf(stderr, "xylem: gnuplot could not draw %s\n", o->plot);
        code = 1;
    }
    return code;
}

/* What is no regular file is opened before the work: one that nobody reads is
 * found out, and gnuplot does not wait for a reader. */
static void open_stream(const char *option, const char *path, int *fd)
{
    char why[EP_WHY_MAX];
    int rc;

    *fd = -1;
    if (path == NULL || strcmp(path, "-") == 0)
        return;
    rc = ep_path_write(option, path, fd, why);
    if (rc == 0 && *fd >= 0) /* it may take its time */
        rc = fcntl(*fd, F_SETFL, 0) == 0 ? 0 : OV_ESYS;
    if (rc == 0)
        return;
    fprintf(stderr, "xylem: %s\n", why);
    exit(rc == OV_EINVAL ? 2 : 1);
}

int sim_main(int argc, char **argv)
{
    static struct sim_options options;
    static struct study study = {.options = &options};
    int code, plot_fd;

    ep_prelude_open(0);
    sim_options_parse(argc, argv, &options);
    open_stream("--json", options.json, &study.json_fd);
    open_stream("--plot", options.plot, &plot_fd);
    ep_prelude_close();
    if (options.plot != NULL)
        sim_plot_check();
    study.runs =
        calloc(options.runs > SUMMARIES_MAX ? options.runs : SUMMARIES_MAX,
               sizeof(*study.runs));
    if (study.runs == NULL) {
        fputs("xylem: there is no memory for so many runs\n", stderr);
        return 1;
    }
    if (options.sweeps_count > 0)
        run_sweep(&study);
    else
        run_seeds(&study);
    fflush(stdout);
    code = write_files(&study);
    for (uint32_t i = 0; i < study.count; i++) {
        if (study.runs[i].end >= SIM_END_STUCK)
            code = 1;
    }
    if (plot_fd >= 0)
        close(plot_fd);
    free(study.progress.at_ns);
    free(study.progress.bytes);
    free(study.runs);
    return code;
}
