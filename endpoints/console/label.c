/* Labels and the copying of lines behind them. */
#include "config.h"

#include "endpoints/console/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/panic.h"

static const char *or_unknown(const char *name)
{
    return name != NULL ? name : "?";
}

/* A rank, or whose text it is instead. */
static const char *who(uint32_t rank, char *mem, size_t size)
{
    if (rank == EP_CONSOLE_TOOL)
        return "tool";
    snprintf(mem, size, "%" PRIu32, rank);
    return mem;
}

void ep_label_make(struct ep_label *label, enum ep_label_mode mode,
                   const char *nspace, const char *host, uint32_t rank,
                   uint8_t channel)
{
    char mem[16];
    const char *name = who(rank, mem, sizeof(mem));
    int len = 0;

    if (mode == EP_LABEL_HOST && rank == EP_CONSOLE_TOOL)
        mode = EP_LABEL_RANK;
    switch (mode) {
    case EP_LABEL_NONE:
    case EP_LABEL_MODES:
        break;
    case EP_LABEL_RANK:
        len = snprintf(label->text, EP_LABEL_MAX, "%s: ", name);
        break;
    case EP_LABEL_HOST:
        len = snprintf(label->text, EP_LABEL_MAX, "%.*s: ", EP_LABEL_NAME_MAX,
                       or_unknown(host));
        break;
    case EP_LABEL_FULL:
        len =
            snprintf(label->text, EP_LABEL_MAX,
                     "[%.*s,%s]<%s>: ", EP_LABEL_NAME_MAX, or_unknown(nspace),
                     name, channel == EP_CHANNEL_STDERR ? "stderr" : "stdout");
        break;
    }
    OV_ASSERT(len >= 0 && len < EP_LABEL_MAX);
    label->len_bytes = (uint32_t)len;
}

size_t ep_label_lines(const struct ep_label *label, bool *mid_line,
                      const uint8_t **src, const uint8_t *end, uint8_t *dst,
                      size_t room_bytes)
{
    const uint8_t *from = *src;
    uint8_t *to = dst;
    uint8_t *const limit = dst + room_bytes;

    while (from < end && to < limit) {
        const uint8_t *newline;
        size_t len = (size_t)(end - from);

        if (!*mid_line) {
            if ((size_t)(limit - to) <= label->len_bytes)
                break;
            memcpy(to, label->text, label->len_bytes);
            to += label->len_bytes;
        }
        if (len > (size_t)(limit - to))
            len = (size_t)(limit - to);
        newline = memchr(from, '\n', len);
        if (newline != NULL)
            len = (size_t)(newline - from) + 1;
        *mid_line = newline == NULL;
        memcpy(to, from, len);
        to += len;
        from += len;
    }
    *src = from;
    return (size_t)(to - dst);
}
