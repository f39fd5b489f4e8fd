/* What this process has used so far. */
#ifndef ENDPOINTS_SYS_USAGE_H
#define ENDPOINTS_SYS_USAGE_H

#include <stdint.h>

/* Peak of resident memory since this program was started. It is not from
 * getrusage(), whose peak includes the process that has forked us. 0: the
 * system does not tell. */
uint64_t ep_usage_rss_peak_bytes(void);

/* Time on processors, in the system and outside of it. */
uint64_t ep_usage_cpu_us(void);

#endif
