/* The time before there is an event loop: its clock and its signals.
 *
 * Options and files are read before anything is started, and some of that may
 * take for ever: a FIFO that nobody writes to, a terminal, a file system that
 * does not answer. Meanwhile the end of a time limit, SIGINT, SIGTERM and
 * SIGHUP end the process there and then, with words: nothing has been started
 * that would need more. A signal that was ignored at the start stays so.
 *
 * There is one, of the process; SIGALRM and the timer ITIMER_REAL are its own.
 */
#ifndef ENDPOINTS_SYS_PRELUDE_H
#define ENDPOINTS_SYS_PRELUDE_H

#include <stdint.h>

enum { EP_PRELUDE_TIMEOUT = 124 }; /* exit code at the end of the time */

/* Begins it; limit_s seconds after since_ns (ep_clock_ns) it is over, 0: it is
 * not limited. A signal ends the process with 128 and its number, SIGHUP as
 * SIGTERM. */
void ep_prelude_open(double limit_s, uint64_t since_ns);

/* What may take long now, for the user: `what` is cut where it is too long. It
 * is said after a second, and at an early end. Without a prelude nothing is. */
void ep_prelude_wait(const char *what);
/* It has come. */
void ep_prelude_go_on(void);

/* What handles signals otherwise is there, or comes next. */
void ep_prelude_close(void);

#endif
