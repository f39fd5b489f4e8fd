/* Runs many random jobs and holds each to the rules.
 *
 * usage: swarm [-v|-x] [FIRST [COUNT]]      seeds; 1 and 200 when not given
 *
 * Prints a line for a run that breaks a rule or does not end, with the command
 * that repeats it, and one digest over all runs at the end. Exit 1 when any
 * did. With -v every run is told; with -x the first failure ends it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"
#include "overlay/wire/item.h"
#include "sim/report.h"
#include "sim/swarm.h"

enum { COUNT = 200, FAILURES_MAX = 10 };

/* A run of this kind takes a few hundred thousand; this is an endless one. */
#define ITEMS_MAX UINT64_C(5000000)

static uint64_t seed;
static const char *program;
static bool is_traced;

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    printf("seed %" PRIu64 ": %s:%d: %s\n  repeat: %s -v %" PRIu64 " 1\n", seed,
           file, line, what, program, seed);
    fflush(stdout);
    abort();
}

/* What a LINK frame says, but for acknowledgements, bases and limits. */
static void trace_words(const uint8_t *mem, uint32_t len)
{
    static const char *const names[] = {"?",      "limit", "base",   "ack",
                                        "HELLO",  "ASK",   "ANSWER", "WELCOME",
                                        "REFUSE", "PATH",  "LEFT",   "MISSING",
                                        "pause",  "ASKED", "address"};
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
        (act->head_bytes == 0 || w->out.head[act->head_first] != OV_FRAME_LINK))
        return;
    if (names[act->kind] == NULL)
        return;
    if (act->kind == OV_ACT_SEND || act->kind == OV_ACT_CLOSE)
        peer = sim_wire(w, n, act->link)->peer;
    if (act->kind == OV_ACT_SEND && act->head_bytes == OV_FRAME_HEAD_BYTES)
        return;
    printf("%12.3f ms  %" PRIu32 " %s %" PRIu32, (double)w->now_ns / 1e6, n,
           names[act->kind], peer);
    if (act->kind == OV_ACT_SEND)
        trace_words(w->out.head + act->head_first, act->head_bytes);
    printf("\n");
}

static bool is_good(const struct sim_world *w, uint64_t items)
{
    return items > 0 && sim_report_end(w) < SIM_END_STUCK;
}

/* Returns true when all rules held. */
static bool run(uint64_t *digest, bool is_verbose)
{
    static struct sim_swarm swarm;
    static struct sim_world w;
    uint64_t items = ITEMS_MAX;
    bool good;

    sim_swarm_make(&swarm, seed);
    if (sim_world_open(&w, &swarm.cfg)) {
        printf("seed %" PRIu64 ": there is no memory\n", seed);
        return false;
    }
    if (is_traced)
        w.on_act = trace_act;
    while (items > 0 && sim_world_run(&w, 1))
        items--;
    sim_world_finish(&w);
    good = is_good(&w, items);
    *digest = sim_random_mix(*digest ^ w.digest);
    if (!good || is_verbose) {
        sim_swarm_print(&swarm, stdout);
        sim_report_print(&w, stdout);
    }
    if (!good)
        printf("  repeat: %s -v %" PRIu64 " 1\n", program, seed);
    sim_world_close(&w);
    return good;
}

int main(int argc, char **argv)
{
    bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;

    bool is_hasty = argc > 1 && strcmp(argv[1], "-x") == 0;
    uint64_t digest = 0, first, count;
    unsigned failures = 0;

    is_traced = argc > 1 && strcmp(argv[1], "-t") == 0;
    is_verbose |= is_traced;
    program = argv[0];
    argc -= is_verbose || is_hasty;
    argv += is_verbose || is_hasty;
    first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    count = argc > 2 ? strtoull(argv[2], NULL, 10) : COUNT;
    ov_panic_set(on_panic);
    for (seed = first; seed < first + count; seed++) {
        failures += !run(&digest, is_verbose);
        if (failures == (is_hasty ? 1 : FAILURES_MAX))
            break;
    }
    printf("%" PRIu64 " runs, %u failed, digest %016" PRIx64 "\n", seed - first,
           failures, digest);
    return failures > 0;
}
