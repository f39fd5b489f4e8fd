/* Simulated jobs on trees that keep to switches: all bytes arrive, even when
 * the node that connects a switch dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/report.h"
#include "tests/unit/chance.h"
#include "topo/shape.h"

#define MS UINT64_C(1000000)

enum { HOSTS_MAX = 300, ROUNDS = 12 };

static struct sim_world w;
static uint32_t losses;

/* Draws hosts under switches of 1 to 20 hosts, in any order. */
static void draw(struct chance *chance, uint32_t *under,
                 struct topo_shape_ask *ask)
{
    uint32_t most = chance_in(chance, 1, 20), left = 0;

    *ask = (struct topo_shape_ask){.hosts = chance_in(chance, 2, HOSTS_MAX),
                                   .arity = chance_in(chance, 2, 16),
                                   .under = under};
    for (uint32_t h = 0; h < ask->hosts; h++, left--) {
        if (left == 0) {
            left = chance_in(chance, 1, most);
            ask->switches++;
        }
        under[h] = ask->switches - 1;
    }
    for (uint32_t h = ask->hosts - 1; h > 0; h--) {
        uint32_t other = chance_in(chance, 0, h), swap = under[h];

        under[h] = under[other];
        under[other] = swap;
    }
    ask->launcher = chance_is(chance, 50) ? TOPO_NONE : under[0];
}

static void simulate(const struct topo_shape *shape, uint32_t dead)
{
    struct sim_cfg cfg = sim_cfg_default(shape->tree);
    struct sim_fault fault = {.kind = SIM_FAULT_KILL,
                              .node = dead,
                              .peer = TOPO_NONE,
                              .at_ns = 1 * MS,
                              .length_ns = SIM_NEVER};

    cfg.job.has_stdin = true;
    cfg.job.stdin_bytes = 3000000;
    cfg.job.out_bytes = 20000;
    cfg.job.ends_on_loss = false;
    cfg.faults = &fault;
    cfg.faults_count = dead > 0;
    assert_int_equal(sim_world_open(&w, &cfg), 0);
    while (sim_world_run(&w, 1000000))
        ;
    sim_world_finish(&w);
    if (w.end.why[0] != '\0')
        fail_msg("%s", w.end.why);
    for (uint32_t n = 1; n < shape->tree.nodes; n++) {
        if (n == dead)
            continue;
        assert_int_equal(w.processes[n].stdin_bytes, 3000000);
        assert_int_equal(w.processes[n].got, 20000);
    }
    losses += w.launcher->given_up;
    assert_int_equal(sim_report_end(&w),
                     w.launcher->given_up > 0 ? SIM_END_LOSS : SIM_END_WELL);
    sim_world_close(&w);
}

static void random_fabrics_carry_jobs_and_losses(void **state)
{
    struct chance chance = chance_start(1);
    uint32_t under[HOSTS_MAX];

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct topo_shape_ask ask;
        struct topo_shape shape;

        draw(&chance, under, &ask);
        assert_int_equal(topo_shape_init(&shape, &ask), 0);
        simulate(&shape, 0);
        simulate(&shape, 1); /* a node on the first level */
        simulate(&shape, topo_tree_parent(&shape.tree, ask.hosts) > 0
                             ? topo_tree_parent(&shape.tree, ask.hosts)
                             : ask.hosts);
        topo_shape_fini(&shape);
    }
    assert_in_range(losses, ROUNDS, 2 * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_fabrics_carry_jobs_and_losses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
