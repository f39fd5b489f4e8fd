/* How one_tool answers a tool's requests, and which events it sends to the
 * tool.
 *
 * For each request it prints a line, as the head of one_tool.c says.
 */
#ifndef TESTS_PMIX_ONE_ASK_H
#define TESTS_PMIX_ONE_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

#define ONE_JOB "one-job"

extern const char *const one_query_keys[];

/* Opens this part: the job has `ranks` processes, and events of the tool are
 * written to files in `dir`. */
void one_ask_open(uint32_t ranks, const char *dir);

void one_on_query(void *arg, const struct px_lib_query *query);
void one_on_spawn(void *arg, const struct px_lib_spawn *spawn);
void one_on_control(void *arg, const struct px_lib_control *control);
void one_on_log(void *arg, const struct px_lib_log *log);
void one_on_event(void *arg, const void *mem, size_t len_bytes);
void one_on_note(void *arg, const char *text);

/* Answers the requests that were kept. */
void one_answer_all(void);

/* Carries out an order, a line of stdin. False: it is not an order that this
 * file knows. */
bool one_obey(char *line);

#endif
