/* Measures times, bytes and peaks, for each level of the tree. */
#ifndef SIM_MEASURE_H
#define SIM_MEASURE_H

#include "sim/state.h"

/* The nodes of one level of the tree; 0 is the root. */
struct sim_level {
    uint32_t nodes;
    uint64_t stdin_first_ns; /* when a process of the level read the first byte;
                                SIM_NEVER */
    uint64_t stdin_last_ns;  /* when the last of the level's processes read its
                                last byte */
    uint64_t shown_first_ns; /* when the console got the first byte of a process
                                of the level */
    uint64_t shown_last_ns;
    uint64_t stdin_bytes; /* stdin that processes of the level have read */
    uint64_t shown_bytes; /* output of processes of the level at the console */
    uint64_t down_bytes;  /* bytes sent to children in frames of streams */
    uint64_t up_bytes;    /* bytes sent to parents in frames of records */
    uint64_t link_bytes;  /* bytes sent in LINK frames */
    uint64_t link_frames;
    uint32_t held_frames_peak; /* the most frames held by one node of the level
                                  at any time */
    uint32_t held_bytes_peak;
};

/* Bytes of frames of records: heads and payloads of output and of words of
 * nodes; what belongs to both counts as output. */
struct sim_loads {
    uint64_t frames;
    uint64_t output_bytes;
    uint64_t word_bytes;
    uint64_t link_bytes_most; /* output on the busiest link of the root */
};

struct sim_measure {
    struct sim_level level[SIM_LEVELS_MAX];
    uint32_t levels;
    uint64_t fed_first_ns; /* when the first byte of stdin was fed; SIM_NEVER
                              when there is none */
    uint64_t fed_last_ns;
    uint64_t root_out_bytes;
    uint64_t root_in_bytes;
    struct sim_loads up;     /* what children send to the root */
    uint64_t *link_bytes;    /* [nodes] owned: output of each that was sent to
                                the root */
    uint64_t root_ack_bytes; /* items with which the root acknowledges */
    uint64_t frames;
    uint64_t shown_bytes;
    uint64_t beats;      /* how many of all frames are heartbeats */
    uint64_t root_beats; /* how many of the heartbeats the root sends or
                            receives */
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
