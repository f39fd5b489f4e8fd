/* Lines of a table. */
#include "commands/sim_sweep.h"

#include "sim/figure.h"

void sim_sweep_head(FILE *file)
{
    fprintf(file, "%8s %6s %9s  %9s %9s %9s  %9s %9s  %9s  %s\n", "nodes",
            "arity", "size", "stdin", "output", "end", "root out", "root in",
            "held", "ended");
}

void sim_sweep_line(FILE *file, const struct sim_summary *run)
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
