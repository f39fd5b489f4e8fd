/* Writes and reads messages by their rows. */
#include "job/schema.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

/* The offset in a uint64_t of the bytes of a number of `bytes` bytes. */
static size_t narrow(size_t bytes)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - bytes : 0;
}

uint64_t job_schema_load(const void *at, size_t bytes)
{
    uint64_t value = 0;

    memcpy((uint8_t *)&value + narrow(bytes), at, bytes);
    return value;
}

void job_schema_store(void *at, uint64_t value, size_t bytes)
{
    memcpy(at, (uint8_t *)&value + narrow(bytes), bytes);
}

/* --- writing: each returns the bytes needed, also those without room */

static size_t put_rows(const struct job_schema_row *rows, const uint8_t *what,
                       struct ov_wr *wr);

static size_t put_uint(struct ov_wr *wr, uint64_t value, size_t bytes)
{
    ov_wr_uint(wr, value, (unsigned)bytes);
    return bytes;
}

static size_t put_bytes(struct ov_wr *wr, const void *mem, size_t len_bytes)
{
    ov_wr_bytes(wr, mem, len_bytes);
    return len_bytes;
}

static size_t put_flags(const struct job_schema_row *row, const uint8_t *what,
                        struct ov_wr *wr)
{
    uint64_t value = 0;

    for (const struct job_schema_row *flag = row->rows;
         flag->kind == JOB_ROW_FLAG; flag++)
        value |= job_schema_load(what + flag->offset, 1) != 0 ? flag->min : 0;
    return put_uint(wr, value, row->bytes);
}

static size_t put_list(const struct job_schema_row *row, const uint8_t *what,
                       struct ov_wr *wr)
{
    const uint8_t *item = what + row->offset;
    uint64_t count = job_schema_load(what + row->count_offset, 4);
    size_t bytes = 0;

    OV_ASSERT(count <= row->max);
    for (uint64_t i = 0; i < count; i++, item += row->bytes)
        bytes += put_rows(row->rows, item, wr);
    return bytes;
}

static size_t put_places(const struct job_schema_row *row, const uint8_t *item,
                         struct ov_wr *wr)
{
    size_t bytes = 0;

    for (uint64_t i = 0; i < row->max; i++, item += row->bytes) {
        if (job_schema_load(item + row->rows->offset, row->rows->bytes) == 0)
            continue;
        bytes += put_uint(wr, row->min + i, 1);
        bytes += put_rows(row->rows, item, wr);
    }
    return bytes;
}

static size_t put_strings(const char *const *strings, struct ov_wr *wr)
{
    uint32_t count = 0;
    size_t bytes;

    while (strings != NULL && strings[count] != NULL)
        count++;
    bytes = put_uint(wr, count, 4);
    for (uint32_t i = 0; i < count; i++)
        bytes += put_bytes(wr, strings[i], strlen(strings[i]) + 1);
    return bytes;
}

static size_t put_row(const struct job_schema_row *row, const uint8_t *what,
                      struct ov_wr *wr)
{
    const void *at = what + row->offset;
    const struct ov_rd *rest = at;
    const char *string;

    switch (row->kind) {
    case JOB_ROW_UINT:
        return put_uint(wr, job_schema_load(at, row->bytes), row->bytes);
    case JOB_ROW_FLAGS:
        return put_flags(row, what, wr);
    case JOB_ROW_WHEN:
        return job_schema_load(at, 1) == row->min
                   ? put_rows(row->rows, what, wr)
                   : 0;
    case JOB_ROW_TEXT:
        return put_bytes(wr, at, strnlen(at, row->max));
    case JOB_ROW_REST:
        return put_bytes(wr, rest->at, ov_rd_left(rest));
    case JOB_ROW_LIST:
        return put_list(row, what, wr);
    case JOB_ROW_PLACES:
        return put_places(row, at, wr);
    case JOB_ROW_STRING:
        string = *(const char *const *)at;
        string = string != NULL ? string : "";
        return put_bytes(wr, string, strlen(string) + 1);
    case JOB_ROW_STRINGS:
        return put_strings(*(const char *const *const *)at, wr);
    case JOB_ROW_FLAG:
    case JOB_ROW_HEX:
    case JOB_ROW_END:
        break;
    }
    OV_IMPOSSIBLE("a row of no kind");
}

static size_t put_rows(const struct job_schema_row *rows, const uint8_t *what,
                       struct ov_wr *wr)
{
    size_t bytes = 0;

    for (; rows->kind != JOB_ROW_END; rows++)
        bytes += put_row(rows, what, wr);
    return bytes;
}

size_t job_schema_bytes(const struct job_schema_row *rows, const void *what)
{
    uint8_t none;
    struct ov_wr nowhere = ov_wr_init(&none, 0);

    return put_rows(rows, what, &nowhere);
}

void job_schema_encode(const struct job_schema_row *rows, const void *what,
                       struct ov_wr *wr)
{
    put_rows(rows, what, wr);
}

/* --- reading: a message that is cut off shows in rd->bad */

static int get_rows(const struct job_schema_row *rows, struct ov_rd *rd,
                    uint8_t *out);

static int check_range(const struct job_schema_row *row, uint64_t value)
{
    return value < row->min || value > row->max ? OV_EPROTO : 0;
}

static int get_flags(const struct job_schema_row *row, struct ov_rd *rd,
                     uint8_t *out)
{
    uint64_t value = ov_rd_uint(rd, (unsigned)row->bytes);

    for (const struct job_schema_row *flag = row->rows;
         flag->kind == JOB_ROW_FLAG; flag++) {
        job_schema_store(out + flag->offset, (value & flag->min) != 0, 1);
        value &= ~flag->min;
    }
    return value != 0 ? OV_EPROTO : 0;
}

static int get_text(const struct job_schema_row *row, struct ov_rd *rd,
                    char *out)
{
    size_t len = ov_rd_left(rd);
    const uint8_t *mem = ov_rd_bytes(rd, len);

    if (check_range(row, len) || memchr(mem, '\0', len) != NULL)
        return OV_EPROTO;
    memcpy(out, mem, len);
    out[len] = '\0';
    return 0;
}

static int get_rest(const struct job_schema_row *row, struct ov_rd *rd,
                    struct ov_rd *out)
{
    size_t len = ov_rd_left(rd);

    *out = *rd;
    rd->at = rd->end;
    return len % row->bytes != 0 ? OV_EPROTO
                                 : check_range(row, len / row->bytes);
}

static int get_list(const struct job_schema_row *row, struct ov_rd *rd,
                    uint8_t *out)
{
    uint64_t count = 0;

    while (ov_rd_left(rd) > 0 && count < row->max) {
        int rc =
            get_rows(row->rows, rd, out + row->offset + count * row->bytes);

        if (rc != 0)
            return rc;
        count++;
    }
    job_schema_store(out + row->count_offset, count, 4);
    return check_range(row, count);
}

static int get_places(const struct job_schema_row *row, struct ov_rd *rd,
                      uint8_t *items)
{
    uint64_t next = 0;

    while (ov_rd_left(rd) > 0) {
        uint64_t place = ov_rd_uint(rd, 1) - row->min;
        int rc;

        if (place < next || place >= row->max)
            return OV_EPROTO;
        rc = get_rows(row->rows, rd, items + place * row->bytes);
        if (rc != 0)
            return rc;
        next = place + 1;
    }
    return 0;
}

static int get_strings(const struct job_schema_row *row, struct ov_rd *rd,
                       const char *const **out)
{
    uint32_t count = ov_rd_u32(rd);
    const char **strings;

    /* Each item needs at least one byte, so a false count cannot cause a large
     * allocation. */
    if (check_range(row, count) || count > ov_rd_left(rd))
        return OV_EPROTO;
    strings = calloc((size_t)count + 1, sizeof(*strings));
    if (strings == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        strings[i] = ov_rd_string(rd);
    *out = strings;
    return 0;
}

static int get_row(const struct job_schema_row *row, struct ov_rd *rd,
                   uint8_t *out)
{
    void *at = out + row->offset;
    uint64_t value;

    switch (row->kind) {
    case JOB_ROW_UINT:
        value = ov_rd_uint(rd, (unsigned)row->bytes);
        job_schema_store(at, value, row->bytes);
        return check_range(row, value);
    case JOB_ROW_FLAGS:
        return get_flags(row, rd, out);
    case JOB_ROW_WHEN:
        return job_schema_load(at, 1) == row->min ? get_rows(row->rows, rd, out)
                                                  : 0;
    case JOB_ROW_TEXT:
        return get_text(row, rd, at);
    case JOB_ROW_REST:
        return get_rest(row, rd, at);
    case JOB_ROW_LIST:
        return get_list(row, rd, out);
    case JOB_ROW_PLACES:
        return get_places(row, rd, at);
    case JOB_ROW_STRING:
        *(const char **)at = ov_rd_string(rd);
        return 0;
    case JOB_ROW_STRINGS:
        return get_strings(row, rd, at);
    case JOB_ROW_FLAG:
    case JOB_ROW_HEX:
    case JOB_ROW_END:
        break;
    }
    OV_IMPOSSIBLE("a row of no kind");
}

static int get_rows(const struct job_schema_row *rows, struct ov_rd *rd,
                    uint8_t *out)
{
    for (; rows->kind != JOB_ROW_END; rows++) {
        int rc = get_row(rows, rd, out);

        if (rc != 0)
            return rc;
    }
    return rd->bad ? OV_EPROTO : 0;
}

int job_schema_decode(const struct job_schema_row *rows, struct ov_rd body,
                      void *out)
{
    int rc = get_rows(rows, &body, out);

    if (rc == 0 && ov_rd_left(&body) > 0)
        rc = OV_EPROTO;
    if (rc != 0)
        job_schema_fini(rows, out);
    return rc;
}

void job_schema_fini(const struct job_schema_row *rows, void *what)
{
    for (; rows->kind != JOB_ROW_END; rows++) {
        void **strings = (void **)((uint8_t *)what + rows->offset);

        if (rows->kind != JOB_ROW_STRINGS)
            continue;
        free(*strings);
        *strings = NULL;
    }
}
