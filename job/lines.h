/* A text as a table of lines, in their order.
 *
 * A line is a keyword and its fields, as text/fields.h has them. A row says
 * how the line looks and where in a struct lies what it says. One writer and
 * one reader walk the rows of every text, so the two cannot disagree; what
 * rows cannot say is a function in the row.
 *
 * A reader takes the lines in any order, but each only once where no more is
 * written, and of an item with lines of its own what stands behind its line.
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
    JOB_LINE_END,    /* behind the last line of a table */
    JOB_LINE_FIELDS, /* always written */
    JOB_LINE_OPTION, /* the same, but not when the first number is 0 */
    JOB_LINE_MARK,   /* bool: the keyword alone, or nothing */
    JOB_LINE_WORD,   /* char *, owned; NULL: none */
    JOB_LINE_WORDS,  /* struct job_strings: a line for each */
    JOB_LINE_ITEMS,  /* an owned array: a line for each */
    JOB_LINE_OWN,    /* of a function, once */
    JOB_LINE_OWNS,   /* any number */
};

struct job_line {
    enum job_line_kind kind;
    bool is_needed;
    const char *usage; /* the keyword and the names of fields, as they stand in
                          docs/protocol.md; then, behind a comma, for whom it
                          is refused, what else must hold */
    size_t offset;     /* of the member */
    size_t count_offset, cap_offset, bytes; /* ITEMS: uint32_t each; of one */
    const struct job_schema_row *fields;    /* UINT, TEXT and HEX */
    const struct job_line *lines;           /* ITEMS: of each, or NULL */
    uint32_t max;                           /* ITEMS: so many; 0: any */
    /* In the place of what the kind does, where not NULL. put() writes all
     * lines of the row; get() reads the fields of one, and returns 0,
     * OV_ENOMEM, or anything else for a line that is none. */
    void (*put)(const void *what, struct text_buf *out);
    int (*get)(void *what, struct text_fields *fields);
};

#define JOB_LINE(what, text, ...)                                              \
    {                                                                          \
        .kind = JOB_LINE_##what, .usage = (text), __VA_ARGS__                  \
    }
#define JOB_LINE_AT(type, member) .offset = offsetof(type, member)
/* member, member_count and member_cap. */
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

/* Adds the lines; errors show in out->bad. */
void job_lines_encode(const struct job_line *lines, const void *what,
                      struct text_buf *out);
/* Adds what one row says. */
void job_line_encode(const struct job_line *line, const void *what,
                     struct text_buf *out);

/* Is it the keyword of the line? */
bool job_line_is(const struct job_line *line, const char *keyword,
                 size_t len_bytes);

/* Reads the fields of one line by its rows. What is wrong shows in
 * fields->bad. */
void job_line_fields(const struct job_schema_row *rows,
                     struct text_fields *fields, void *what);

/* The reader of a text; zeroed but for the first two, which are those of an
 * item while its lines are read. */
struct job_lines {
    const struct job_line *lines; /* borrowed; 32 at most */
    void *what;                   /* borrowed; zeroed by the caller */
    const struct job_line *item;  /* of that item, or NULL */
    void *whole;                  /* what the item is in */
    uint32_t seen;                /* a bit for each of the lines that came */
    const struct job_line *line;  /* the last one, NULL where there is none */
};

/* Reads one line, whose keyword was taken from the fields. Returns 0; or
 * OV_ENOENT, no such line here; OV_EFULL, it comes once more than it may;
 * OV_EPROTO, its fields are none; OV_ENOMEM. After an error part of the line
 * may have been taken. */
int job_lines_decode(struct job_lines *text, const char *keyword,
                     struct text_fields *fields);
/* A line that is needed and has not come, or NULL. */
const struct job_line *job_lines_missing(const struct job_lines *text);

#endif
