/* What is written to a terminal when this process dies of a signal that no
 * other code handles, or of a failed assertion, so that nothing is left there
 * that was to be erased.
 *
 * The process has one such text. A signal that does not let the process do
 * anything, such as SIGKILL, leaves it unwritten.
 */
#ifndef ENDPOINTS_SYS_FATAL_H
#define ENDPOINTS_SYS_FATAL_H

/* Handles the signals that end a process for a fault of its own or a limit,
 * where they would do what they do by default: the text is written, and then
 * they do that. */
void ep_fatal_open(void);
/* Gives up what ep_fatal_open() has done; it may be called without that. */
void ep_fatal_close(void);

/* Sets the text, which must stay as it is from now on, and the descriptor that
 * it is for. NULL: nothing is to be written. */
void ep_fatal_set(int fd, const char *text);
/* Writes the text, if there is one and the descriptor takes it at once, and
 * forgets it. A signal handler may call this. */
void ep_fatal_write(void);

#endif
