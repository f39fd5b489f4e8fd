/* Waits for a descriptor to become ready, whatever signals come meanwhile. */
#ifndef ENDPOINTS_SYS_READY_H
#define ENDPOINTS_SYS_READY_H

#include <stdbool.h>

/* Waits for one of these events of poll(), or an end or error of the
 * descriptor, wait_ms at most; -1: as long as it takes. Returns false when none
 * came, and errno says why: ETIMEDOUT, or the error of poll(). Blocks. */
bool ep_ready(int fd, short events, int wait_ms);

#endif
