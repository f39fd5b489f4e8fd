/* Escapes single bytes and recognises UTF-8 characters. */
#include "config.h"

#include "text/escape.h"

#include <string.h>

static bool is_tail(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t text_utf8_len(const uint8_t *mem, size_t left_bytes)
{
    const uint8_t first = mem[0];

    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4 || left_bytes < 2 || !is_tail(mem[1]))
        return 0;
    if (first < 0xe0)
        return 2;
    if (left_bytes < 3 || !is_tail(mem[2]))
        return 0;
    if (first < 0xf0)
        return (first == 0xe0 && mem[1] < 0xa0) ||
                       (first == 0xed && mem[1] > 0x9f)
                   ? 0
                   : 3;
    if (left_bytes < 4 || !is_tail(mem[3]))
        return 0;
    return (first == 0xf0 && mem[1] < 0x90) || (first == 0xf4 && mem[1] > 0x8f)
               ? 0
               : 4;
}

/* True when all of the next eight bytes are below 128, as in most text. */
static bool is_ascii(const uint8_t *mem)
{
    uint64_t word;

    memcpy(&word, mem, sizeof(word));
    return (word & UINT64_C(0x8080808080808080)) == 0;
}

bool text_utf8_is_valid(const uint8_t *mem, size_t len_bytes)
{
    const uint8_t *const end = mem + len_bytes;

    while (mem < end) {
        size_t len;

        if (end - mem >= 8 && is_ascii(mem)) {
            mem += 8;
            continue;
        }
        len = text_utf8_len(mem, (size_t)(end - mem));
        if (len == 0)
            return false;
        mem += len;
    }
    return true;
}

static size_t put_string(uint8_t *dst, const char *text)
{
    const size_t len = strlen(text);

    memcpy(dst, text, len);
    return len;
}

size_t text_json_escape(uint8_t byte, uint8_t *dst)
{
    static const char digits[] = "0123456789abcdef";

    switch (byte) {
    case '"':
        return put_string(dst, "\\\"");
    case '\\':
        return put_string(dst, "\\\\");
    case '\n':
        return put_string(dst, "\\n");
    case '\r':
        return put_string(dst, "\\r");
    case '\t':
        return put_string(dst, "\\t");
    default:
        break;
    }
    if (byte >= 0x20) {
        *dst = byte;
        return 1;
    }
    put_string(dst, "\\u00");
    dst[4] = (uint8_t)digits[byte >> 4];
    dst[5] = (uint8_t)digits[byte & 15];
    return 6;
}

size_t text_xml_escape(uint8_t byte, uint8_t *dst)
{
    switch (byte) {
    case '&':
        return put_string(dst, "&amp;");
    case '<':
        return put_string(dst, "&lt;");
    case '>':
        return put_string(dst, "&gt;");
    default:
        break;
    }
    if (byte >= 0x20 && byte < 0x7f) {
        *dst = byte;
        return 1;
    }
    put_string(dst, "&#");
    dst[2] = (uint8_t)('0' + byte / 100);
    dst[3] = (uint8_t)('0' + byte / 10 % 10);
    dst[4] = (uint8_t)('0' + byte % 10);
    dst[5] = ';';
    return 6;
}

void text_base64_put(const uint8_t *mem, size_t len_bytes, uint8_t *dst)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;

    for (size_t i = 0; i < 3; i++)
        bits = bits << 8 | (i < len_bytes ? mem[i] : 0u);
    for (size_t i = 0; i < 4; i++)
        dst[i] = i <= len_bytes ? (uint8_t)digits[bits >> (18 - 6 * i) & 63]
                                : (uint8_t)'=';
}
