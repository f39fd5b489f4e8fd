/* A copy of what was redirected to a tool, until that has it.
 *
 * The helper has no more than one copy of redirected output, and so has the
 * world. Where it is killed, what it had comes from here. Entries have their
 * position in the order of all redirected output, in bytes; those before the
 * position that the helper calls settled are forgotten.
 *
 * Memory: mem_bytes as far as it is needed, then the file (spool.h).
 * Not thread-safe. O(bytes) all.
 */
#ifndef PMIX_API_JOURNAL_H
#define PMIX_API_JOURNAL_H

#include "pmix_api/spool.h"
#include "pmix_api/wire_output.h"

struct px_journal {
    struct px_spool spool;
    uint64_t left_bytes;   /* payload that is kept */
    uint64_t unkept_bytes; /* for want of room, and not settled */
    uint64_t unkept_end;   /* the position behind the last of these */
};

/* One output, of PX_OUTPUT_BYTES_MAX at most. */
struct px_journal_entry {
    uint64_t at; /* position of its first byte */
    uint32_t rank;
    uint8_t channel;
    bool is_end;
    uint32_t len_bytes;
};

/* Returns 0 or OV_ENOMEM. `dir` is borrowed. */
int px_journal_open(struct px_journal *journal, uint64_t mem_bytes,
                    uint64_t file_bytes, const char *dir);
/* Also of one that was never open, all zero. */
void px_journal_close(struct px_journal *journal);

/* Copies the output, whose first byte has this position. False: there is no
 * room, and it counts as unkept. */
bool px_journal_keep(struct px_journal *journal, uint64_t at,
                     const struct px_output *output);

/* All that is wholly before the position is with the tool. */
void px_journal_settle(struct px_journal *journal, uint64_t position);

/* The first one that is left: false when there is none. */
bool px_journal_peek(struct px_journal *journal,
                     struct px_journal_entry *entry);
/* The same, taken out, its bytes in `mem` (PX_OUTPUT_BYTES_MAX). */
bool px_journal_take(struct px_journal *journal, struct px_journal_entry *entry,
                     uint8_t *mem);
/* The same, unread. */
void px_journal_skip(struct px_journal *journal);

#endif
