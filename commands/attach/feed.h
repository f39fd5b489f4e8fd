/* stdin on its way to processes of the job: one piece at a time, the next one
 * when the session has taken it. stdin is not read before a piece is needed. */
#ifndef COMMANDS_ATTACH_FEED_H
#define COMMANDS_ATTACH_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "topo/ranges.h"

struct event_base;

/* stdin cannot be read, errno says why: nothing more is sent, nor its end. The
 * callback may call feed_close(). */
typedef void (*feed_error_fn)(int err);

/* Sends a piece to these ranks (no member: to all); no bytes: the end of stdin.
 * `mem` is borrowed until feed_pushed(). */
typedef void (*feed_push_fn)(const struct topo_ranges *ranks, const void *mem,
                             size_t len_bytes);

/* Begins to read; `ranks` is borrowed. is_own: this program has started the
 * job, whose processes may end or close their stdin without being reported.
 * Returns 0, or an OV_ code. */
int feed_open(struct event_base *base, const struct topo_ranges *ranks,
              feed_push_fn push, bool is_own, feed_error_fn on_error);
/* To be called when the program may have come to the terminal's foreground. */
void feed_wake(void);
/* May be called when it is not open. */
void feed_close(void);

/* The session has taken the piece. is_over: nobody reads stdin any longer. */
void feed_pushed(bool is_over);

#endif
