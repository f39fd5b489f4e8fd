/* A line that stands on a terminal for a while, is redrawn in its place, and is
 * erased before anything else is written there.
 *
 * It has a sink of its own, so that a slow terminal does not hold up the loop.
 * The caller keeps everything else from the terminal for as long as the line is
 * shown. Only the console uses this.
 */
#ifndef ENDPOINTS_CONSOLE_STATUS_H
#define ENDPOINTS_CONSOLE_STATUS_H

#include <stdbool.h>

struct ep_status;
struct ep_writer;

enum { EP_STATUS_BYTES = 512 }; /* most bytes of the line */

/* Makes a line that is not shown. `writer` is borrowed; `fd` is copied.
 * on_gone(arg) is called from the loop whenever the line was erased, or when it
 * can no longer be written. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_status_open(struct ep_writer *writer, int fd, void (*on_gone)(void *arg),
                   void *arg, struct ep_status **out);
/* Erases the line, waiting for that at most as ep_status_settle() does. NULL is
 * fine, here and below. */
void ep_status_close(struct ep_status *status);

/* Writes `text`, which has no control characters and is narrower than the
 * terminal, in place of the line. Does nothing and returns false when the last
 * one is still being written, or none can be. */
bool ep_status_show(struct ep_status *status, const char *text);
/* Begins to erase the line, if it is shown; on_gone follows. */
void ep_status_hide(struct ep_status *status);
/* Takes the line for gone, without writing, unless it is being written: another
 * program has the terminal now. on_gone is called from within. */
void ep_status_forget(struct ep_status *status);
/* True until the line was erased. */
bool ep_status_is_shown(const struct ep_status *status);
/* Erases the line and waits for that, for half a second at most. To be called
 * when the loop no longer runs: no callback follows. */
void ep_status_settle(struct ep_status *status);

#endif
