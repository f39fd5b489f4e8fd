/* The time before there is an event loop: its clock and its signals.
 *
 * Options and files are read before anything is started, and some of that may
 * take for ever: a FIFO without a writer, a terminal, a file system that does
 * not answer. Meanwhile the end of a time limit, SIGINT, SIGTERM and SIGHUP end
 * the process at once, with words: nothing has been started that would need
 * more. A signal that was ignored at the start stays ignored.
 *
 * The process has one prelude, which uses SIGALRM and the timer ITIMER_REAL.
 */
#ifndef ENDPOINTS_SYS_PRELUDE_H
#define ENDPOINTS_SYS_PRELUDE_H

#include <stdint.h>

enum { EP_PRELUDE_TIMEOUT = 124 }; /* exit code at the end of the time */

/* Begins the prelude. It is over limit_s seconds after since_ns (ep_clock_ns);
 * 0: it has no limit. A signal ends the process with 128 and its number, SIGHUP
 * like SIGTERM. */
void ep_prelude_open(double limit_s, uint64_t since_ns);

/* Says what may take long now, for the user: `what` is cut when it is too long.
 * It is shown after a second, and at an early end. Without a prelude nothing is
 * shown. */
void ep_prelude_wait(const char *what);
/* Says that the wait is over. */
void ep_prelude_go_on(void);

/* Ends the prelude: what handles signals from now on is there, or comes
 * next. */
void ep_prelude_close(void);

#endif
