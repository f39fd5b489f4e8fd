/* The command `xylem sim`: simulates one run, many runs, or a table of runs,
 * and writes the results as text, JSON and pictures. */
#include "commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "commands/sim_options.h"
#include "commands/sim_plot.h"
#include "config.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"
#include "sim/figure.h"

enum {
    ITEMS_AT_ONCE = 4096,
    PROGRESS_S = 2,
    SUMMARIES_MAX = SIM_SWEEP_VALUES * SIM_SWEEP_VALUES,
};

/* The results of all runs. */
struct study {
    struct sim_options *options;
    struct sim_world world;
    struct sim_summary *runs;
    uint32_t count;
    struct sim_progress progress;
    double told_s;
    int json_fd; /* -1: the JSON file is opened at the end, by its name */
};

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Writes the progress on stderr every two seconds, in place of the line before.
 */
static void tell_progress(struct study *study, double since_s)
{
    const struct sim_world *w = &study->world;
    double at_s = seconds(CLOCK_MONOTONIC);

    if (!isatty(STDERR_FILENO) || at_s < study->told_s + PROGRESS_S)
        return;
    study->told_s = at_s;
    fprintf(stderr,
            "\rxylem: %.0f s: %.3f s of virtual time, %" PRIu64
            " million steps\033[K",
            at_s - since_s, (double)w->queue.now_ns / 1e9,
            w->counts.steps / 1000000);
}

/* --- runs */

static void open_world(struct study *study)
{
    uint32_t nodes = study->options->cfg.overlay.plan.nodes;

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rxylem: building %u nodes\033[K", nodes);
    if (sim_world_open(&study->world, &study->options->cfg))
        exit(refuse("out of memory for %u nodes (-N)", nodes));
    if (study->options->plot != NULL && study->options->sweeps_count == 0 &&
        sim_progress_open(&study->progress, study->world.measure->levels))
        exit(refuse("out of memory for --plot"));
}

/* Runs the world to its end, or until the limit of real time is reached. */
static void drive(struct study *study, double since_s)
{
    struct sim_world *w = &study->world;
    double until_s = since_s + (double)study->options->real_limit_ns / 1e9;
    uint64_t at_once = ITEMS_AT_ONCE;
    uint32_t slices = 0;

    /* A small run has few items, but its picture needs many points. */
    if (sim_nodes(w) < at_once)
        at_once = sim_nodes(w);
    while (!w->end.is_stopped && sim_world_run(w, at_once)) {
        sim_progress_look(&study->progress, w, false);
        if (++slices % 64 != 0)
            continue;
        tell_progress(study, since_s);
        w->end.is_stopped = seconds(CLOCK_MONOTONIC) >= until_s;
    }
}

/* Runs once with the current options; the world stays open. */
static void run(struct study *study)
{
    struct sim_world *w = &study->world;
    double since_s = seconds(CLOCK_MONOTONIC);
    double cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);

    study->told_s = since_s;
    open_world(study);
    drive(study, since_s);
    sim_progress_look(&study->progress, w, true);
    sim_world_finish(w);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    fprintf(stderr,
            "xylem: simulated in %.2f s of processor time, %.2f million steps "
            "a second\n",
            cpu_s, (double)w->counts.steps / 1e6 / cpu_s);
    sim_summary_make(w, &study->runs[study->count++]);
}

/* Writes one line about the run of one of many seeds. */
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

/* --- a table of runs */

static void put_head(FILE *file)
{
    fprintf(file, "%8s %6s %9s  %9s %9s %9s  %9s %9s  %9s  %s\n", "nodes",
            "arity", "size", "stdin", "output", "end", "root out", "root in",
            "held", "ended");
}

static void put_line(FILE *file, const struct sim_summary *run)
{
    static const char *const words[] = {
        [SIM_END_WELL] = "well",
        [SIM_END_LOSS] = "with a loss",
        [SIM_END_STUCK] = "not at all",
        [SIM_END_BROKEN] = "BROKEN",
    };
    uint64_t size = run->stdin_bytes > 0 ? run->stdin_bytes : run->out_bytes;
    char a[7][SIM_FIGURE_BYTES];

    fprintf(file, "%8u %6u %9s  %9s %9s %9s  %9s %9s  %9s  %s%s%s\n",
            run->nodes, run->arity, sim_figure_bytes(a[0], size),
            sim_figure_time(a[1], run->stdin_ns),
            sim_figure_time(a[2], run->shown_ns),
            sim_figure_time(a[3], run->end_ns),
            sim_figure_bytes(a[4], run->root_out_bytes),
            sim_figure_bytes(a[5], run->root_in_bytes),
            sim_figure_bytes(a[6], run->held_bytes_peak), words[run->end],
            run->why[0] != '\0' ? ": " : "", run->why);
}

static void run_line(struct study *study)
{
    run(study);
    sim_world_close(&study->world);
    put_line(stdout, &study->runs[study->count - 1]);
    fflush(stdout);
}

static void run_sweep(struct study *study)
{
    struct sim_options *o = study->options;
    static const struct sim_sweep once = {.count = 1};
    const struct sim_sweep *second =
        o->sweeps_count > 1 ? &o->sweeps[1] : &once;

    put_head(stdout);
    for (uint32_t j = 0; j < second->count; j++) {
        if (o->sweeps_count > 1)
            sim_options_set(o, second->key, second->values[j]);
        for (uint32_t i = 0; i < o->sweeps[0].count; i++) {
            sim_options_set(o, o->sweeps[0].key, o->sweeps[0].values[i]);
            run_line(study);
        }
    }
}

/* --- JSON */

static const char *const ends[] = {
    [SIM_END_WELL] = "well",
    [SIM_END_LOSS] = "loss",
    [SIM_END_STUCK] = "stuck",
    [SIM_END_BROKEN] = "broken",
};

/* A number, or null for SIM_NEVER. */
static void add_number(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key,
                        value == SIM_NEVER ? json_null()
                                           : json_integer((json_int_t)value));
}

static json_t *level_json(const struct sim_level *level)
{
    json_t *object = json_object();
    bool reads = level->stdin_first_ns != SIM_NEVER;
    bool shows = level->shown_first_ns != SIM_NEVER;

    add_number(object, "nodes", level->nodes);
    add_number(object, "stdin_first_ns", level->stdin_first_ns);
    add_number(object, "stdin_last_ns",
               reads ? level->stdin_last_ns : SIM_NEVER);
    add_number(object, "shown_first_ns", level->shown_first_ns);
    add_number(object, "shown_last_ns",
               shows ? level->shown_last_ns : SIM_NEVER);
    add_number(object, "down_bytes", level->down_bytes);
    add_number(object, "up_bytes", level->up_bytes);
    add_number(object, "word_bytes", level->link_bytes);
    add_number(object, "word_frames", level->link_frames);
    add_number(object, "held_frames_peak", level->held_frames_peak);
    add_number(object, "held_bytes_peak", level->held_bytes_peak);
    return object;
}

static json_t *repair_json(const struct sim_tally *tally)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < SIM_COUNTS; i++)
        add_number(object, sim_count_name((enum sim_count)i), tally->count[i]);
    return object;
}

static void add_events(json_t *object, const struct sim_summary *run)
{
    json_t *event;

    if (run->stall_ns != SIM_NEVER) {
        event = json_object();
        add_number(event, "at_ns", run->stall_ns);
        add_number(event, "rank", run->stall_rank);
        json_object_set_new(object, "stall", event);
    }
    if (run->lost_ns != SIM_NEVER) {
        event = json_object();
        add_number(event, "at_ns", run->lost_ns);
        add_number(event, "node", run->lost);
        add_number(event, "given_up", run->given_up);
        json_object_set_new(object, "loss", event);
    }
}

static json_t *run_json(const struct sim_summary *run)
{
    json_t *object = json_object(), *levels = json_array();
    char digest[17];

    snprintf(digest, sizeof(digest), "%016" PRIx64, run->digest);
    add_number(object, "nodes", run->nodes);
    add_number(object, "arity", run->arity);
    add_number(object, "seed", run->seed);
    add_number(object, "stdin_bytes", run->stdin_bytes);
    add_number(object, "output_bytes", run->out_bytes);
    json_object_set_new(object, "end", json_string(ends[run->end]));
    if (run->end == SIM_END_STUCK)
        json_object_set_new(object, "limit",
                            json_string(run->is_stopped ? "real" : "virtual"));
    if (run->why[0] != '\0')
        json_object_set_new(object, "broken", json_string(run->why));
    add_number(object, "joined_ns", run->joined_ns);
    add_number(object, "stdin_ns", run->stdin_ns);
    add_number(object, "shown_ns", run->shown_ns);
    add_number(object, "end_ns", run->end_ns);
    add_number(object, "down_rate", run->down_rate);
    add_number(object, "up_rate", run->up_rate);
    add_number(object, "root_out_bytes", run->root_out_bytes);
    add_number(object, "root_in_bytes", run->root_in_bytes);
    add_number(object, "root_output_frames", run->up.frames);
    add_number(object, "root_output_bytes", run->up.output_bytes);
    add_number(object, "root_link_output_bytes_most", run->up.link_bytes_most);
    add_number(object, "root_exit_bytes", run->up.word_bytes);
    add_number(object, "root_ack_bytes", run->root_ack_bytes);
    add_number(object, "word_frames", run->word_frames);
    add_number(object, "word_bytes", run->word_bytes);
    add_number(object, "held_frames_peak", run->held_frames_peak);
    add_number(object, "held_bytes_peak", run->held_bytes_peak);
    add_number(object, "leaf_bytes", run->leaf_bytes);
    add_number(object, "steps", run->steps);
    add_number(object, "frames", run->frames);
    add_number(object, "heartbeats", run->beats);
    add_number(object, "root_heartbeats", run->root_beats);
    json_object_set_new(object, "repair", repair_json(&run->repair));
    json_object_set_new(object, "digest", json_string(digest));
    add_events(object, run);
    for (uint32_t i = 0; i < run->levels; i++)
        json_array_append_new(levels, level_json(&run->level[i]));
    json_object_set_new(object, "levels", levels);
    return object;
}

static FILE *open_file(const char *path, int fd)
{
    if (fd >= 0)
        return fdopen(fd, "w");
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
}

/* Writes the results of all runs: an object with the version and a list `runs`.
 * Times are in nanoseconds, rates in bytes a second; the time of an event that
 * did not happen is null. Equal runs give equal bytes. Returns 0, OV_ENOMEM, or
 * OV_ESYS with errno. */
static int write_json(const struct study *study)
{
    json_t *root = json_object(), *list = json_array();
    FILE *file = open_file(study->options->json, study->json_fd);
    int rc = 0;

    json_object_set_new(root, "version", json_string(PACKAGE_VERSION));
    for (uint32_t i = 0; i < study->count; i++)
        json_array_append_new(list, run_json(&study->runs[i]));
    if (json_object_set_new(root, "runs", list))
        rc = OV_ENOMEM;
    if (file == NULL || (rc == 0 && json_dumpf(root, file, JSON_INDENT(1))))
        rc = OV_ESYS;
    json_decref(root);
    if (file == NULL)
        return rc;
    fputc('\n', file);
    if (file == stdout ? fflush(file) : fclose(file))
        rc = OV_ESYS;
    return rc;
}

/* --- files */

static int write_files(struct study *study)
{
    const struct sim_options *o = study->options;
    int code = 0;

    if (o->json != NULL && write_json(study) != 0)
        code = refuse("cannot write %s: %s", o->json, strerror(errno));
    if (o->plot == NULL)
        return code;
    if (o->sweeps_count > 0
            ? sim_plot_sweep(
                  o->plot, sim_sweep_name(o->sweeps[0].key),
                  o->sweeps_count > 1 ? sim_sweep_name(o->sweeps[1].key) : NULL,
                  study->runs, study->count)
            : sim_plot_progress(o->plot, &study->runs[0], &study->progress))
        code = refuse("gnuplot could not draw %s", o->plot);
    return code;
}

/* If the file is not a regular file (a pipe, for example), opens it before the
 * runs begin: then a pipe without a reader is noticed early, and gnuplot need
 * not wait. */
static void open_stream(const char *option, const char *path, int *fd)
{
    char why[EP_WHY_MAX];
    int rc;

    *fd = -1;
    if (path == NULL || strcmp(path, "-") == 0)
        return;
    rc = ep_path_write(option, path, fd, why);
    if (rc == 0 && *fd >= 0) /* opening may have blocked for a while */
        rc = fcntl(*fd, F_SETFL, 0) == 0 ? 0 : OV_ESYS;
    if (rc == 0)
        return;
    refuse("%s", why);
    exit(rc == OV_EINVAL ? 2 : 1);
}

int sim_main(int argc, char **argv)
{
    static struct sim_options options;
    static struct study study = {.options = &options};
    int code, plot_fd;

    ep_prelude_open(0, 0);
    sim_options_parse(argc, argv, &options);
    open_stream("--json", options.json, &study.json_fd);
    open_stream("--plot", options.plot, &plot_fd);
    ep_prelude_close();
    if (options.plot != NULL)
        sim_plot_check();
    study.runs =
        calloc(options.runs > SUMMARIES_MAX ? options.runs : SUMMARIES_MAX,
               sizeof(*study.runs));
    if (study.runs == NULL)
        return refuse("out of memory for this many runs (--runs)");
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
    sim_progress_close(&study.progress);
    free(study.runs);
    return code;
}
