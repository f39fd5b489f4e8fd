/* The format "text": lines as they are, each after its head. */
#include "config.h"

#include "text/row.h"

#include <inttypes.h>
#include <string.h>

uint8_t text_style_digits(uint32_t ranks)
{
    uint8_t digits = 1;

    for (uint32_t largest = ranks > 0 ? ranks - 1 : 0; largest > 9;
         largest /= 10)
        digits++;
    return digits;
}

void text_style_widen(struct text_style *style, const char *host)
{
    const size_t bytes = strnlen(host, TEXT_HEAD_NAME_MAX);

    if (bytes > style->host_bytes)
        style->host_bytes = (uint8_t)bytes;
}

static void put_rank(struct text_head *head, const struct text_origin *from)
{
    if (from->ranks == NULL && from->rank != TEXT_CONSOLE_TOOL) {
        text_head_put(head, "%0*" PRIu32 ": ", from->style->rank_digits,
                      from->rank);
        return;
    }
    text_head_put(head, "%s", from->ranks != NULL ? "[" : "");
    text_head_ranks(head, from);
    text_head_put(head, "%s", from->ranks != NULL ? "]: " : ": ");
}

static void put_label(struct text_head *head, const struct text_origin *from)
{
    switch (from->style->label) {
    case TEXT_LABEL_NONE:
    case TEXT_LABEL_MODES:
        break;
    case TEXT_LABEL_RANK:
        put_rank(head, from);
        break;
    case TEXT_LABEL_HOST:
        text_head_put(
            head, "%-*.*s: ", from->style->host_bytes, TEXT_HEAD_NAME_MAX,
            from->rank == TEXT_CONSOLE_TOOL ? "tool"
                                            : text_head_or_unknown(from->host));
        break;
    case TEXT_LABEL_FOLD:
        text_head_put(head, "[");
        text_head_ranks(head, from);
        text_head_put(head, "] ");
        break;
    case TEXT_LABEL_FULL:
        text_head_put(head, "[%.*s,", TEXT_HEAD_NAME_MAX,
                      text_head_or_unknown(from->style->nspace));
        text_head_ranks(head, from);
        text_head_put(head, "]<%s>: ", text_channel_name(from->channel));
        break;
    }
}

static void put_head(struct text_head *head, const struct text_origin *from)
{
    if (from->style->has_time) {
        text_head_time(head, from->time_ns);
        text_head_put(head, " ");
    }
    put_label(head, from);
}

const struct text_row text_row_text = {
    .name = "text",
    .put_head = put_head,
};
