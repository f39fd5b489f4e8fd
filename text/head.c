/* Writes the parts of heads of lines. */
#include "config.h"

#include "text/head.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/panic.h"
#include "text/escape.h"

void text_head_put(struct text_head *head, const char *format, ...)
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

const char *text_head_or_unknown(const char *name)
{
    return name != NULL ? name : "?";
}

void text_head_name(struct text_head *head, const char *name,
                    size_t (*escape)(uint8_t byte, uint8_t *dst))
{
    const uint8_t *at = (const uint8_t *)text_head_or_unknown(name);
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

void text_head_time(struct text_head *head, uint64_t time_ns)
{
    const time_t second = (time_t)(time_ns / 1000000000);
    struct tm tm;

    if (second != head->second || head->clock[0] == '\0') {
        localtime_r(&second, &tm);
        strftime(head->clock, sizeof(head->clock), "%Y-%m-%dT%H:%M:%S", &tm);
        strftime(head->zone, sizeof(head->zone), "%z", &tm);
        head->second = second;
    }
    text_head_put(head, "%s.%03u%.3s:%s", head->clock,
                  (unsigned)(time_ns / 1000000 % 1000), head->zone,
                  head->zone + 3);
}

void text_head_ranks(struct text_head *head, const struct text_origin *from)
{
    if (from->ranks != NULL)
        text_head_put(head, "%.*s", TEXT_HEAD_RANKS_MAX, from->ranks);
    else if (from->rank == TEXT_CONSOLE_TOOL)
        text_head_put(head, "tool");
    else
        text_head_put(head, "%" PRIu32, from->rank);
}
