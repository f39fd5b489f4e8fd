/* A look now and then while something waits. Whoever waits asks for a look, and
 * asks again when the look finds that it still has to wait. Each look comes
 * after twice the time of the one before, up to a limit.
 */
#ifndef ENDPOINTS_RUN_WATCH_H
#define ENDPOINTS_RUN_WATCH_H

struct event_base;
struct run_watch;

/* Returns 0 or OV_ENOMEM. */
int ep_watch_open(struct event_base *base, unsigned first_ms, unsigned most_ms,
                  void (*look)(void *arg), void *arg, struct run_watch **out);
/* NULL is fine, here and below. */
void ep_watch_close(struct run_watch *watch);

/* Something waits: a look follows, once. */
void ep_watch_soon(struct run_watch *watch);
/* Does the same, but begins again with the first time. */
void ep_watch_anew(struct run_watch *watch);

#endif
