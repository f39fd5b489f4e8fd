/* What a tool says on stderr while its console is open: between two lines of
 * what it shows, and never in the way of the loop (endpoints/run/voice.h).
 * Main thread.
 */
#ifndef COMMANDS_ATTACH_WORDS_H
#define COMMANDS_ATTACH_WORDS_H

#include <stdbool.h>

struct event_base;

/* As ask of struct run_voice: whether stderr may be written to. Returns 0 or
 * OV_ENOMEM. */
int words_open(struct event_base *base, bool (*ask)(void *arg, bool wants));
/* It may be, as was asked for. */
void words_retry(void);
/* Writes what waits, unless nobody reads stderr, and frees all. */
void words_close(void);

/* Says the sentence behind `xylem: '. Returns 1, as refuse(). */
int words_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
