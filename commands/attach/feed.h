/* stdin on its way to processes of the job: one piece at a time, the next when
 * the session has taken it. What nobody asked for stays unread. */
#ifndef COMMANDS_ATTACH_FEED_H
#define COMMANDS_ATTACH_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "topo/ranges.h"

struct event_base;

/* stdin cannot be read, errno says why: nothing is sent any more, nor its end.
 * It may call feed_close(). */
typedef void (*feed_error_fn)(int err);

/* Sends a piece to these ranks, no member: to all; no bytes: the end. `mem` is
 * borrowed until feed_pushed(). */
typedef void (*feed_push_fn)(const struct topo_ranges *ranks, const void *mem,
                             size_t len_bytes);

/* Begins to read; `ranks` is borrowed. is_own: it is this program's job, whose
 * processes may end or close their stdin without a word. Returns 0, or an OV_
 * code. */
int feed_open(struct event_base *base, const struct topo_ranges *ranks,
              feed_push_fn push, bool is_own, feed_error_fn on_error);
/* We may be in the foreground of the terminal now. */
void feed_wake(void);
/* Harmless when it is not open. */
void feed_close(void);

/* The session has taken the piece; is_over: there is no reader any more. */
void feed_pushed(bool is_over);

#endif
