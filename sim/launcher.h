/* The launcher at the root: opens the job, feeds stdin, shows records, ends.
 *
 * As xylem run: when every node has joined it opens stdin and launches; a node
 * that is lost ends the job for the others too (they are told to kill their
 * processes and say their last words); when all have said theirs, or are given
 * up, and the console has everything, it says goodbye.
 */
#ifndef SIM_LAUNCHER_H
#define SIM_LAUNCHER_H

#include "sim/world.h"

struct sim_launcher {
    uint8_t words[8]; /* messages that wait for room on stream 0 */
    unsigned words_count;
    uint32_t finals;       /* nodes that have said their last word */
    uint32_t given_up;     /* or will not */
    uint32_t records_left; /* at the console */
    uint64_t fed_bytes;
    uint64_t joined_ns;
    uint64_t feed_ns;    /* not fed before */
    uint64_t console_ns; /* the console is busy until then */
    uint64_t goodbye_ns;
    uint64_t lost_ns; /* when the first loss was heard of; SIM_NEVER */
    uint32_t lost;    /* that node */
    uint32_t stall_node, stall_rank;
    uint64_t stall_ns; /* SIM_NEVER: none */
    bool is_joined, is_killed, has_ended, has_goodbye;
};

/* Within a step of the root: its actions. A reference passes with the slice. */
void sim_launcher_joined(struct sim_world *w);
void sim_launcher_record(struct sim_world *w, const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_launcher_lost(struct sim_world *w, uint32_t node);
void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act);

/* The console has a record. */
void sim_launcher_taken(struct sim_world *w, const struct sim_item *item);

/* After anything happened to the root: says and feeds what there is room
 * for. */
void sim_launcher_pump(struct sim_world *w);

#endif
