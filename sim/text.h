/* What processes write where lines are folded, byte by byte: other jobs need no
 * bytes, see sim/store.h. Nodes whose numbers are equal modulo job.voices write
 * the same; with 0 voices each writes something else, as node job.odd does in
 * any case (TOPO_NONE: no node does). */
#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include "sim/model.h"

/* Writes the bytes from `offset` on of what the process of node n writes. */
void sim_text_write(const struct sim_job *job, uint32_t n, uint64_t offset,
                    uint8_t *mem, uint32_t len_bytes);

/* True when these bytes are those of the process of node n from `offset` on. */
bool sim_text_is(const struct sim_job *job, uint32_t n, uint64_t offset,
                 const uint8_t *mem, uint32_t len_bytes);

#endif
