/* Lines of tools, as records of the console that are no process's. */
#include "endpoints/run/log.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/loss.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { RUN_LOGS_MAX = 256 };

struct run_log {
    struct run_log *next;
    uint64_t cookie;
    uint32_t token;
    struct ov_buf buf;
    uint8_t mem[];
};

static struct run_log *make(uint32_t token, const char *text,
                            uint32_t len_bytes)
{
    struct run_log *log = calloc(1, sizeof(*log) + len_bytes + 1);

    if (log == NULL)
        return NULL;
    memcpy(log->mem, text, len_bytes);
    if (len_bytes == 0 || text[len_bytes - 1] != '\n')
        log->mem[len_bytes++] = '\n';
    log->token = token;
    log->buf = (struct ov_buf){.mem = log->mem,
                               .cap_bytes = len_bytes,
                               .len_bytes = len_bytes,
                               .refs = 1};
    return log;
}

bool ep_run_log(struct run *r, uint32_t token, uint8_t channel,
                const char *text, uint32_t len_bytes)
{
    struct ep_console_record record = {.proc = TEXT_CONSOLE_TOOL,
                                       .rank = TEXT_CONSOLE_TOOL,
                                       .time_ns = ep_clock_unix_ns(),
                                       .host = r->host,
                                       .channel = channel};
    struct run_log *log;

    if (r->output == NULL || r->phase == RUN_OVER ||
        r->logs_count == RUN_LOGS_MAX || len_bytes >= EP_CONSOLE_RECORD_MAX)
        return false;
    log = make(token, text, len_bytes);
    if (log == NULL)
        return false;
    log->cookie = RUN_NO_RECORD + 1 + r->logs_made++;
    record.buf = &log->buf;
    record.len_bytes = log->buf.len_bytes;
    record.cookie = log->cookie;
    if (ep_output_record(r->output, &record)) {
        free(log);
        return false;
    }
    log->next = r->logs;
    r->logs = log;
    r->logs_count++;
    ep_run_watch(r);
    return true;
}

bool ep_run_log_taken(struct run *r, uint64_t cookie, uint32_t *token)
{
    struct run_log **at = &r->logs;
    struct run_log *log;

    if (cookie <= RUN_NO_RECORD)
        return false;
    while (*at != NULL && (*at)->cookie != cookie)
        at = &(*at)->next;
    log = *at;
    OV_ASSERT(log != NULL);
    *at = log->next;
    r->logs_count--;
    *token = log->token;
    free(log);
    return true;
}

void ep_run_log_close(struct run *r)
{
    while (r->logs != NULL) {
        struct run_log *log = r->logs;

        r->logs = log->next;
        free(log);
    }
}
