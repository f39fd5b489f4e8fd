/* A timer for code that waits for something and looks now and then whether it
 * still has to wait. Such code asks for a look, and asks again when the look
 * finds that it must wait on. The time to each look is twice that of the look
 * before it, up to a limit.
 */
#ifndef ENDPOINTS_RUN_WATCH_H
#define ENDPOINTS_RUN_WATCH_H

struct event_base;
struct run_watch;

/* `look` is called first_ms after it is asked for, and later after up to
 * most_ms. Returns 0 or OV_ENOMEM. */
int ep_watch_open(struct event_base *base, unsigned first_ms, unsigned most_ms,
                  void (*look)(void *arg), void *arg, struct run_watch **out);
/* NULL is fine, here and below. */
void ep_watch_close(struct run_watch *watch);

/* Asks for one look. Does nothing when one is due already. */
void ep_watch_soon(struct run_watch *watch);
/* Asks for one look, first_ms from now. */
void ep_watch_anew(struct run_watch *watch);

#endif
