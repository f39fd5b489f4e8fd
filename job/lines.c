/* Writes and reads texts by the tables of their lines. */
#include "job/lines.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

static uint32_t number_at(const void *what, size_t offset)
{
    return (uint32_t)job_schema_load((const uint8_t *)what + offset, 4);
}

static uint8_t *items_of(const struct job_line *line, const void *what)
{
    uint8_t *items;

    memcpy(&items, (const uint8_t *)what + line->offset, sizeof(items));
    return items;
}

static size_t keyword_bytes(const struct job_line *line)
{
    return strcspn(line->usage, " ,");
}

bool job_line_is(const struct job_line *line, const char *keyword,
                 size_t len_bytes)
{
    return keyword_bytes(line) == len_bytes &&
           memcmp(line->usage, keyword, len_bytes) == 0;
}

/* --- writing
 * */

static void put_field(const struct job_schema_row *row, const uint8_t *at,
                      struct text_buf *out)
{
    if (row->kind == JOB_ROW_UINT)
        text_buf_number(out, job_schema_load(at, row->bytes));
    else if (row->kind == JOB_ROW_HEX)
        text_buf_hex(out, at, row->bytes);
    else
        text_buf_field(out, (const char *)at);
}

/* Writes the line with its fields or, if `word` is not NULL, with that as its
 * only field. */
static void put_line(const struct job_line *line, const uint8_t *what,
                     const char *word, struct text_buf *out)
{
    const struct job_schema_row *row = line->fields;

    text_buf_add(out, line->usage, keyword_bytes(line));
    for (; row != NULL && row->kind != JOB_ROW_END; row++)
        put_field(row, what + row->offset, out);
    if (word != NULL)
        text_buf_field(out, word);
    text_buf_puts(out, "\n");
}

static void put_items(const struct job_line *line, const void *what,
                      struct text_buf *out)
{
    const uint8_t *item = items_of(line, what);
    uint32_t count = number_at(what, line->count_offset);

    for (uint32_t i = 0; i < count; i++, item += line->bytes) {
        put_line(line, item, NULL, out);
        if (line->lines != NULL)
            job_lines_encode(line->lines, item, out);
    }
}

static bool is_said(const struct job_line *line, const uint8_t *what)
{
    const struct job_schema_row *first = line->fields;

    if (line->kind == JOB_LINE_MARK)
        return what[line->offset] != 0;
    return line->kind == JOB_LINE_FIELDS ||
           job_schema_load(what + first->offset, first->bytes) != 0;
}

void job_line_encode(const struct job_line *line, const void *what,
                     struct text_buf *out)
{
    const void *at = (const uint8_t *)what + line->offset;
    const struct job_strings *strings = at;

    if (line->put != NULL) {
        line->put(what, out);
        return;
    }
    switch (line->kind) {
    case JOB_LINE_FIELDS:
    case JOB_LINE_OPTION:
    case JOB_LINE_MARK:
        if (is_said(line, what))
            put_line(line, what, NULL, out);
        return;
    case JOB_LINE_WORD:
        if (*(char *const *)at != NULL)
            put_line(line, what, *(char *const *)at, out);
        return;
    case JOB_LINE_WORDS:
        for (uint32_t i = 0; i < strings->count; i++)
            put_line(line, what, strings->at[i], out);
        return;
    case JOB_LINE_ITEMS:
        put_items(line, what, out);
        return;
    case JOB_LINE_OWN:
    case JOB_LINE_OWNS:
    case JOB_LINE_END:
        break;
    }
    OV_IMPOSSIBLE("a line of no kind");
}

void job_lines_encode(const struct job_line *lines, const void *what,
                      struct text_buf *out)
{
    for (; lines->kind != JOB_LINE_END; lines++)
        job_line_encode(lines, what, out);
}

/* --- reading
 * */

/* The largest number allowed in the field: the row's limit, or the largest that
 * the member can hold. */
static uint64_t most(const struct job_schema_row *row)
{
    uint64_t fits = UINT64_MAX >> (64 - 8 * row->bytes);

    return row->max < fits ? row->max : fits;
}

static void get_text(const struct job_schema_row *row,
                     struct text_fields *fields, char *out)
{
    const char *text = text_fields_next(fields);
    size_t len = strlen(text);

    if (len < row->min || len > row->max)
        fields->bad = true;
    else
        memcpy(out, text, len + 1);
}

void job_line_fields(const struct job_schema_row *rows,
                     struct text_fields *fields, void *what)
{
    for (; rows->kind != JOB_ROW_END; rows++) {
        uint8_t *at = (uint8_t *)what + rows->offset;

        if (rows->kind == JOB_ROW_UINT)
            job_schema_store(at,
                             text_fields_number(fields, rows->min, most(rows)),
                             rows->bytes);
        else if (rows->kind == JOB_ROW_HEX)
            text_fields_hex(fields, at, rows->bytes);
        else
            get_text(rows, fields, (char *)at);
    }
}

/* The last item of the array. */
static uint8_t *last_item(const struct job_line *line, void *what)
{
    return items_of(line, what) +
           (number_at(what, line->count_offset) - 1) * line->bytes;
}

static int get_item(const struct job_line *line, void *what,
                    struct text_fields *fields)
{
    uint32_t *cap = (uint32_t *)((uint8_t *)what + line->cap_offset);
    uint32_t count = number_at(what, line->count_offset);
    uint8_t *grown;

    if (line->max > 0 && count == line->max)
        return OV_EPROTO;
    grown = job_grown(items_of(line, what), cap, count, line->bytes);
    if (grown == NULL)
        return OV_ENOMEM;
    memcpy((uint8_t *)what + line->offset, &grown, sizeof(grown));
    memset(grown + count * line->bytes, 0, line->bytes);
    job_schema_store((uint8_t *)what + line->count_offset, count + 1, 4);
    if (line->fields != NULL)
        job_line_fields(line->fields, fields, last_item(line, what));
    return 0;
}

static int get_line(const struct job_line *line, void *what,
                    struct text_fields *fields)
{
    void *at = (uint8_t *)what + line->offset;
    const char *word;

    if (line->get != NULL)
        return line->get(what, fields);
    switch (line->kind) {
    case JOB_LINE_MARK:
        *(bool *)at = true;
        return 0;
    case JOB_LINE_FIELDS:
    case JOB_LINE_OPTION:
        job_line_fields(line->fields, fields, what);
        return 0;
    case JOB_LINE_WORD:
    case JOB_LINE_WORDS:
        word = text_fields_next(fields);
        return line->kind == JOB_LINE_WORD ? job_set_string(at, word)
                                           : job_strings_add(at, word);
    case JOB_LINE_ITEMS:
        return get_item(line, what, fields);
    case JOB_LINE_OWN:
    case JOB_LINE_OWNS:
    case JOB_LINE_END:
        break;
    }
    OV_IMPOSSIBLE("a line of no kind");
}

static bool may_repeat(const struct job_line *line)
{
    return line->kind == JOB_LINE_WORDS || line->kind == JOB_LINE_ITEMS ||
           line->kind == JOB_LINE_OWNS;
}

static const struct job_line *find_line(const struct job_line *lines,
                                        const char *keyword)
{
    size_t len = strlen(keyword);

    while (lines->kind != JOB_LINE_END && !job_line_is(lines, keyword, len))
        lines++;
    return lines->kind != JOB_LINE_END ? lines : NULL;
}

int job_lines_decode(struct job_lines *text, const char *keyword,
                     struct text_fields *fields)
{
    const struct job_line *line = find_line(text->lines, keyword);
    uint32_t bit;
    int rc;

    if (line == NULL && text->item != NULL) { /* the line may begin the next
                                                 item, or be no line of an
                                                 item */
        text->lines = text->item;
        text->what = text->whole;
        line = job_line_is(text->item, keyword, strlen(keyword)) ? text->item
                                                                 : NULL;
    }
    text->line = line;
    if (line == NULL)
        return OV_ENOENT;
    bit = 1u << (line - text->lines);
    if ((text->seen & bit) != 0 && !may_repeat(line))
        return OV_EFULL;
    text->seen |= bit;
    rc = get_line(line, text->what, fields);
    if (rc == OV_ENOMEM)
        return rc;
    if (rc != 0 || !text_fields_done(fields))
        return OV_EPROTO;
    if (line->lines != NULL) {
        text->item = line;
        text->whole = text->what;
        text->lines = line->lines;
        text->what = last_item(line, text->what);
        text->seen = 0;
    }
    return 0;
}

const struct job_line *job_lines_missing(const struct job_lines *text)
{
    const struct job_line *line = text->lines;

    for (; line->kind != JOB_LINE_END; line++) {
        if (line->is_needed && !(text->seen & 1u << (line - text->lines)))
            return line;
    }
    return NULL;
}
