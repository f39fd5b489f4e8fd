/* An onlooker that measures times, bytes and peaks, level by level. */
#ifndef SIM_MEASURE_H
#define SIM_MEASURE_H

#include "sim/state.h"

/* The nodes of one level of the tree; 0 is the root. */
struct sim_level {
    uint32_t nodes;
    uint64_t stdin_first_ns; /* first byte read by a process; SIM_NEVER */
    uint64_t stdin_last_ns;  /* last byte read by the last of them */
    uint64_t shown_first_ns; /* first byte of a process at the console */
    uint64_t shown_last_ns;
    uint64_t stdin_bytes; /* stdin that its processes got, */
    uint64_t shown_bytes; /* and their output at the console */
    uint64_t down_bytes;  /* sent to children in frames of streams, */
    uint64_t up_bytes;    /* sent to parents in frames of records, */
    uint64_t link_bytes;  /* sent in LINK frames, */
    uint64_t link_frames;
    uint32_t held_frames_peak; /* in any one node */
    uint32_t held_bytes_peak;
};

struct sim_measure {
    struct sim_level level[SIM_LEVELS_MAX];
    uint32_t levels;
    uint64_t fed_first_ns; /* SIM_NEVER: no stdin */
    uint64_t fed_last_ns;
    uint64_t root_out_bytes;
    uint64_t root_in_bytes;
    uint64_t frames;
    uint64_t shown_bytes;
    uint64_t beats;      /* frames that say nothing, of all frames */
    uint64_t root_beats; /* of these, sent by the root or to it */
};

/* Returns 0 or OV_ENOMEM. */
int sim_measure_open(struct sim_world *w);
void sim_measure_close(struct sim_world *w);

void sim_measure_fed(struct sim_world *w);
void sim_measure_send(struct sim_world *w, uint32_t n, uint32_t peer,
                      const struct sim_load *load);
void sim_measure_stdin(struct sim_world *w, uint32_t n, uint32_t len_bytes);
void sim_measure_shown(struct sim_world *w, uint32_t source,
                       uint32_t len_bytes);
void sim_measure_held(struct sim_world *w, uint32_t n);

#endif
