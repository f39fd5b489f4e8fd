/* Waits for a descriptor to become ready, even when signals interrupt the
 * wait. */
#ifndef ENDPOINTS_SYS_READY_H
#define ENDPOINTS_SYS_READY_H

#include <stdbool.h>

/* Waits for one of these events of poll(), or an end or error of the
 * descriptor, wait_ms at most; -1: without limit. Returns false when none came,
 * with errno ETIMEDOUT or the error of poll(). Blocks. */
bool ep_ready(int fd, short events, int wait_ms);

#endif
