/* Cuts what was read from an input into records. */
#include "overlay/cut.h"

#include <string.h>

uint32_t ov_cut_next(const struct ov_read *read, uint32_t at_bytes,
                     uint32_t records)
{
    uint32_t left = read->len_bytes - at_bytes;
    const uint8_t *from, *newline;

    if (records + 1 >= read->records_max || left == 0 || read->job != 0)
        return left;
    from = read->buf->mem + read->off_bytes + at_bytes;
    newline = memchr(from, '\n', left);
    return newline == NULL ? left : (uint32_t)(newline - from) + 1;
}

uint32_t ov_cut_records(const struct ov_read *read)
{
    uint32_t records = 0;

    if (read->len_bytes == 0)
        return read->flags != 0;
    for (uint32_t at = 0; at < read->len_bytes; records++)
        at += ov_cut_next(read, at, records);
    return records;
}
