/* Reads the document once, and writes rows as the document shows them. */
#include "tests/unit/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *document(void)
{
    static char text[256 * 1024];
    const char *top = getenv("top_srcdir");
    char path[4096];
    FILE *file;

    if (text[0] != '\0')
        return text;
    snprintf(path, sizeof(path), "%s/docs/protocol.md",
             top != NULL ? top : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(text, 1, sizeof(text) - 1, file), 1,
                    sizeof(text) - 2);
    fclose(file);
    return text;
}

void document_has(const char *begin)
{
    const char *at = document();
    size_t len = strlen(begin);

    while (at != NULL && strncmp(at, begin, len) != 0) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        fail_msg("docs/protocol.md has no line: %s", begin);
}

/* Writes the rows of an item; `list` comes before them. */
static void draw(FILE *out, const struct job_schema_row *rows, const char *list)
{
    const char *comma = "";

    if (list != NULL) {
        fprintf(out, "%s 1", list);
        comma = ", ";
    }
    for (; rows->kind != JOB_ROW_END; rows++, comma = ", ") {
        fputs(comma, out);
        if (rows->kind == JOB_ROW_UINT || rows->kind == JOB_ROW_FLAGS) {
            fprintf(out, "%s %zu", rows->name, rows->bytes);
        } else if (rows->kind == JOB_ROW_TEXT ||
                   (rows->kind == JOB_ROW_REST && rows->bytes == 1)) {
            fputs(rows->name, out);
        } else if (rows->kind == JOB_ROW_STRING) {
            fprintf(out, "%s, 0 1", rows->name);
        } else if (rows->kind == JOB_ROW_REST) {
            fprintf(out, "(%s %zu) *", rows->name, rows->bytes);
        } else {
            fputc('(', out);
            draw(out, rows->rows, rows->name);
            fputs(") *", out);
        }
    }
}

void document_has_message(unsigned kind, const char *name,
                          const struct job_schema_row *rows)
{
    char row[512] = "";
    FILE *out = fmemopen(row, sizeof(row), "w");

    assert_non_null(out);
    fprintf(out, "| %u %s | ", kind, name);
    draw(out, rows, NULL);
    if (rows->kind == JOB_ROW_END)
        fputs("nothing", out);
    fputs(" |", out);
    fclose(out);
    document_has(row);
}

void document_has_lines(const struct job_line *lines)
{
    for (; lines->kind != JOB_LINE_END; lines++) {
        char line[128];

        snprintf(line, sizeof(line), "    %.*s",
                 (int)strcspn(lines->usage, ","), lines->usage);
        document_has(line);
        if (lines->lines != NULL)
            document_has_lines(lines->lines);
    }
}
