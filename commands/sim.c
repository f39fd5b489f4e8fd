/* Running the simulator for a person. */
#include "commands/sim.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "commands/sim_options.h"
#include "overlay/base/err.h"
#include "sim/report.h"

enum { ITEMS_AT_ONCE = 1 << 20, PROGRESS_S = 2 };

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double now_s(void)
{
    return seconds(CLOCK_MONOTONIC);
}

static double cpu_s(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* A line on stderr every two seconds, over the one before. */
static void progress(const struct sim_world *w, double since_s, double *told_s)
{
    double at_s = now_s();

    if (!isatty(STDERR_FILENO) || at_s < *told_s + PROGRESS_S)
        return;
    *told_s = at_s;
    fprintf(stderr,
            "\rxylem: %.0f s: %.3f s of virtual time, %" PRIu64
            " million steps\033[K",
            at_s - since_s, (double)w->queue.now_ns / 1e9, w->steps / 1000000);
}

static int one_run(const struct sim_cfg *cfg, struct sim_world *w)
{
    double since_s = now_s(), told_s = since_s, cpu_since_s = cpu_s();

    if (sim_world_open(w, cfg)) {
        fprintf(stderr, "xylem: there is no memory for %u nodes\n",
                cfg->overlay.plan.nodes);
        return 1;
    }
    while (sim_world_run(w, ITEMS_AT_ONCE))
        progress(w, since_s, &told_s);
    sim_world_finish(w);
    if (told_s > since_s)
        fputs("\r\033[K", stderr);
    since_s = cpu_s() - cpu_since_s;
    fprintf(stderr,
            "xylem: simulated in %.2f s of processor time, %.2f million steps "
            "a second\n",
            since_s, (double)w->steps / 1e6 / since_s);
    return 0;
}

/* Says in a line what became of one of many runs. */
static void print_line(const struct sim_world *w)
{
    static const char *const words[] = {
        [SIM_END_WELL] = "ended well",
        [SIM_END_LOSS] = "ended by a loss",
        [SIM_END_STUCK] = "did not end",
        [SIM_END_BROKEN] = "BROKEN",
    };

    printf("seed %" PRIu64 ": %s at %" PRIu64 " ns, digest %016" PRIx64
           "%s%s\n",
           w->cfg.seed, words[sim_report_end(w)], w->end_ns, w->digest,
           w->why[0] != '\0' ? ": " : "", w->why);
}

int sim_main(int argc, char **argv)
{
    static struct sim_options options;
    static struct sim_world w;
    int code = 0;

    sim_options_parse(argc, argv, &options);
    for (uint32_t run = 0; run < options.runs; run++) {
        if (one_run(&options.cfg, &w))
            return 1;
        if (sim_report_end(&w) >= SIM_END_STUCK)
            code = 1;
        if (options.runs == 1)
            sim_report_print(&w, stdout);
        else
            print_line(&w);
        sim_world_close(&w);
        options.cfg.seed++;
    }
    return code;
}
