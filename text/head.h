/* A head is what is written before a line of output: its label, or the
 * beginning of its JSON object or XML element.
 *
 *     text  2026-11-22T02:13:04.123+00:00 [job,3]<stdout>:
 *     json  {"time":"2026-...","nspace":"job","rank":3,"host":"node7",
 *            "channel":"stdout","
 *     xml   <stdout nspace="job" rank="3" timestamp="2026-...">
 *
 * The head has the time only when the style asks for it. Lines of several
 * processes have "ranks":"0-7,9" instead of "rank":3. XML always has the rank,
 * the nspace only with full labels, and host="node7" only with host labels.
 */
#ifndef TEXT_HEAD_H
#define TEXT_HEAD_H

#include <time.h>

#include "text/style.h"

enum {
    TEXT_HEAD_NAME_MAX = 255,   /* longer host and job names are cut */
    TEXT_HEAD_RANKS_MAX = 2048, /* longer lists of ranks are cut */
    TEXT_HEAD_MAX = 6144,
};

/* A head. All zero: no head was made yet. */
struct text_head {
    uint32_t len_bytes;
    char text[TEXT_HEAD_MAX];
    time_t second; /* the time, in seconds, that the text in `clock` shows */
    char clock[32];
    char zone[8];
};

/* Each of these adds something to the end of the head. TEXT_HEAD_MAX has room
 * for everything that a format of row.h adds. */

void text_head_put(struct text_head *head, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a name as an attribute or string, with '?' for what is not UTF-8. */
void text_head_name(struct text_head *head, const char *name,
                    size_t (*escape)(uint8_t byte, uint8_t *dst));
/* Adds the time as ISO 8601 with its time zone. */
void text_head_time(struct text_head *head, uint64_t time_ns);
/* Adds the rank or the ranks, or "tool". */
void text_head_ranks(struct text_head *head, const struct text_origin *from);
/* Returns the name, or "?" for NULL. */
const char *text_head_or_unknown(const char *name);

#endif
