/* The table of formats. */
#include "config.h"

#include "text/row.h"

#include <string.h>

#include "overlay/base/panic.h"

const struct text_row *text_row(enum text_format_kind kind)
{
    static const struct text_row *const table[TEXT_FORMATS] = {
#define TEXT_ROW_PLACED(NAME, row) [TEXT_FORMAT_##NAME] = &text_row_##row,
        TEXT_FORMAT_MAP(TEXT_ROW_PLACED)
#undef TEXT_ROW_PLACED
    };

    OV_ASSERT((unsigned)kind < TEXT_FORMATS);
    return table[kind];
}

void text_row_head(struct text_head *head, const struct text_origin *from)
{
    head->len_bytes = 0;
    text_row(from->style->format)->put_head(head, from);
}

enum text_format_kind text_row_find(const char *name)
{
    unsigned i = 0;

    while (i < TEXT_FORMATS &&
           strcmp(name, text_row((enum text_format_kind)i)->name) != 0)
        i++;
    return (enum text_format_kind)i;
}
