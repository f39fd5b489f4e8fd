/* An onlooker that counts what repair does.
 *
 * It sees frames on the links and actions of nodes: each branch of the rules
 * that a run can take leaves a trace there. Items by which a node joins for the
 * first time are not counted, and nothing is counted unless cfg.tallies is set.
 */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include <stdio.h>

#include "overlay/wire/item.h"
#include "sim/state.h"

/* Each count: its identifier, its name in JSON, its text in the report. */
#define SIM_COUNT_MAP(X)                                                       \
    X(ORPHANS, "orphans", "parents lost")                                      \
    X(ADOPTED, "adopted", "parents found")                                     \
    X(ELSEWHERE, "adopted_elsewhere", "other than the planned one")            \
    X(LET_GO, "let_go", "children let go by an orphan")                        \
    X(HELLOS, "hellos", "hellos")                                              \
    X(HELLO_PARTS, "hello_parts", "further parts of a hello")                  \
    X(ASKS, "asks", "asks")                                                    \
    X(ASKS_ON, "asks_on", "passed on in the middle")                           \
    X(ASK_PARTS, "ask_parts", "further parts of an ask")                       \
    X(GRANTS, "grants", "answers that grant")                                  \
    X(GRANTS_LOST, "grants_lost", "lost with their link")                      \
    X(WELCOMES, "welcomes", "welcomes")                                        \
    X(WELCOMES_LOST, "welcomes_lost", "lost with their link")                  \
    X(STRIPPED, "stripped", "members stripped by the root")                    \
    X(REFUSED_LOST, "refused_lost", "refused: declared lost")                  \
    X(REFUSED_UNATTACHED, "refused_unattached", "no parent itself")            \
    X(REFUSED_SERVE, "refused_serve", "cannot serve")                          \
    X(REFUSED_FULL, "refused_full", "full")                                    \
    X(REFUSED_NUMBER, "refused_number", "number")                              \
    X(REFUSED_STALE, "refused_stale", "stale")                                 \
    X(DENIED_LOST, "denied_lost", "answers that refuse: declared lost")        \
    X(DENIED_UNATTACHED, "denied_unattached", "no parent on the way")          \
    X(DENIED_FULL, "denied_full", "no room on the way")                        \
    X(DENIED_STALE, "denied_stale", "a newer attach number is known")          \
    X(LEFT, "left", "told to have left")                                       \
    X(LEFT_FINAL, "left_final", "told to be lost")                             \
    X(QUESTIONS, "questions", "asked about by MISSING")                        \
    X(QUESTIONS_ROOT, "questions_root", "at the root")                         \
    X(WANTS, "wants", "frames asked for by surplus children")                  \
    X(PROBES, "probes", "probes of a lost child")                              \
    X(PROBES_REFUSED, "probes_refused", "refused")                             \
    X(LOOKS, "looks", "second witnesses asked")                                \
    X(LOOKS_THERE, "looks_there", "that are not refused")                      \
    X(VERDICTS, "verdicts", "declared lost")                                   \
    X(VERDICTS_ALIVE, "verdicts_alive", "that live")                           \
    X(ENDED_ALONE, "ended_alone", "ended without a parent")                    \
    X(ENDED_DECLARED, "ended_declared", "ended by the verdict")                \
    X(UP_AGAIN_BYTES, "up_again_bytes", "bytes of output sent again")          \
    X(UP_REPEATS, "up_repeats", "records the root had")                        \
    X(DOWN_AGAIN, "down_again", "frames of streams sent again")                \
    X(DOWN_SKIPPED, "down_skipped", "frames kept that a new child had")

#define SIM_COUNT_NAME(name, json, words) SIM_COUNT_##name,
enum sim_count { SIM_COUNT_MAP(SIM_COUNT_NAME) SIM_COUNTS };
#undef SIM_COUNT_NAME

struct sim_tally {
    uint64_t count[SIM_COUNTS];
};

/* What the onlooker has seen of a node. */
struct sim_seen {
    uint32_t welcomes;               /* how many welcomes it has received */
    uint32_t sent;                   /* number of the newest of its records that
                                        was sent */
    uint32_t down_sent[SIM_STREAMS]; /* number of the next frame to be sent to
                                        it */
    uint32_t down_head[SIM_STREAMS]; /* number of the next frame to arrive at
                                        it */
};

const char *sim_count_name(enum sim_count count);

static inline void sim_tally_add(struct sim_world *w, enum sim_count count,
                                 uint64_t much)
{
    w->tally->count[count] += much;
}

/* Returns 0 or OV_ENOMEM. */
int sim_tally_open(struct sim_world *w);
void sim_tally_close(struct sim_world *w);

/* Counts an item that node n sends, or receives (is_heard). `item` is a copy,
 * which the function may read to its end. */
void sim_tally_word(struct sim_world *w, uint32_t n, uint16_t link,
                    struct ov_item item, bool is_heard);
/* Counts an action before it is carried out. */
void sim_tally_act(struct sim_world *w, uint32_t n, const struct ov_act *act);
/* Counts a frame of records that is sent (is_sent), or arrives at the root.
 * Called only in runs with faults. */
void sim_tally_up(struct sim_world *w, uint32_t n, const struct sim_load *load,
                  bool is_sent);
/* Counts a frame of a stream that is sent to node n (is_sent), or arrives
 * there. */
void sim_tally_down(struct sim_world *w, uint32_t n, uint32_t stream,
                    uint64_t seq, bool is_sent);

/* Adds the counts of a run to a sum. */
void sim_tally_sum(struct sim_tally *sum, const struct sim_tally *one);
/* Writes a line for each count that is not zero or, if `all` is set, for each
 * count. */
void sim_tally_print(const struct sim_tally *tally, FILE *file, bool all);

#endif
