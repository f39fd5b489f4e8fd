/* What docs/protocol.md says of messages, compared with their rows. */
#ifndef TESTS_UNIT_DOCUMENT_H
#define TESTS_UNIT_DOCUMENT_H

#include "job/lines.h"
#include "job/schema.h"

/* Fails unless a line of it begins with this. */
void document_has(const char *begin);

/* Fails unless a table of it has the row "| KIND NAME | fields |". */
void document_has_message(unsigned kind, const char *name,
                          const struct job_schema_row *rows);

/* Fails unless a list of it has each of the lines, to its comma. */
void document_has_lines(const struct job_line *lines);

#endif
