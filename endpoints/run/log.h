/* Lines of tools on the launcher's stdout and stderr: each text is a record of
 * the console that is no process's, until the console has taken it.
 */
#ifndef ENDPOINTS_RUN_LOG_H
#define ENDPOINTS_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct job_record;
struct run_logs;

/* Texts that may wait at a time. */
enum { RUN_LOGS_MAX = 256 };

/* Returns 0 or OV_ENOMEM. */
int ep_run_logs_open(struct run_logs **out);
/* Frees what was never taken. NULL is fine. */
void ep_run_logs_close(struct run_logs *logs);

/* Puts text into the record, whose proc, rank, mem, len_bytes and cookie are
 * set: whole lines, which nothing comes between; a newline is added where it
 * has none at its end. The text is copied, EP_CONSOLE_RECORD_MAX - 1 bytes at
 * most. Returns false when it is longer, when RUN_LOGS_MAX wait already or when
 * memory is out. O(len_bytes). */
bool ep_run_logs_add(struct run_logs *logs, uint32_t token, const char *text,
                     uint32_t len_bytes, struct job_record *record);

/* The console has taken a record, or does not take it; true when it was one of
 * these. The token is then due. O(texts that wait). */
bool ep_run_logs_taken(struct run_logs *logs, uint64_t cookie, uint32_t *token);

#endif
