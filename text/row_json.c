/* The format "json": one JSON object for each line. */
#include "config.h"

#include "text/row.h"

#include <inttypes.h>
#include <string.h>

#include "text/escape.h"

static void put_head(struct text_head *head, const struct text_origin *from)
{
    text_head_put(head, "{");
    if (from->style->has_time) {
        text_head_put(head, "\"time\":\"");
        text_head_time(head, from->time_ns);
        text_head_put(head, "\",");
    }
    text_head_put(head, "\"nspace\":\"");
    text_head_name(head, from->style->nspace, text_json_escape);
    if (from->ranks != NULL || from->style->label == TEXT_LABEL_FOLD) {
        text_head_put(head, "\",\"ranks\":\"");
        text_head_ranks(head, from);
        text_head_put(head, "\"");
    } else if (from->rank == TEXT_CONSOLE_TOOL) {
        text_head_put(head, "\",\"rank\":null,\"host\":null");
    } else {
        text_head_put(head, "\",\"rank\":%" PRIu32 ",\"host\":\"", from->rank);
        text_head_name(head, from->host, text_json_escape);
        text_head_put(head, "\"");
    }
    text_head_put(head, ",\"channel\":\"%s\",\"",
                  text_channel_name(from->channel));
}

static void put_tail(char tail[TEXT_TAIL_MAX], const struct text_origin *from,
                     bool has_newline)
{
    (void)from;
    strcpy(tail, has_newline ? "\"}\n" : "\",\"newline\":false}\n");
}

const struct text_row text_row_json = {
    .name = "json",
    .put_head = put_head,
    .opening = "text\":\"",
    .base64_opening = "base64\":\"",
    .escape = text_json_escape,
    .put_tail = put_tail,
};
