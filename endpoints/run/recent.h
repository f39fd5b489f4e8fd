/* The last output of the processes of the run's own job.
 *
 * The launcher keeps the ends of the latest records, of all processes together,
 * in one block of memory. When a process has failed, its last lines are copied
 * from there: at the end of the job they are shown again, if more than a screen
 * of other output has come since.
 *
 * A process writes why it fails just before it ends, so its lines are in the
 * block when the launcher learns of the end, even when many others write; they
 * are missing when RUN_RECENT_BYTES of other output came in between.
 */
#ifndef ENDPOINTS_RUN_RECENT_H
#define ENDPOINTS_RUN_RECENT_H

#include <stdint.h>

enum {
    RUN_RECENT_BYTES = 1024 * 1024, /* the size of the block */
    RUN_RECENT_LINES = 50,          /* how many lines of a process are kept, at
                                     * most */
    RUN_RECENT_KEPT_BYTES = 8192,   /* how many bytes these lines may have in
                                     * all */
    RUN_RECENT_SCREEN_LINES = 10,   /* how many of these lines are shown on a
                                     * terminal */
    RUN_RECENT_LINE_MAX = 200,      /* how many bytes of a line are shown */
};

struct run_recent;

/* Returns 0 or OV_ENOMEM. */
int ep_recent_open(struct run_recent **out);
void ep_recent_close(struct run_recent *recent); /* NULL is fine */

/* Adds a record of a process, of which the last RUN_RECENT_KEPT_BYTES are kept;
 * it may be empty. O(1). */
void ep_recent_add(struct run_recent *recent, uint32_t rank, const uint8_t *mem,
                   uint32_t len_bytes);

/* Takes in bytes that a process wrote last and that were not shown, as some of
 * its lines were left out. When it has failed these are its last lines, and
 * they are shown in any case. */
void ep_recent_add_unseen(struct run_recent *recent, uint32_t rank,
                          const uint8_t *mem, uint32_t len_bytes);

/* Keeps the last lines of a process that has failed, and forgets what was kept
 * of another process before. O(RUN_RECENT_BYTES). */
void ep_recent_keep(struct run_recent *recent, uint32_t rank);

/* Calls `line` for each of the kept lines, at most `most` of them, the oldest
 * first. Control characters are replaced by dots; a longer line is cut. Returns
 * how many lines there were. */
unsigned ep_recent_lines(const struct run_recent *recent, unsigned most,
                         void (*line)(void *arg, const char *text), void *arg);
/* Calls `line` like ep_recent_lines(), for a person who reads stderr: a
 * terminal gets fewer lines than a file. There are none unless more than a
 * screen of other output has come after the last of them. */
unsigned ep_recent_show(const struct run_recent *recent,
                        void (*line)(void *arg, const char *text), void *arg);

#endif
