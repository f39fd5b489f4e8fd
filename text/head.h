/* What stands before a line: its label, or the beginning of its object or
 * element.
 *
 *     text  2026-11-22T02:13:04.123+00:00 [job,3]<stdout>:
 *     json  {"time":"2026-...","nspace":"job","rank":3,"host":"node7",
 *            "channel":"stdout","
 *     xml   <stdout nspace="job" rank="3" timestamp="2026-...">
 *
 * with the time only where the style has it. Lines of several processes have
 * "ranks":"0-7,9" in place of "rank":3. XML has the nspace with full labels
 * and host="node7" with labels of hosts, and the rank always.
 */
#ifndef TEXT_HEAD_H
#define TEXT_HEAD_H

#include <time.h>

#include "text/style.h"

enum {
    TEXT_HEAD_NAME_MAX = 255,   /* longer host and job names are cut */
    TEXT_HEAD_RANKS_MAX = 2048, /* of text_origin.ranks */
    TEXT_HEAD_MAX = 6144,
};

/* Zeroed: none made. */
struct text_head {
    uint32_t len_bytes;
    char text[TEXT_HEAD_MAX];
    time_t second; /* that clock tells */
    char clock[32];
    char zone[8];
};

/* Each adds something at the end; TEXT_HEAD_MAX has room for all that a format
 * puts there (row.h). */

void text_head_put(struct text_head *head, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A name as an attribute or string; what is no UTF-8 in it as '?'. */
void text_head_name(struct text_head *head, const char *name,
                    size_t (*escape)(uint8_t byte, uint8_t *dst));
/* The time as ISO 8601, with the zone it is in. */
void text_head_time(struct text_head *head, uint64_t time_ns);
/* The rank or ranks, or "tool". */
void text_head_ranks(struct text_head *head, const struct text_origin *from);
/* "?" for NULL. */
const char *text_head_or_unknown(const char *name);

#endif
