/* The format "xml": one XML element for each line, as in PMIx. */
#include "config.h"

#include "text/row.h"

#include <stdio.h>

#include "text/escape.h"

/* As text_xml_escape, but a quotation mark becomes '?': it would end the
 * attribute. */
static size_t attribute_escape(uint8_t byte, uint8_t *dst)
{
    return text_xml_escape(byte == '"' ? '?' : byte, dst);
}

static void put_head(struct text_head *head, const struct text_origin *from)
{
    text_head_put(head, "<%s", text_channel_name(from->channel));
    if (from->style->label == TEXT_LABEL_FULL) {
        text_head_put(head, " nspace=\"");
        text_head_name(head, from->style->nspace, attribute_escape);
        text_head_put(head, "\"");
    }
    text_head_put(head, " rank=\"");
    text_head_ranks(head, from);
    if (from->style->label == TEXT_LABEL_HOST) {
        text_head_put(head, "\" host=\"");
        text_head_name(head, from->host, attribute_escape);
    }
    if (from->style->has_time) {
        text_head_put(head, "\" timestamp=\"");
        text_head_time(head, from->time_ns);
    }
    text_head_put(head, "\">");
}

static void put_tail(char tail[TEXT_TAIL_MAX], const struct text_origin *from,
                     bool has_newline)
{
    snprintf(tail, TEXT_TAIL_MAX, "%s</%s>\n", has_newline ? "&#010;" : "",
             text_channel_name(from->channel));
}

const struct text_row text_row_xml = {
    .name = "xml",
    .put_head = put_head,
    .opening = "",
    .escape = text_xml_escape,
    .put_tail = put_tail,
};
