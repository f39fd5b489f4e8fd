/* Sizes, times and rates as people write them. */
#ifndef COMMANDS_UNITS_H
#define COMMANDS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Each reads a whole word: a number, with a point if you like, and a unit
 * behind it. False when it is not one, or too large for 63 bits.
 *
 *     bytes   64K, 1MiB, 4k, 1.5G     powers of 1024; KB, MB are powers of 1000
 *     time    2us, 1.5ms, 10s, 0      nanoseconds; ns, us, ms, s, min
 *     rate    12.5GB, 100MB/s, 1Gbit  bytes a second; powers of 1000
 */
bool units_bytes(const char *text, uint64_t *bytes);
bool units_time(const char *text, uint64_t *ns);
bool units_rate(const char *text, uint64_t *rate);

#endif
