/* Heads of lines. */
#include "config.h"

#include "text/head.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/escape.h"
#include "overlay/base/panic.h"

typedef size_t (*escape_fn)(uint8_t byte, uint8_t *dst);

static void put(struct text_head *head, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct text_head *head, const char *format, ...)
{
    const size_t room = sizeof(head->text) - head->len_bytes;
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(head->text + head->len_bytes, room, format, args);
    va_end(args);
    OV_ASSERT(len >= 0 && (size_t)len < room);
    head->len_bytes += (uint32_t)len;
}

static const char *or_unknown(const char *name)
{
    return name != NULL ? name : "?";
}

/* A name as an attribute or string; what is no UTF-8 in it as '?'. */
static void put_name(struct text_head *head, const char *name, escape_fn escape)
{
    const uint8_t *at = (const uint8_t *)or_unknown(name);
    const uint8_t *end = at + strnlen((const char *)at, TEXT_HEAD_NAME_MAX);

    while (at < end) {
        const size_t len = text_utf8_len(at, (size_t)(end - at));
        uint8_t *to = (uint8_t *)head->text + head->len_bytes;

        OV_ASSERT(head->len_bytes + TEXT_ESCAPE_MAX < sizeof(head->text));
        if (len > 1)
            memcpy(to, at, len);
        head->len_bytes += (uint32_t)(len > 1    ? len
                                      : len == 1 ? escape(*at, to)
                                                 : escape('?', to));
        at += len > 0 ? len : 1;
    }
}

/* A quotation mark would end an attribute. */
static size_t attribute_escape(uint8_t byte, uint8_t *dst)
{
    return text_xml_escape(byte == '"' ? '?' : byte, dst);
}

/* The time as ISO 8601, with the zone it is in. */
static void put_time(struct text_head *head, uint64_t time_ns)
{
    const time_t second = (time_t)(time_ns / 1000000000);
    struct tm tm;

    if (second != head->second || head->clock[0] == '\0') {
        localtime_r(&second, &tm);
        strftime(head->clock, sizeof(head->clock), "%Y-%m-%dT%H:%M:%S", &tm);
        strftime(head->zone, sizeof(head->zone), "%z", &tm);
        head->second = second;
    }
    put(head, "%s.%03u%.3s:%s", head->clock,
        (unsigned)(time_ns / 1000000 % 1000), head->zone, head->zone + 3);
}

static void put_ranks(struct text_head *head, const struct text_origin *from)
{
    if (from->ranks != NULL)
        put(head, "%.*s", TEXT_HEAD_RANKS_MAX, from->ranks);
    else if (from->rank == TEXT_CONSOLE_TOOL)
        put(head, "tool");
    else
        put(head, "%" PRIu32, from->rank);
}

static void put_label(struct text_head *head, const struct text_origin *from)
{
    switch (from->style->label) {
    case TEXT_LABEL_NONE:
    case TEXT_LABEL_MODES:
        break;
    case TEXT_LABEL_RANK:
        put(head, "%s", from->ranks != NULL ? "[" : "");
        put_ranks(head, from);
        put(head, "%s", from->ranks != NULL ? "]: " : ": ");
        break;
    case TEXT_LABEL_HOST:
        put(head, "%.*s: ", TEXT_HEAD_NAME_MAX,
            from->rank == TEXT_CONSOLE_TOOL ? "tool" : or_unknown(from->host));
        break;
    case TEXT_LABEL_FULL:
        put(head, "[%.*s,", TEXT_HEAD_NAME_MAX,
            or_unknown(from->style->nspace));
        put_ranks(head, from);
        put(head, "]<%s>: ", text_channel_name(from->channel));
        break;
    }
}

static void make_text(struct text_head *head, const struct text_origin *from)
{
    if (from->style->has_time) {
        put_time(head, from->time_ns);
        put(head, " ");
    }
    put_label(head, from);
}

static void make_json(struct text_head *head, const struct text_origin *from)
{
    put(head, "{");
    if (from->style->has_time) {
        put(head, "\"time\":\"");
        put_time(head, from->time_ns);
        put(head, "\",");
    }
    put(head, "\"nspace\":\"");
    put_name(head, from->style->nspace, text_json_escape);
    if (from->ranks != NULL) {
        put(head, "\",\"ranks\":\"");
        put_ranks(head, from);
    } else if (from->rank == TEXT_CONSOLE_TOOL) {
        put(head, "\",\"rank\":null,\"host\":null,\"channel\":\"%s\",\"",
            text_channel_name(from->channel));
        return;
    } else {
        put(head, "\",\"rank\":%" PRIu32 ",\"host\":\"", from->rank);
        put_name(head, from->host, text_json_escape);
    }
    put(head, "\",\"channel\":\"%s\",\"", text_channel_name(from->channel));
}

static void make_xml(struct text_head *head, const struct text_origin *from)
{
    put(head, "<%s", text_channel_name(from->channel));
    if (from->style->label == TEXT_LABEL_FULL) {
        put(head, " nspace=\"");
        put_name(head, from->style->nspace, attribute_escape);
        put(head, "\"");
    }
    put(head, " rank=\"");
    put_ranks(head, from);
    if (from->style->label == TEXT_LABEL_HOST) {
        put(head, "\" host=\"");
        put_name(head, from->host, attribute_escape);
    }
    if (from->style->has_time) {
        put(head, "\" timestamp=\"");
        put_time(head, from->time_ns);
    }
    put(head, "\">");
}

void text_head_make(struct text_head *head, const struct text_origin *from)
{
    head->len_bytes = 0;
    switch (from->style->format) {
    case TEXT_FORMAT_TEXT:
    case TEXT_FORMATS:
        make_text(head, from);
        break;
    case TEXT_FORMAT_JSON:
        make_json(head, from);
        break;
    case TEXT_FORMAT_XML:
        make_xml(head, from);
        break;
    }
}
