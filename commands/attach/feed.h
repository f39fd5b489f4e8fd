/* Sends our stdin to processes of the job, one piece at a time: the next piece
 * is read only when the session has acknowledged the one before. */
#ifndef COMMANDS_ATTACH_FEED_H
#define COMMANDS_ATTACH_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "topo/ranges.h"

struct event_base;

/* Called when stdin cannot be read; `err` is the errno. Nothing more is sent,
 * not even the end of stdin. The callback may call feed_close(). */
typedef void (*feed_error_fn)(int err);

/* Sends a piece to these ranks (to all, if the set is empty); a piece without
 * bytes is the end of stdin. `mem` is borrowed until feed_pushed(). */
typedef void (*feed_push_fn)(const struct topo_ranges *ranks, const void *mem,
                             size_t len_bytes);

/* Begins to read; `ranks` is borrowed. is_own: this program has started the
 * job; then it is no error when the processes end or close their stdin. Returns
 * 0, or an OV_ code. */
int feed_open(struct event_base *base, const struct topo_ranges *ranks,
              feed_push_fn push, bool is_own, feed_error_fn on_error);
/* To be called when the program may have come to the terminal's foreground. */
void feed_wake(void);
/* May be called when the feed is not open. */
void feed_close(void);

/* Notes that the session has acknowledged the piece. is_over: no process reads
 * stdin any longer. */
void feed_pushed(bool is_over);

#endif
