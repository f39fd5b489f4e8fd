/* Lines of PMIx tools, as records of the console that belong to no process. */
#include "endpoints/run/log.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/console/console.h"
#include "endpoints/run/records.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

/* The first of the cookies of these texts: larger than those of records, and
 * far smaller than those of output that clients give back. */
enum { COOKIE_FIRST = RUN_NO_RECORD + 1 };

struct log {
    struct log *next;
    uint64_t cookie;
    uint32_t token;
    uint32_t len_bytes;
    uint8_t mem[];
};

struct run_logs {
    struct log *first; /* owned: the oldest text */
    uint32_t count;
    uint64_t made; /* how many texts were added so far */
};

int ep_run_logs_open(struct run_logs **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? OV_ENOMEM : 0;
}

void ep_run_logs_close(struct run_logs *logs)
{
    while (logs != NULL && logs->first != NULL) {
        struct log *log = logs->first;

        logs->first = log->next;
        free(log);
    }
    free(logs);
}

static struct log *make(uint32_t token, const char *text, uint32_t len_bytes)
{
    struct log *log = calloc(1, sizeof(*log) + len_bytes + 1);

    if (log == NULL)
        return NULL;
    memcpy(log->mem, text, len_bytes);
    if (len_bytes == 0 || text[len_bytes - 1] != '\n')
        log->mem[len_bytes++] = '\n';
    log->token = token;
    log->len_bytes = len_bytes;
    return log;
}

bool ep_run_logs_add(struct run_logs *logs, uint32_t token, const char *text,
                     uint32_t len_bytes, struct job_record *record)
{
    struct log *log;

    if (logs->count == RUN_LOGS_MAX || len_bytes >= EP_CONSOLE_RECORD_MAX)
        return false;
    log = make(token, text, len_bytes);
    if (log == NULL)
        return false;
    log->cookie = COOKIE_FIRST + logs->made++;
    log->next = logs->first;
    logs->first = log;
    logs->count++;
    record->proc = record->rank = TEXT_CONSOLE_TOOL;
    record->mem = log->mem;
    record->len_bytes = log->len_bytes;
    record->cookie = log->cookie;
    return true;
}

bool ep_run_logs_taken(struct run_logs *logs, uint64_t cookie, uint32_t *token)
{
    struct log **at = &logs->first;
    struct log *log;

    if (cookie < COOKIE_FIRST)
        return false;
    while (*at != NULL && (*at)->cookie != cookie)
        at = &(*at)->next;
    log = *at;
    OV_ASSERT(log != NULL);
    *at = log->next;
    logs->count--;
    *token = log->token;
    free(log);
    return true;
}
