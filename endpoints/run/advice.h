/* Advice for the user about a program that cannot be started. */
#ifndef ENDPOINTS_RUN_ADVICE_H
#define ENDPOINTS_RUN_ADVICE_H

/* Checks whether the word, which names no program, is something else, such as a
 * whole command line in quotes. Returns a text in parentheses with a blank
 * before it, which is never freed; "" when the word looks like a program. */
const char *ep_advice_word(const char *word);

/* Returns such a text for a step of a start (ep_step_name()) that failed for
 * this program with this errno; "" when there is no advice. */
const char *ep_advice(const char *step, const char *program, int err);

#endif
