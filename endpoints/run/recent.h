/* What the processes of the run's own job wrote last.
 *
 * The launcher keeps the ends of the records that came last, of all processes
 * together, in one block of memory. When a process has failed, its last lines
 * are taken from there and kept: at the end of the job they are shown again, if
 * more than a screen of other output has come since.
 *
 * A process says why it fails just before it does, so its lines are there when
 * the launcher learns of its end, however many others write; they are missing
 * where RUN_RECENT_BYTES of others came in between.
 */
#ifndef ENDPOINTS_RUN_RECENT_H
#define ENDPOINTS_RUN_RECENT_H

#include <stdint.h>

enum {
    RUN_RECENT_BYTES = 1024 * 1024, /* the block, in one piece */
    RUN_RECENT_LINES = 50,          /* lines that are kept of a process, */
    RUN_RECENT_KEPT_BYTES = 8192,   /* if they have no more bytes than that */
    RUN_RECENT_SCREEN_LINES = 10,   /* of these, what a terminal shows */
    RUN_RECENT_LINE_MAX = 200,      /* bytes of a line that are shown */
};

struct run_recent;

/* Returns 0 or OV_ENOMEM. */
int ep_recent_open(struct run_recent **out);
void ep_recent_close(struct run_recent *recent); /* NULL is fine */

/* Takes in a record of a process, of which the last RUN_RECENT_KEPT_BYTES are
 * kept; it may be empty. O(1). */
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

/* Calls `line` for each of the last lines that are kept, `most` of them at
 * most, the oldest first. Control characters are written as a dot; a longer
 * line is cut. Returns how many lines there were. */
unsigned ep_recent_lines(const struct run_recent *recent, unsigned most,
                         void (*line)(void *arg, const char *text), void *arg);
/* Does the same for a person who reads stderr: a terminal shows fewer lines
 * than a file. There are none unless more than a screen of other output has
 * come since the last of them. */
unsigned ep_recent_show(const struct run_recent *recent,
                        void (*line)(void *arg, const char *text), void *arg);

#endif
