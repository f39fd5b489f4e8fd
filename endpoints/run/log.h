/* Lines of tools on the launcher's stdout and stderr. */
#ifndef ENDPOINTS_RUN_LOG_H
#define ENDPOINTS_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Hands text to the console as one record of whole lines, which nothing comes
 * between; a newline is added where it has none at its end. The text is copied,
 * EP_CONSOLE_RECORD_MAX - 1 bytes at most. Returns false when it is longer or
 * too much waits already (RUN_LOGS_MAX texts), when memory is out, or when the
 * console takes nothing any more. O(len_bytes). */
bool ep_run_log(struct run *r, uint32_t token, uint8_t channel,
                const char *text, uint32_t len_bytes);

/* The console has taken a record; true when it was one of these. The token is
 * then due. */
bool ep_run_log_taken(struct run *r, uint64_t cookie, uint32_t *token);

/* Frees what was never taken. */
void ep_run_log_close(struct run *r);

#endif
