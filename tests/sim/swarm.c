/* Runs many random jobs and holds each to the rules.
 *
 * usage: swarm [-v|-t|-x] [-n NODES] [FIRST [COUNT]]
 *
 * Seeds FIRST and following, 1 and 500 (100 with XYLEM_TEST_BRIEF=1) when not
 * given, for trees of NODES nodes at most, 200 when not given. Each job is run
 * twice: left alone, and with faults that are put where data was in flight
 * then.
 *
 * Prints a run that breaks a rule or does not end, with the command that
 * repeats it, and at the end how often each branch of repair was taken, what
 * became of the jobs and one digest over all runs. Exit 1 when any failed. With
 * -v every run is told, with -t every word of repair in it; with -x the first
 * failure ends it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/panic.h"
#include "overlay/wire/item.h"
#include "sim/report.h"
#include "sim/stdin.h"
#include "sim/swarm.h"
#include "sim/tally.h"

enum { COUNT = 500, COUNT_BRIEF = 100, NODES = 200, FAILURES_MAX = 10 };

/* A run takes a few hundred thousand events, one of 2000 nodes a few million; a
 * run of more than this never ends. */
#define ITEMS_MAX UINT64_C(50000000)

static uint64_t seed;
static const char *program;
static bool is_verbose, is_traced, is_hasty;
static uint32_t nodes_max = NODES;
static struct sim_tally tally;

/* How many jobs, and how many of their processes, ended in which way, in all
 * runs. */
static struct {
    uint64_t jobs, further, overlap, started, killed, lost;
    uint64_t processes[JOB_PROCESS_STATES];
    uint64_t pushes_own, pushes_further, timeouts, cut_off;
} lives;

static void print_repeat(void)
{
    printf("  repeat: %s -v -n %" PRIu32 " %" PRIu64 " 1\n", program, nodes_max,
           seed);
    fflush(stdout);
}

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    printf("seed %" PRIu64 ": %s:%d: %s\n", seed, file, line, what);
    print_repeat();
    abort();
}

/* Traces the items of a LINK frame, except acknowledgements, bases and
 * limits. */
static void trace_words(const uint8_t *mem, uint32_t len)
{
    static const char *const names[] = {
        "?",      "limit",   "base",    "ack",  "HELLO", "ASK",
        "ANSWER", "WELCOME", "REFUSE",  "PATH", "LEFT",  "MISSING",
        "pause",  "ASKED",   "address", "want", "LOOK",  "SEEN"};
    struct ov_rd rd =
        ov_rd_init(mem + OV_FRAME_HEAD_BYTES, len - OV_FRAME_HEAD_BYTES);
    struct ov_item item;

    while (ov_rd_left(&rd) > 0 && ov_item_next(&rd, &item) == 0) {
        if (item.kind == OV_ITEM_LIMIT || item.kind == OV_ITEM_ACK)
            continue;
        printf(" %s%s(", names[item.kind],
               item.flags & OV_ITEM_FINAL ? "-lost" : "");
        if (item.kind == OV_ITEM_WELCOME || item.kind == OV_ITEM_ASKED ||
            item.kind == OV_ITEM_REFUSE)
            printf("#%" PRIu64 " ", ov_rd_u64(&item.body));
        while (ov_rd_left(&item.body) >= 4)
            printf("%" PRIu32 " ", ov_rd_u32(&item.body));
        printf(")");
    }
}

static void trace_act(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    static const char *const names[OV_ACT_KINDS] = {
        [OV_ACT_DIAL] = "dials",       [OV_ACT_CLOSE] = "closes",
        [OV_ACT_PROBE] = "probes",     [OV_ACT_ORPHAN] = "orphan of",
        [OV_ACT_ADOPTED] = "child of", [OV_ACT_LOST] = "declares lost",
        [OV_ACT_END] = "ends",         [OV_ACT_LEAVE] = "leaves",
        [OV_ACT_JOINED] = "joined",    [OV_ACT_SEND] = "to"};
    uint32_t peer = act->node;

    if (act->kind == OV_ACT_SEND &&
        (act->head_bytes == 0 ||
         w->step.out.head[act->head_first] != OV_FRAME_LINK))
        return;
    if (names[act->kind] == NULL)
        return;
    if (act->kind == OV_ACT_SEND || act->kind == OV_ACT_CLOSE)
        peer = sim_wire(w, n, act->link)->peer;
    if (act->kind == OV_ACT_SEND && act->head_bytes == OV_FRAME_HEAD_BYTES)
        return;
    printf("%12.3f ms  %" PRIu32 " %s %" PRIu32, (double)w->step.now_ns / 1e6,
           n, names[act->kind], peer);
    if (act->kind == OV_ACT_SEND)
        trace_words(w->step.out.head + act->head_first, act->head_bytes);
    printf("\n");
}

/* Runs the job to its end; the world stays open. Returns true when all rules
 * held. */
static bool run(struct sim_world *w, const struct sim_cfg *cfg)
{
    uint64_t items = ITEMS_MAX;

    if (sim_world_open(w, cfg)) {
        printf("seed %" PRIu64 ": there is no memory\n", seed);
        exit(1);
    }
    if (is_traced && cfg->faults_count > 0)
        w->onlooker.on_act = trace_act;
    while (items > 0 && sim_world_run(w, 1))
        items--;
    w->end.is_stopped = items == 0;
    sim_world_finish(w);
    if (w->launcher->goodbye_ns > 0 && !w->launcher->has_reached_all) {
        lives.cut_off++;
        if (cfg->faults_count == 0 && !w->launcher->is_killed)
            sim_world_fail(w, "goodbye has not reached all within 3 s");
    }
    return sim_report_end(w) < SIM_END_STUCK;
}

static bool overlaps(const struct sim_told *a, const struct sim_told *b)
{
    return a != b && a->told_ns < b->over_ns && b->told_ns < a->over_ns;
}

static void sum_lives(const struct sim_world *w)
{
    lives.pushes_own += sim_stdin_sent(w, JOB_STREAM_STDIN);
    lives.pushes_further += sim_stdin_sent(w, JOB_STREAM_PUSHED);
    lives.timeouts += sim_report_end(w) == SIM_END_TIME;
    for (uint32_t i = 0; i < w->jobs.count; i++) {
        const struct sim_told *job = &w->jobs.told[i];
        bool is_beside = false;

        for (uint32_t j = 1; j < w->jobs.count && i > 0; j++)
            is_beside |= overlaps(job, &w->jobs.told[j]);
        lives.jobs++;
        lives.further += i > 0;
        lives.overlap += is_beside;
        lives.started += job->books.started > 0;
        lives.killed += job->life.is_killed;
        lives.lost += job->books.lost_ns > 0;
        for (uint32_t rank = 0; rank < job->desc.size; rank++)
            lives.processes[job_life_process(&job->life, rank)]++;
    }
}

static void print_lives(void)
{
    printf("%" PRIu64 " jobs, %" PRIu64 " of them further ones, %" PRIu64
           " of these beside another; %" PRIu64 " have started, %" PRIu64
           " were killed, %" PRIu64 " have lost a node\n",
           lives.jobs, lives.further, lives.overlap, lives.started,
           lives.killed, lives.lost);
    printf("%" PRIu64 " processes ended, %" PRIu64 " could not be started, "
           "%" PRIu64 " were lost\n",
           lives.processes[JOB_PROCESS_ENDED],
           lives.processes[JOB_PROCESS_UNSTARTED],
           lives.processes[JOB_PROCESS_LOST]);
    printf("%" PRIu64 " pushes to own jobs, %" PRIu64 " to further ones; "
           "%" PRIu64 " runs were ended by their limit of time, %" PRIu64
           " before goodbye had reached all\n",
           lives.pushes_own, lives.pushes_further, lives.timeouts,
           lives.cut_off);
}

/* Returns true when all rules held, in both runs. */
static bool run_seed(uint64_t *digest)
{
    static struct sim_swarm swarm;
    static struct sim_world w;
    uint64_t joined_ns, end_ns;
    bool good;

    sim_swarm_make(&swarm, seed, nodes_max);
    good = run(&w, &swarm.cfg);
    joined_ns = w.launcher->joined_ns;
    end_ns = w.end.at_ns;
    if (good) {
        sim_world_close(&w);
        sim_swarm_aim(&swarm, joined_ns, end_ns);
        if (is_traced)
            sim_swarm_print(&swarm, stdout);
        good = run(&w, &swarm.cfg);
    }
    *digest = sim_random_mix(*digest ^ w.counts.digest);
    sim_tally_sum(&tally, w.tally);
    sum_lives(&w);
    if (!good || is_verbose) {
        sim_swarm_print(&swarm, stdout);
        sim_report_print(&w, stdout);
    }
    if (!good)
        print_repeat();
    sim_world_close(&w);
    return good;
}

static void read_options(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "vtxn:")) != -1) {
        is_verbose |= option == 'v' || option == 't';
        is_traced |= option == 't';
        is_hasty |= option == 'x';
        if (option == 'n')
            nodes_max = (uint32_t)strtoul(optarg, NULL, 10);
        if (option == '?' || nodes_max < 10)
            exit(2);
    }
}

int main(int argc, char **argv)
{
    const char *brief = getenv("XYLEM_TEST_BRIEF");
    uint64_t digest = 0, first, count;
    unsigned failures = 0;

    program = argv[0];
    read_options(argc, argv);
    first = argc > optind ? strtoull(argv[optind], NULL, 10) : 1;
    count = brief != NULL && strcmp(brief, "1") == 0 ? COUNT_BRIEF : COUNT;
    if (argc > optind + 1)
        count = strtoull(argv[optind + 1], NULL, 10);
    ov_panic_set(on_panic);
    for (seed = first; seed < first + count; seed++) {
        failures += !run_seed(&digest);
        if (failures == (is_hasty ? 1 : FAILURES_MAX))
            break;
    }
    sim_tally_print(&tally, stdout, true);
    print_lives();
    printf("%" PRIu64 " runs, %u failed, digest %016" PRIx64 "\n", seed - first,
           failures, digest);
    return failures > 0;
}
