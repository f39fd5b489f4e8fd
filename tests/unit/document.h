/* Compares what docs/protocol.md says of messages with their rows. */
#ifndef TESTS_UNIT_DOCUMENT_H
#define TESTS_UNIT_DOCUMENT_H

#include "job/lines.h"
#include "job/schema.h"

/* Fails unless a line of the document begins with this. */
void document_has(const char *begin);

/* Fails unless a table of the document has the row "
 *  KIND NAME | fields |". */
void document_has_message(unsigned kind, const char *name,
                          const struct job_schema_row *rows);

/* Fails unless a list of the document has each of the lines, up to its
 * comma. */
void document_has_lines(const struct job_line *lines);

#endif
