/* Records that wait for the turn of their rank: a queue for each rank, in
 * memory first, then in a file without a name.
 *
 * Small records of a rank are put together in parts. When all parts take more
 * than EP_SHELF_MEM_BYTES of memory, the oldest one goes to a spool
 * (endpoints/sys/spool.h), so that a part in the file is as large as it could
 * become, and is read back by one call. The event loop copies memory and waits
 * for nothing.
 *
 * Bounds: EP_SHELF_MEM_BYTES and the memory of a spool, 32 bytes for each rank,
 * 88 bytes for each of EP_SHELF_PARTS_MAX parts, and limit_bytes of file.
 */
#ifndef ENDPOINTS_OUTPUT_SHELF_H
#define ENDPOINTS_OUTPUT_SHELF_H

#include <stdbool.h>
#include <stdint.h>

struct ep_shelf;
struct ep_writer;
struct job_record;

enum {
    EP_SHELF_MEM_BYTES = 8 << 20,
    EP_SHELF_PART_BYTES = 16 << 10, /* most bytes of several records */
    EP_SHELF_PARTS_MAX = 128 << 10,
    /* The bound without ranks and file, as it counts for the launcher. */
    EP_SHELF_BYTES =
        EP_SHELF_MEM_BYTES + EP_SHELF_PARTS_MAX * 88 + 3 * (1 << 20)
};

struct ep_shelf_cfg {
    struct ep_writer *writer; /* borrowed, like dir */
    uint32_t ranks;
    uint32_t mem_bytes;   /* 0: EP_SHELF_MEM_BYTES */
    uint64_t limit_bytes; /* of the file; 0: there is no file */
    const char *dir;      /* as in ep_spool_cfg */
    /* A call that returned OV_EAGAIN may succeed now. Called from the loop. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Opens a shelf without a file. Returns 0 or OV_ENOMEM. */
int ep_shelf_open(const struct ep_shelf_cfg *cfg, struct ep_shelf **out);

/* Drops everything, also what was given by ep_shelf_get. NULL is fine. */
void ep_shelf_close(struct ep_shelf *shelf);

/* Copies a record behind the others of its rank, which must be below `ranks`.
 * What it points to except its bytes stays borrowed. Returns 0; OV_EAGAIN (the
 * file is being written: on_change follows); or OV_EFULL (no room, or no
 * memory). Nothing has changed after an error. */
int ep_shelf_put(struct ep_shelf *shelf, const struct job_record *rec);

/* Gets the first part of a rank. Returns 0; OV_ENOENT (there is none);
 * OV_EAGAIN (it is being read: on_change follows); or OV_ESYS, with errno: the
 * bytes of the part are lost. */
int ep_shelf_get(struct ep_shelf *shelf, uint32_t rank);

/* Reads the next record of the part that the last ep_shelf_get has got. Its
 * bytes are valid until ep_shelf_drop; its cookie is 0. Returns false at the
 * end of the part. */
bool ep_shelf_next(struct ep_shelf *shelf, struct job_record *rec);

/* Forgets the part that ep_shelf_get has got. */
void ep_shelf_drop(struct ep_shelf *shelf);

bool ep_shelf_has(const struct ep_shelf *shelf, uint32_t rank);

/* Returns the bytes of output of all parts that were not got yet. */
uint64_t ep_shelf_bytes(const struct ep_shelf *shelf);

/* Returns the errno for which the file cannot be used; 0: it can. */
int ep_shelf_errno(const struct ep_shelf *shelf);

#endif
