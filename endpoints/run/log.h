/* Lines of PMIx tools that go to the launcher's stdout and stderr. Each text is
 * a record for the console that belongs to no process, and is kept until the
 * console has written it.
 */
#ifndef ENDPOINTS_RUN_LOG_H
#define ENDPOINTS_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct job_record;
struct run_logs;

/* How many texts may wait at a time. */
enum { RUN_LOGS_MAX = 256 };

/* Returns 0 or OV_ENOMEM. */
int ep_run_logs_open(struct run_logs **out);
/* Frees the texts, also those that still wait. NULL is fine. */
void ep_run_logs_close(struct run_logs *logs);

/* Copies the text, of at most EP_CONSOLE_RECORD_MAX - 1 bytes, and makes
 * *record a record of it: sets proc, rank, mem, len_bytes and cookie. The
 * console writes its lines with nothing between them; a newline is added when
 * the text does not end in one. `token` names the text in ep_run_logs_taken().
 * Returns false when the text is too long, when RUN_LOGS_MAX texts wait already
 * or when memory is out. O(len_bytes). */
bool ep_run_logs_add(struct run_logs *logs, uint32_t token, const char *text,
                     uint32_t len_bytes, struct job_record *record);

/* Frees the text of a record that the console has written or refuses. Returns
 * false when the record has no such text; else true, with the token of the
 * text, whose sender can now be told. O(texts that wait). */
bool ep_run_logs_taken(struct run_logs *logs, uint64_t cookie, uint32_t *token);

#endif
