/* Memory and time that this process has used so far. */
#ifndef ENDPOINTS_SYS_USAGE_H
#define ENDPOINTS_SYS_USAGE_H

#include <stdint.h>

/* Returns the peak of resident memory since this program was started; 0: the
 * system does not tell. The number is not from getrusage(), whose peak includes
 * the process that has forked this one. */
uint64_t ep_usage_rss_peak_bytes(void);

/* Returns the processor time used, in the system and outside of it. */
uint64_t ep_usage_cpu_us(void);

#endif
