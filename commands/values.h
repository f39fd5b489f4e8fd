/* Values of options.
 *
 * Each function reads the whole value of the named option, or ends the program
 * by usage() with a sentence that says what to write.
 */
#ifndef COMMANDS_VALUES_H
#define COMMANDS_VALUES_H

#include <stdint.h>

enum { VALUE_RATE_LEAST = 1024, VALUE_SECONDS_MOST = 1000000 };

/* Accepts any text that is not empty, and returns it. */
const char *value_words(const char *option, const char *text);

/* Reads a number from `least` to `most`. */
uint64_t value_number(const char *option, const char *text, uint64_t least,
                      uint64_t most);

/* Read bytes, a time (as nanoseconds) or bytes a second, as people write them:
 * a number, possibly with a decimal point, and a unit after it; at most 63
 * bits.
 *
 *     bytes   64K, 1MiB, 4k, 1.5G     powers of 1024; KB, MB are powers of 1000
 *     time    2us, 1.5ms, 10s, 5m     ns, us, ms, s, m (or min), h, d; seconds
 *                                     without one
 *     rate    12.5GB, 100MB/s, 1Gbit  powers of 1000; VALUE_RATE_LEAST at least
 *
 * Bytes are from `least` to `most`; INT64_MAX as `most` is no bound.
 */
uint64_t value_bytes(const char *option, const char *text, uint64_t least,
                     uint64_t most);
uint64_t value_time(const char *option, const char *text);
uint64_t value_rate(const char *option, const char *text);

/* Reads a time as above, as seconds from `least` to VALUE_SECONDS_MOST. */
double value_seconds(const char *option, const char *text, double least);

#endif
