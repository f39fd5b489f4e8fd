/* The proof that all output has arrived: compares what each process has
 * written, as its daemon says, with what the launcher has written. Output can
 * go to two takers, the console and files; each must get all of it.
 *
 * A channel (stdout, stderr or stddiag of a process) is complete when its
 * process has ended and all tallies of the channel are equal, also when nothing
 * was written. Other channels are counted by what is wrong with them:
 *   - gap: bytes are missing, too many or altered; or nobody has reported the
 *     exit of the process, although its node had nothing left to report;
 *   - lost: the process was on a node that was lost. The bytes that arrived are
 *     right, but it is not known whether they are all;
 *   - given up: the launcher ended before all output was written, because it
 *     was told to or because nobody read the output.
 *
 * Memory: 144 bytes for each process that has written output, and 1 for each
 * other process, provided that the system gives pages only to memory that is
 * written to.
 */
#ifndef ENDPOINTS_RUN_PROOF_H
#define ENDPOINTS_RUN_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "job/word.h"

struct ep_proof;

enum ep_proof_reason {
    EP_PROOF_COMPLETE,
    EP_PROOF_MISSING, /* fewer bytes arrived than were written */
    EP_PROOF_EXTRA,   /* more bytes arrived than were written */
    /* as many bytes arrived as were written, but some differ */
    EP_PROOF_ALTERED,
    EP_PROOF_NO_END, /* nobody reported the exit of the process */
    EP_PROOF_LOST,
    EP_PROOF_GIVEN_UP,
    EP_PROOF_REASONS
};

enum { EP_PROOF_LIST_MAX = 64, EP_PROOF_PLACES_MAX = 2 };

/* A channel that is not complete. */
struct ep_proof_gap {
    uint32_t rank;
    uint8_t channel;   /* one of enum ov_channel */
    uint8_t reason;    /* one of enum ep_proof_reason */
    bool is_end_known; /* whether expected_bytes is valid */
    uint64_t expected_bytes;
    uint64_t delivered_bytes;
};

/* The first of the channels that are not complete, in the order of their
 * ranks. */
struct ep_proof_list {
    struct ep_proof_gap at[EP_PROOF_LIST_MAX];
    uint32_t count;
};

struct ep_proof_verdict {
    uint64_t channels; /* how many channels all processes have */
    uint64_t counts[EP_PROOF_REASONS];
    uint64_t bytes; /* how many bytes the complete channels have */
    struct ep_proof_list gaps;
    struct ep_proof_list lost;
};

/* Returns how to judge a process whose exit nobody has reported: as NO_END,
 * LOST or GIVEN_UP. */
typedef enum ep_proof_reason (*ep_proof_absent_fn)(void *arg, uint32_t rank);

/* `channels`: bits, 1 << enum ov_channel, for each channel that every process
 * has. `places`: how many takers (console, files) get the output, 1 or 2.
 * Returns 0 or OV_ENOMEM. */
int ep_proof_open(uint32_t procs, uint32_t channels, uint32_t places,
                  struct ep_proof **out);

/* NULL is fine. */
void ep_proof_close(struct ep_proof *proof);

/* Counts a record that was written by taker `place` (0 or 1). A record with a
 * rank or channel that does not exist is ignored; its bytes are then missing
 * for the process that wrote them. O(len_bytes). */
void ep_proof_written(struct ep_proof *proof, uint32_t place, uint32_t rank,
                      uint8_t channel, const void *mem, uint32_t len_bytes);

/* Notes that a process has ended and has written what `tallies`
 * [JOB_WORD_OUTPUTS] says. O(1). */
void ep_proof_ended(struct ep_proof *proof, uint32_t rank,
                    const struct job_tally *tallies);

/* Judges all channels. To be called once no more output will be written.
 * is_cut: the launcher has dropped output, so bytes may be missing. Returns the
 * same as ep_proof_verdict(). O(procs). */
const struct ep_proof_verdict *ep_proof_judge(struct ep_proof *proof,
                                              bool is_cut,
                                              ep_proof_absent_fn absent,
                                              void *arg);

/* Returns the verdict, which is zeroed before ep_proof_judge(). It is valid as
 * long as the proof. */
const struct ep_proof_verdict *ep_proof_verdict(const struct ep_proof *proof);

/* Returns how many channels of a verdict have gaps. */
uint64_t ep_proof_gaps(const struct ep_proof_verdict *verdict);

/* Returns a word that names the reason: "missing", "extra" ... */
const char *ep_proof_name(enum ep_proof_reason reason);

#endif
