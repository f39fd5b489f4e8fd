/* A message is described by a table of rows, one row for each field, in the
 * order of the fields on the wire.
 *
 * A row says of which kind the field is, where it is in the struct that holds
 * the message, what its limits are and what it is called. One writer and one
 * reader use the rows of every message, so the two cannot disagree. Conditions
 * that rows cannot express are checked after reading, in the file of the
 * message.
 *
 * Numbers are little-endian. The reader accepts only what the writer would
 * write: every number, length and count must be within its limits, and no bytes
 * may follow the last field.
 */
#ifndef JOB_SCHEMA_H
#define JOB_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "overlay/base/wire.h"

enum job_row_kind {
    JOB_ROW_END,     /* ends a table */
    JOB_ROW_UINT,    /* a number or bool, as wide as its member */
    JOB_ROW_FLAGS,   /* a number whose bits are flags; each row of `rows` is a
                        bool member */
    JOB_ROW_FLAG,    /* a flag in the `rows` of a FLAGS row; `min` is its bit */
    JOB_ROW_WHEN,    /* the fields in `rows` are on the wire only when the bool
                        member equals `min` */
    JOB_ROW_TEXT,    /* in memory a NUL-terminated array of char; on the wire
                        the rest of the message, without the NUL */
    JOB_ROW_REST,    /* struct ov_rd: the rest of the message, in pieces of
                        `bytes` bytes */
    JOB_ROW_LIST,    /* an array and the number of its items, which fill the
                        rest of the message */
    JOB_ROW_PLACES,  /* an array; its items fill the rest of the message, each
                        with its index (1 byte, ascending from `min`) in front.
                        The writer skips an item whose first number is 0, so the
                        row of that number needs the limit 1 */
    JOB_ROW_STRING,  /* const char *, on the wire with its NUL; NULL is written
                        as "" */
    JOB_ROW_STRINGS, /* const char *const *, NULL-terminated, owned after
                        reading; NULL: no strings. On the wire their count (4
                        bytes), then the strings */
    JOB_ROW_HEX,     /* an array of bytes; only in job/lines.h */
};

struct job_schema_row {
    enum job_row_kind kind;
    const char *name; /* as in docs/protocol.md */
    size_t offset;    /* offset of the member */
    size_t bytes;     /* size of the number, of a piece, or of an item in
                         memory */
    uint64_t min;     /* limits of the number or, for other kinds, of a count:
                         bytes of a text, pieces, items, strings */
    uint64_t max;     /* the upper limit; `min` is the lower one */
    const struct job_schema_row *rows; /* the rows inside FLAGS and WHEN, or the
                                          rows of each item */
    size_t count_offset;               /* LIST: offset of the uint32_t that has
                                          the number of items */
};

#define JOB_SCHEMA_BYTES(type, member) sizeof(((type *)0)->member)
#define JOB_SCHEMA_ITEMS(type, member)                                         \
    (JOB_SCHEMA_BYTES(type, member) / JOB_SCHEMA_BYTES(type, member[0]))
#define JOB_SCHEMA_ROW(what, type, member, ...)                                \
    {                                                                          \
        .kind = JOB_ROW_##what, .offset = offsetof(type, member), __VA_ARGS__  \
    }

/* Macros for rows. `least` and `most` are the limits of a field; in macros
 * without them the type of the member limits the field. */
#define JOB_SCHEMA_RANGE(type, member, label, least, most)                     \
    JOB_SCHEMA_ROW(UINT, type, member, .name = (label), .min = (least),        \
                   .max = (most), .bytes = JOB_SCHEMA_BYTES(type, member))
#define JOB_SCHEMA_UINT(type, member, label)                                   \
    JOB_SCHEMA_RANGE(type, member, label, 0, UINT64_MAX)
#define JOB_SCHEMA_FLAGS(width, flags)                                         \
    {                                                                          \
        .kind = JOB_ROW_FLAGS, .name = "flags", .bytes = (width),              \
        .rows = (flags)                                                        \
    }
#define JOB_SCHEMA_FLAG(type, member, bit)                                     \
    JOB_SCHEMA_ROW(FLAG, type, member, .min = (bit))
#define JOB_SCHEMA_WHEN(type, member, truth, fields)                           \
    JOB_SCHEMA_ROW(WHEN, type, member, .min = (truth), .rows = (fields))
#define JOB_SCHEMA_TEXT(type, member, label, least, most)                      \
    JOB_SCHEMA_ROW(TEXT, type, member, .name = (label), .min = (least),        \
                   .max = (most))
#define JOB_SCHEMA_REST(type, member, label, piece, least, most)               \
    JOB_SCHEMA_ROW(REST, type, member, .name = (label), .bytes = (piece),      \
                   .min = (least), .max = (most))
#define JOB_SCHEMA_LIST(type, member, count, least, fields)                    \
    JOB_SCHEMA_ROW(LIST, type, member, .min = (least),                         \
                   .max = JOB_SCHEMA_ITEMS(type, member), .rows = (fields),    \
                   .bytes = JOB_SCHEMA_BYTES(type, member[0]),                 \
                   .count_offset = offsetof(type, count))
#define JOB_SCHEMA_PLACES(type, member, label, first, fields)                  \
    JOB_SCHEMA_ROW(PLACES, type, member, .name = (label), .min = (first),      \
                   .max = JOB_SCHEMA_ITEMS(type, member), .rows = (fields),    \
                   .bytes = JOB_SCHEMA_BYTES(type, member[0]))
#define JOB_SCHEMA_STRING(type, member, label)                                 \
    JOB_SCHEMA_ROW(STRING, type, member, .name = (label))
#define JOB_SCHEMA_STRINGS(type, member, label, least)                         \
    JOB_SCHEMA_ROW(STRINGS, type, member, .name = (label), .min = (least),     \
                   .max = UINT32_MAX)

#define JOB_SCHEMA_HEX(type, member)                                           \
    JOB_SCHEMA_ROW(HEX, type, member, .bytes = JOB_SCHEMA_BYTES(type, member))

/* Read and write a number of 1, 2, 4 or 8 bytes in memory. */
uint64_t job_schema_load(const void *at, size_t bytes);
void job_schema_store(void *at, uint64_t value, size_t bytes);

/* The length of the message on the wire. O(its bytes). */
size_t job_schema_bytes(const struct job_schema_row *rows, const void *what);

/* Appends the message; sets wr->bad when it does not fit. The caller makes sure
 * that it is valid: only limits of texts and lists are checked. */
void job_schema_encode(const struct job_schema_row *rows, const void *what,
                       struct ov_wr *wr);

/* Reads the body of a message into *out. Members that are not on the wire stay
 * as they are, so the caller must zero those of STRINGS and PLACES rows, and
 * those that a WHEN row covers. Borrowed pointers point into the body. Returns
 * 0; OV_EPROTO; or OV_ENOMEM for strings. After an error *out owns nothing.
 * O(its bytes). */
int job_schema_decode(const struct job_schema_row *rows, struct ov_rd body,
                      void *out);

/* Frees what the reader has allocated: the arrays of STRINGS rows. Only the
 * table of the message itself has these, not the rows in it. */
void job_schema_fini(const struct job_schema_row *rows, void *what);

#endif
