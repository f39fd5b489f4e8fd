/* Prints the results for a job's processes. */
#ifndef COMMANDS_STACK_TELL_H
#define COMMANDS_STACK_TELL_H

#include <stdint.h>
#include <stdio.h>

struct stack_report;

/* These functions write all results, sorted: as text for a terminal of this
 * many columns (0: no limit), or as one JSON object in a line. Errors of
 * writing stay in `out'. Return 0 or OV_ENOMEM. */
int stack_tell_text(struct stack_report *report, uint32_t columns, FILE *out);
int stack_tell_json(struct stack_report *report, const char *job, FILE *out);

/* Reports on stderr which ranks have ended, and which could not be looked at.
 * Returns the exit code: 0 when all running processes were looked at. */
int stack_tell_faults(const struct stack_report *report);

#endif
