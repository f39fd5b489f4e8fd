/* A message as a table of rows, one for each field in the order of the wire.
 *
 * A row says of what kind a field is, where it lies in the struct that holds
 * the message, what its limits are and what it is called. One writer and one
 * reader walk the rows of every message, so the two cannot disagree. What rows
 * cannot say is a check of its own behind the reader, in the message's file.
 *
 * Numbers are little-endian. A reader takes only what the writer would write:
 * every number, length and count is within its limits, and nothing is left.
 */
#ifndef JOB_SCHEMA_H
#define JOB_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "overlay/base/wire.h"

enum job_row_kind {
    JOB_ROW_END,     /* behind the last row of a table */
    JOB_ROW_UINT,    /* a number or bool, as wide as its member */
    JOB_ROW_FLAGS,   /* a number of flags; a bool member for each of `rows` */
    JOB_ROW_FLAG,    /* one of those; `min` is its bit */
    JOB_ROW_WHEN,    /* `rows` are there when the bool member is `min` */
    JOB_ROW_TEXT,    /* an array of char, NUL-terminated; the rest, without */
    JOB_ROW_REST,    /* struct ov_rd: the rest, in pieces of so many bytes */
    JOB_ROW_LIST,    /* an array, and how many are in it; items to the end */
    JOB_ROW_PLACES,  /* an array; items to the end, each behind its place, 1
                        byte, ascending from `min` on; one whose first number
                        is 0 is left out, so that row has a limit of 1 */
    JOB_ROW_STRING,  /* const char *, with its NUL; NULL is written as "" */
    JOB_ROW_STRINGS, /* const char *const *, NULL-terminated, of the reader
                        owned; NULL: none; count 4, then these */
    JOB_ROW_HEX,     /* an array of bytes; of lines (job/lines.h) alone */
};

struct job_schema_row {
    enum job_row_kind kind;
    const char *name; /* in docs/protocol.md */
    size_t offset;    /* of the member */
    size_t bytes;     /* of the number, of a piece, of an item in memory */
    uint64_t min;     /* of the number, or of what is counted: bytes of a */
    uint64_t max;     /* text, pieces, items, strings */
    const struct job_schema_row *rows; /* of flags, of each item */
    size_t count_offset;               /* LIST: of the uint32_t that counts */
};

#define JOB_SCHEMA_BYTES(type, member) sizeof(((type *)0)->member)
#define JOB_SCHEMA_ITEMS(type, member)                                         \
    (JOB_SCHEMA_BYTES(type, member) / JOB_SCHEMA_BYTES(type, member[0]))
#define JOB_SCHEMA_ROW(what, type, member, ...)                                \
    {                                                                          \
        .kind = JOB_ROW_##what, .offset = offsetof(type, member), __VA_ARGS__  \
    }

/* Rows; `least` and `most` are limits of their own, what is in memory sets the
 * others. */
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

/* A number in memory, of 1, 2, 4 or 8 bytes. */
uint64_t job_schema_load(const void *at, size_t bytes);
void job_schema_store(void *at, uint64_t value, size_t bytes);

/* How long the message is on the wire. O(its bytes). */
size_t job_schema_bytes(const struct job_schema_row *rows, const void *what);

/* Appends it; sets wr->bad when it does not fit. What it says is the caller's
 * own: of limits only those of a text and a list are held. */
void job_schema_encode(const struct job_schema_row *rows, const void *what,
                       struct ov_wr *wr);

/* Reads a body into *out. Members that are not on the wire stay as they are, so
 * strings and places, and what WHEN is about, are zeroed by the caller. What is
 * borrowed lies in the body. Returns 0; OV_EPROTO; or OV_ENOMEM for strings.
 * After an error *out owns nothing. O(its bytes). */
int job_schema_decode(const struct job_schema_row *rows, struct ov_rd body,
                      void *out);

/* Frees what the reader has allocated, the arrays of STRINGS, which stand in no
 * table but a message's own. */
void job_schema_fini(const struct job_schema_row *rows, void *what);

#endif
