/* Prints messages of this command on stderr while a console is open: between
 * two lines of output, and without blocking the event loop
 * (endpoints/run/voice.h). Main thread only. */
#ifndef COMMANDS_ATTACH_WORDS_H
#define COMMANDS_ATTACH_WORDS_H

#include <stdbool.h>

struct event_base;
struct run_voice;

/* Opens the module. `ask` is called to find out whether stderr may be written
 * to, as in struct run_voice. Returns 0 or OV_ENOMEM. */
int words_open(struct event_base *base, bool (*ask)(void *arg, bool wants));
/* To be called when stderr may be written to again after `ask` refused it. */
void words_retry(void);
/* Writes the messages that wait, unless stderr takes nothing, and frees
 * everything. */
void words_close(void);

/* The voice of these messages, for modules that speak by one. */
struct run_voice *words_voice(void);

/* Prints the sentence after `xylem: '. Returns 1, as refuse() does. */
int words_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
