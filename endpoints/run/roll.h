/* Names the processes of the run's own job that are in the same state, for
 * messages and for the report of --stats. */
#ifndef ENDPOINTS_RUN_ROLL_H
#define ENDPOINTS_RUN_ROLL_H

#include <stdbool.h>
#include <stdint.h>

struct job_life;
struct run_plan;

/* The most ranges of ranks in a text, and the sizes of the texts: of ranks, of
 * hosts, and of a whole phrase. */
enum {
    RUN_ROLL_RANGES = 64,
    RUN_ROLL_RANKS_MAX = RUN_ROLL_RANGES * 22,
    RUN_ROLL_MAX = 2048,
};

/* Processes in the same state. */
struct run_roll {
    char ranks[RUN_ROLL_RANKS_MAX]; /* "1,6,11-14,..." */
    char *hosts;    /* owned: "node[01-20] and 7 more"; NULL: no memory */
    uint32_t count; /* how many processes there are */
    bool is_short;  /* the text names each rank by its number */
};

/* Lists the processes whose byte in life->processes is `state`. The texts have
 * at most about ranks_bytes and hosts_bytes bytes. O(processes + nodes). */
void ep_run_roll_call(const struct run_plan *plan, const struct job_life *life,
                      uint8_t state, uint32_t ranks_bytes, uint32_t hosts_bytes,
                      struct run_roll *out);
void ep_run_roll_fini(struct run_roll *roll);

/* Writes "rank 7 on node03" or "ranks 1,6,11-14,... (400) on node[01-20]" into
 * `text` (RUN_ROLL_MAX bytes), short enough for a message. With `all` 0 the
 * number in parentheses is that of the processes; otherwise the text ends in
 * "(64 of 128)", where `all` is the second number. Returns how many processes
 * there are. */
uint32_t ep_run_roll_words(const struct run_plan *plan,
                           const struct job_life *life, uint8_t state,
                           uint32_t all, char *text);

#endif
