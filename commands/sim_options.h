/* The command line of `xylem sim`. */
#ifndef COMMANDS_SIM_OPTIONS_H
#define COMMANDS_SIM_OPTIONS_H

#include "commands/sim_fabric.h"
#include "sim/model.h"

/* The option that a sweep varies. */
enum sim_sweep_key { SIM_SWEEP_NODES, SIM_SWEEP_ARITY, SIM_SWEEP_SIZE };

enum {
    SIM_SWEEP_VALUES = 64,
    SIM_SWEEPS_MAX = 2,
    SIM_NODES = 1024, /* the number of nodes when the user gives none */
    SIM_NODES_MAX = 10000000
};

struct sim_sweep {
    enum sim_sweep_key key;
    uint64_t values[SIM_SWEEP_VALUES];
    uint32_t count;
};

enum sim_workload {
    SIM_BROADCAST,
    SIM_GATHER,
    SIM_LINES,
    SIM_MIXED,
    SIM_WORKLOADS
};

struct sim_options {
    struct sim_cfg cfg; /* points to the lists that are members below */
    struct sim_reader *readers;
    struct sim_fault *faults;
    enum sim_workload workload;
    uint64_t size_bytes;
    uint64_t out_bytes;                      /* from --output, or SIM_NEVER */
    struct sim_fabric fabric;                /* from --topology */
    uint32_t nodes;                          /* counts the launcher's node,
                                                too */
    uint32_t arity;                          /* not used with is_auto */
    bool is_auto;                            /* the cost model chooses the
                                                arity */
    struct sim_sweep sweeps[SIM_SWEEPS_MAX]; /* the first sweep changes
                                                fastest */
    uint32_t sweeps_count;
    uint32_t runs;
    uint64_t real_limit_ns; /* limit of the real time that a run may take */
    const char *json;       /* NULL: none */
    const char *plot;       /* NULL: none */
};

/* Parses the arguments. Ends the program with exit code 2 and a sentence when
 * an option is wrong, with 0 after --help. The lists stay allocated as long as
 * the program runs. */
void sim_options_parse(int argc, char **argv, struct sim_options *options);

/* Sets the option `key` to `value`, for a run of a sweep. Ends the program as
 * above when the result cannot be simulated. */
void sim_options_set(struct sim_options *options, enum sim_sweep_key key,
                     uint64_t value);

const char *sim_sweep_name(enum sim_sweep_key key);

#endif
