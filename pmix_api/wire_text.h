/* Texts in the words of wire.h. */
#ifndef PMIX_API_WIRE_TEXT_H
#define PMIX_API_WIRE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { PX_TEXT_BYTES_MAX = 4096 };

/* Bytes without NUL, borrowed from the packet or from the writer's caller. */
struct px_text {
    const char *at;
    uint16_t len_bytes;
};

/* The text of a string, cut at PX_TEXT_BYTES_MAX. */
struct px_text px_text(const char *string);
/* Copies as many bytes as fit and adds a NUL; size_bytes > 0. */
void px_text_copy(struct px_text text, char *out, size_t size_bytes);

#endif
