/* Values of the options of `xylem sim`.
 *
 * Each reads the whole text of the option named, or ends the program with exit
 * code 2 and a sentence that says what to write.
 */
#ifndef COMMANDS_SIM_VALUES_H
#define COMMANDS_SIM_VALUES_H

#include <stdint.h>

uint64_t sim_number(const char *option, const char *text, uint64_t min,
                    uint64_t max);
uint64_t sim_bytes(const char *option, const char *text);
uint64_t sim_time(const char *option, const char *text); /* nanoseconds */
uint64_t sim_rate(const char *option, const char *text); /* bytes a second */

_Noreturn void sim_usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
