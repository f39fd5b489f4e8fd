/* A look now and then while something waits: who waits says so, and again when
 * the look finds that it still does. Each look comes after twice the time of
 * the one before, up to a limit.
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

/* Something waits: it is looked at, once. */
void ep_watch_soon(struct run_watch *watch);
/* The same, as soon as the first time. */
void ep_watch_anew(struct run_watch *watch);

#endif
