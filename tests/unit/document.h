/* Compares the tables of messages in docs/protocol.md with their rows in the
 * code. */
#ifndef TESTS_UNIT_DOCUMENT_H
#define TESTS_UNIT_DOCUMENT_H

#include "job/lines.h"
#include "job/schema.h"

/* Fails unless a line of the document begins with this text. */
void document_has(const char *begin);

/* Fails unless a table of the document has the row "
 *  KIND NAME | fields |". */
void document_has_message(unsigned kind, const char *name,
                          const struct job_schema_row *rows);

/* Fails unless a list of the document has each of these lines, compared up to
 * its comma. */
void document_has_lines(const struct job_line *lines);

#endif
