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

/* Makes the head for this origin. Names may be NULL ("?"). */
void text_head_make(struct text_head *head, const struct text_origin *from);

#endif
