/* The time before there is an event loop: its time limit and its signals.
 *
 * Options and files are read before anything is started, and reading may take
 * for ever: a FIFO without a writer, a terminal, a file system that does not
 * answer. Meanwhile the end of the time limit, SIGINT, SIGTERM and SIGHUP end
 * the process at once, with a message: nothing has been started that would have
 * to be ended first. A signal that was ignored at the start stays ignored.
 *
 * The process has one prelude, which uses SIGALRM and the timer ITIMER_REAL.
 */
#ifndef ENDPOINTS_SYS_PRELUDE_H
#define ENDPOINTS_SYS_PRELUDE_H

#include <stdint.h>
#include <sys/types.h>

/* exit code when the time limit has passed */
enum { EP_PRELUDE_TIMEOUT = 124 };

/* Begins the prelude. The time limit is limit_s seconds after since_ns
 * (ep_clock_ns); 0: none. A signal ends the process with 128 and its number;
 * SIGHUP counts as SIGTERM. */
void ep_prelude_open(double limit_s, uint64_t since_ns);

/* Names what may take long now, for the user: `what` is cut when it is too
 * long. It is shown after a second, and when the process is ended. Without a
 * prelude nothing is shown. */
void ep_prelude_wait(const char *what);
/* Says that what ep_prelude_wait has named is done. */
void ep_prelude_go_on(void);

/* Names a group of processes that is to be killed when the process is ended;
 * 0: none. */
void ep_prelude_group(pid_t group);

/* Ends the prelude. The caller handles signals from now on. */
void ep_prelude_close(void);

#endif
