/* A look every so often while something waits: who waits says so, and again
 * when the look finds that it still does.
 */
#ifndef ENDPOINTS_RUN_WATCH_H
#define ENDPOINTS_RUN_WATCH_H

struct event_base;
struct run_watch;

/* Returns 0 or OV_ENOMEM. */
int ep_watch_open(struct event_base *base, unsigned every_ms,
                  void (*look)(void *arg), void *arg, struct run_watch **out);
/* NULL is fine, here and below. */
void ep_watch_close(struct run_watch *watch);

/* Something waits: it is looked at in every_ms, once. */
void ep_watch_soon(struct run_watch *watch);

#endif
