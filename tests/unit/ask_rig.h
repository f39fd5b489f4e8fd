/* Queries as texts, for tests of a tool's helper: what is asked, and what
 * libpmix is given as the answer. */
#ifndef TESTS_UNIT_ASK_RIG_H
#define TESTS_UNIT_ASK_RIG_H

#include "pmix_api/helper/lib/lib.h"

enum { ASK_RIG_QUERIES = 4 };

/* Keys, and qualifiers as KEY=VALUE (VALUE "#" is of another type, KEY "!KEY"
 * is required), with spaces between; "|" begins another ask. Stays until that
 * many are made. */
const struct px_lib_query *ask_rig_query(const char *text);

/* All queries that were answered with values since the last call, in order:
 * their answer, and infos as KEY=VALUE; a line each. */
const char *ask_rig_answers(void);

#endif
