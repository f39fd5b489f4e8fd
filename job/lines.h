/* A text, described by a table of its lines in their order.
 *
 * A line is a keyword and its fields, in the encoding of text/fields.h. A row
 * of the table says what the line looks like and which members of a struct it
 * holds. One writer and one reader use the rows of every text, so the two
 * cannot disagree; what a row cannot describe is done by a function in the row.
 *
 * The reader accepts the lines in any order, but a line that the writer writes
 * once only once. The lines of an item follow the line that begins the item.
 */
#ifndef JOB_LINES_H
#define JOB_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/program.h"
#include "job/schema.h"
#include "text/fields.h"

enum job_line_kind {
    JOB_LINE_END,    /* ends a table */
    JOB_LINE_FIELDS, /* always written */
    JOB_LINE_OPTION, /* like FIELDS, but not written when the first number of
                      * the line is 0 */
    JOB_LINE_MARK,   /* bool: true is the keyword alone, false is no line */
    JOB_LINE_WORD,   /* char *, owned; NULL: the line is not written */
    JOB_LINE_WORDS,  /* struct job_strings: a line for each string */
    JOB_LINE_ITEMS,  /* an owned array: a line for each item */
    JOB_LINE_OWN,    /* written and read by functions, once */
    JOB_LINE_OWNS,   /* written and read by functions, any number of times */
};

struct job_line {
    enum job_line_kind kind;
    bool is_needed;
    const char *usage; /* the keyword and the names of its fields, as in
                          docs/protocol.md; after a comma, what else must hold.
                          Shown to the user when the line is refused */
    size_t offset;     /* offset of the member */
    size_t count_offset, cap_offset, bytes; /* ITEMS: count_offset and
                                               cap_offset are the offsets of two
                                               uint32_t, the array's count and
                                               capacity; bytes is the size of an
                                               item */
    const struct job_schema_row *fields;    /* rows of the kinds UINT, TEXT and
                                               HEX */
    const struct job_line *lines;           /* ITEMS: the lines of each item,
                                               or NULL */
    uint32_t max;                           /* ITEMS: the most items; 0: no
                                               limit */
    /* Where not NULL, these replace what the kind does. put() writes all lines
     * of the row. get() reads the fields of one line, and returns 0, OV_ENOMEM,
     * or another code when the line is not valid. */
    void (*put)(const void *what, struct text_buf *out);
    int (*get)(void *what, struct text_fields *fields);
};

#define JOB_LINE(what, text, ...)                                              \
    {                                                                          \
        .kind = JOB_LINE_##what, .usage = (text), __VA_ARGS__                  \
    }
#define JOB_LINE_AT(type, member) .offset = offsetof(type, member)
/* The members `member`, `member_count` and `member_cap`. */
#define JOB_LINE_ARRAY(type, member)                                           \
    JOB_LINE_AT(type, member), .count_offset = offsetof(type, member##_count), \
                               .cap_offset = offsetof(type, member##_cap),     \
                               .bytes = JOB_SCHEMA_BYTES(type, member[0])
#define JOB_LINE_FIELDS(...)                                                   \
    .fields = (const struct job_schema_row[])                                  \
    {                                                                          \
        __VA_ARGS__,                                                           \
        {                                                                      \
            .kind = JOB_ROW_END                                                \
        }                                                                      \
    }

/* Adds all lines of a text; errors show in out->bad. */
void job_lines_encode(const struct job_line *lines, const void *what,
                      struct text_buf *out);
/* Adds the lines of one row. */
void job_line_encode(const struct job_line *line, const void *what,
                     struct text_buf *out);

/* True when this is the keyword of the line. */
bool job_line_is(const struct job_line *line, const char *keyword,
                 size_t len_bytes);

/* Reads the fields of one line by their rows. Errors show in fields->bad. */
void job_line_fields(const struct job_schema_row *rows,
                     struct text_fields *fields, void *what);

/* The reader of a text. The caller sets `lines` and `what` and zeroes the rest.
 * While the reader is within an item, it has these two point to the item's
 * lines and struct. */
struct job_lines {
    const struct job_line *lines; /* borrowed; a table of at most 32 lines */
    void *what;                   /* borrowed; zeroed by the caller */
    const struct job_line *item;  /* the line that began the item, or NULL */
    void *whole;                  /* the struct that holds the item */
    uint32_t seen;                /* a bit for each line that was read */
    const struct job_line *line;  /* the line that was read last; NULL at the
                                     start */
};

/* Reads one line; `fields` holds what follows its keyword. Returns 0;
 * OV_ENOENT: no such line is expected here; OV_EFULL: the line comes too often;
 * OV_EPROTO: its fields are not valid; or OV_ENOMEM. After an error part of the
 * line may have been stored. */
int job_lines_decode(struct job_lines *text, const char *keyword,
                     struct text_fields *fields);
/* A line that is required and was not read, or NULL. */
const struct job_line *job_lines_missing(const struct job_lines *text);

#endif
