/* Redirected output that the helper gives back: its pull is over. */
#ifndef PMIX_API_HOST_BACK_H
#define PMIX_API_HOST_BACK_H

#include <stdint.h>

struct px_host;
struct px_output;

/* The helper says that a pull is over. What was redirected to it is on its way
 * to the helper, and comes back: new output of its channels waits for that, and
 * the helper is told that nothing comes behind this word; one pull at a time,
 * and none while the launcher itself gives back (host_salvage.h). */
void px_back_stop(struct px_host *host, uint32_t pull);

/* Some of it. Returns 0, or OV_EPROTO: it makes no sense. */
int px_back_heard(struct px_host *host, const struct px_output *output);

#endif
