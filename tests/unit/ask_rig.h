/* Queries as texts, for tests of a tool's helper: the query, and the answer
 * that libpmix gets. */
#ifndef TESTS_UNIT_ASK_RIG_H
#define TESTS_UNIT_ASK_RIG_H

#include "pmix_api/helper/lib/lib.h"

enum { ASK_RIG_QUERIES = 4 };

/* Makes a query from keys, and from qualifiers as KEY=VALUE (VALUE "#" is of
 * another type, KEY "!KEY" is required), separated by spaces; "
 * " begins another ask. It stays until ASK_RIG_QUERIES more are made. */
const struct px_lib_query *ask_rig_query(const char *text);

/* All queries that were answered with values since the last call, in order: the
 * answer of each, and its infos as KEY=VALUE; a line for each query. */
const char *ask_rig_answers(void);

#endif
