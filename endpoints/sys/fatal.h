/* A text that is written to a terminal when this process dies of a signal that
 * no other code handles, or of a failed assertion, so that nothing stays on the
 * screen that had to be erased.
 *
 * The process has one such text. A signal that ends the process at once, such
 * as SIGKILL, leaves the text unwritten.
 */
#ifndef ENDPOINTS_SYS_FATAL_H
#define ENDPOINTS_SYS_FATAL_H

/* Handles the signals by which a fault of the process, or a limit, ends it,
 * when their default action is set: the text is written, and then the default
 * action follows. */
void ep_fatal_open(void);
/* Undoes ep_fatal_open(). May be called without that. */
void ep_fatal_close(void);

/* Sets the text, which must not change afterwards, and the descriptor to which
 * it is written. NULL: no text is written. */
void ep_fatal_set(int fd, const char *text);
/* Writes the text, if there is one and the descriptor takes it at once, and
 * forgets it. A signal handler may call this. */
void ep_fatal_write(void);

#endif
