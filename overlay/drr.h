/* Deficit round robin over inputs, by bytes.
 *
 * Shreedhar and Varghese, "Efficient fair queueing using deficit round robin",
 * 1995. Each input in turn may send a quantum of bytes; what it sends beyond
 * the quantum is subtracted at its next turn. With a quantum of one frame every
 * turn serves at least one item, so all operations are O(1).
 *
 * Inputs that may not be served for now, because the window is full, are set
 * aside, and return to the queue together.
 */
#ifndef OVERLAY_DRR_H
#define OVERLAY_DRR_H

#include <stdbool.h>
#include <stdint.h>

struct ov_drr_input {
    int32_t deficit_bytes;
    uint16_t next;
    bool is_queued; /* the input is in the queue, or set aside */
};

struct ov_drr_line {
    uint16_t first;
    uint16_t last;
};

struct ov_drr {
    struct ov_drr_input *inputs; /* borrowed from the node's memory */
    uint32_t quantum_bytes;
    uint16_t count;
    bool is_served; /* the first input of the queue has received the quantum of
                       this turn */
    struct ov_drr_line line;
    struct ov_drr_line aside;
};

enum { OV_DRR_NONE = UINT16_MAX };

void ov_drr_init(struct ov_drr *drr, struct ov_drr_input *inputs,
                 uint16_t count, uint32_t quantum_bytes);

/* Adds an input at the end of the queue, unless the input is in the queue
 * already. */
void ov_drr_push(struct ov_drr *drr, uint16_t input);

/* The input whose turn it is, or OV_DRR_NONE. */
uint16_t ov_drr_first(struct ov_drr *drr);

/* Notes that the first input has sent this many bytes. If it `has_more` to
 * send, it stays first until its quantum is used up, then moves to the end;
 * otherwise it leaves the queue. */
void ov_drr_spend(struct ov_drr *drr, uint32_t bytes, bool has_more);

/* Sets the first input aside; ov_drr_back() puts all inputs that were set aside
 * into the queue again. */
void ov_drr_aside(struct ov_drr *drr);
void ov_drr_back(struct ov_drr *drr);

#endif
