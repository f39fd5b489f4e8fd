/* A run in a few figures, for tables and pictures. */
#ifndef SIM_SUMMARY_H
#define SIM_SUMMARY_H

#include "sim/measure.h"
#include "sim/report.h"
#include "sim/tally.h"

struct sim_summary {
    uint32_t nodes;
    uint32_t arity;
    uint64_t seed;
    uint64_t stdin_bytes;
    uint64_t out_bytes; /* bytes that each process writes */
    enum sim_end end;
    bool is_stopped; /* the limit of real time stopped the run */
    char why[256];
    uint64_t joined_ns;
    uint64_t stdin_ns; /* time from the launch until the last process had all
                          its stdin, or SIM_NEVER */
    uint64_t shown_ns;
    uint64_t end_ns; /* time from the start to the end of the run */
    uint64_t down_rate;
    uint64_t up_rate;
    uint64_t root_out_bytes;
    uint64_t root_in_bytes;
    uint64_t word_frames;
    uint64_t word_bytes;
    uint32_t held_frames_peak;
    uint32_t held_bytes_peak;
    struct sim_loads up; /* what children have sent to the root */
    uint64_t root_ack_bytes;
    uint64_t leaf_bytes;
    uint64_t steps;
    uint64_t frames;
    uint64_t beats;
    uint64_t root_beats;
    struct sim_tally repair;
    uint64_t digest;
    uint64_t stall_ns; /* when a stream was held up, or SIM_NEVER */
    uint32_t stall_rank;
    uint64_t lost_ns; /* when the launcher learnt of the first loss;
                         SIM_NEVER */
    uint32_t lost;
    uint32_t given_up;
    uint32_t levels;
    struct sim_level level[SIM_LEVELS_MAX];
};

/* Makes the summary of a finished run. */
void sim_summary_make(const struct sim_world *w, struct sim_summary *summary);

#endif
