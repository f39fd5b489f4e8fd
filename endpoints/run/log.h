/* Lines of tools on the launcher's stdout and stderr. Each text is a record of
 * the console that belongs to no process, and is kept until the console has
 * taken it.
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
/* Frees the texts that were never taken. NULL is fine. */
void ep_run_logs_close(struct run_logs *logs);

/* Puts text into the record and sets its proc, rank, mem, len_bytes and cookie.
 * Its lines are written with nothing between them; a newline is added when it
 * does not end in one. The text, at most EP_CONSOLE_RECORD_MAX - 1 bytes, is
 * copied. Returns false when it is longer, when RUN_LOGS_MAX texts wait already
 * or when memory is out. O(len_bytes). */
bool ep_run_logs_add(struct run_logs *logs, uint32_t token, const char *text,
                     uint32_t len_bytes, struct job_record *record);

/* The console has taken a record, or refuses it. Returns true when it is one of
 * these; then *token is due. O(texts that wait). */
bool ep_run_logs_taken(struct run_logs *logs, uint64_t cookie, uint32_t *token);

#endif
