/* Tells what was seen of a job's processes. */
#ifndef COMMANDS_STACK_TELL_H
#define COMMANDS_STACK_TELL_H

#include <stdint.h>
#include <stdio.h>

struct stack_report;

/* Write all that was found, sorted: as text for a terminal of this many columns
 * (0: no limit), or as one object of JSON in a line. Errors of writing stay in
 * `out'. Return 0 or OV_ENOMEM. */
int stack_tell_text(struct stack_report *report, uint32_t columns, FILE *out);
int stack_tell_json(struct stack_report *report, const char *job, FILE *out);

/* Says on stderr which ranks have ended, and which could not be looked at.
 * Returns the exit code: 0 when all that run could be. */
int stack_tell_faults(const struct stack_report *report);

#endif
