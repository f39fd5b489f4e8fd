/* Lines of fields: accepted fields, written again, give the same line, except
 * where %XX stands for a plain character; and any string that is written as a
 * field is read back unchanged. The first byte says how fields are read: two
 * bits for each of the first four. */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "text/fields.h"

enum { HEX_BYTES = 8 };

static const uint64_t number_min = 3, number_max = 1000000;

static char *copy_of(const uint8_t *mem, size_t len_bytes)
{
    char *copy = malloc(len_bytes + 1);

    FUZZ_CHECK(copy != NULL);
    if (len_bytes > 0)
        memcpy(copy, mem, len_bytes);
    copy[len_bytes] = 'x';
    return copy;
}

static void read_one(struct text_fields *fields, unsigned how)
{
    uint8_t bytes[HEX_BYTES];

    if (how == 1) {
        uint64_t value = text_fields_number(fields, number_min, number_max);

        FUZZ_CHECK(value >= number_min && value <= number_max);
        FUZZ_CHECK(!fields->bad || value == number_min);
    } else if (how == 2) {
        uint64_t value = text_fields_number(fields, 0, UINT64_MAX);

        FUZZ_CHECK(!fields->bad || value == 0);
    } else {
        text_fields_hex(fields, bytes, sizeof(bytes));
        for (unsigned i = 0; fields->bad && i < sizeof(bytes); i++)
            FUZZ_CHECK(bytes[i] == 0);
    }
}

/* Checks that the reader returns nothing after a bad field. */
static void check_stuck(struct text_fields *fields)
{
    FUZZ_CHECK(text_fields_next(fields)[0] == '\0' && fields->bad);
    FUZZ_CHECK(!text_fields_done(fields));
}

static void read_in_ways(const uint8_t *mem, size_t len_bytes, unsigned ways)
{
    char *line = copy_of(mem, len_bytes);
    struct text_fields fields = text_fields_init(line, len_bytes);

    for (unsigned i = 0; i < 4 && !fields.bad && fields.at != NULL; i++) {
        unsigned how = ways >> 2 * i & 3;

        if (how == 0)
            (void)text_fields_next(&fields);
        else
            read_one(&fields, how);
    }
    if (fields.bad)
        check_stuck(&fields);
    free(line);
}

/* Writes the fields that were read, each with a blank before it. */
static bool rewrite(const uint8_t *mem, size_t len_bytes, struct text_buf *out)
{
    char *line = copy_of(mem, len_bytes);
    struct text_fields fields = text_fields_init(line, len_bytes);

    while (fields.at != NULL) {
        const char *field = text_fields_next(&fields);

        if (fields.bad)
            break;
        FUZZ_CHECK(field >= line && field + strlen(field) <= line + len_bytes);
        text_buf_field(out, field);
    }
    FUZZ_CHECK(text_fields_done(&fields) == !fields.bad);
    free(line);
    return !fields.bad;
}

static void check_rewritten(const uint8_t *mem, size_t len_bytes)
{
    struct text_buf once = {0}, twice = {0};

    if (rewrite(mem, len_bytes, &once)) {
        FUZZ_CHECK(!once.bad && once.len_bytes > 1);
        FUZZ_CHECK(once.len_bytes <= 3 * len_bytes + 2);
        FUZZ_CHECK(
            rewrite((const uint8_t *)once.at + 1, once.len_bytes - 1, &twice));
        FUZZ_CHECK(strcmp(once.at, twice.at) == 0);
    }
    text_buf_fini(&once);
    text_buf_fini(&twice);
}

/* Writes the bytes up to a NUL as one field, and reads them back. */
static void check_field(const uint8_t *mem, size_t len_bytes)
{
    struct text_buf text = {0};
    struct text_fields fields;
    char *string = copy_of(mem, len_bytes);
    const char *field;

    string[len_bytes] = '\0';
    text_buf_field(&text, string);
    text_buf_add(&text, "\n", 1);
    FUZZ_CHECK(!text.bad && text.at[0] == ' ');
    FUZZ_CHECK(strchr(text.at, '\n') == text.at + text.len_bytes - 1);
    fields = text_fields_init(text.at + 1, text.len_bytes - 2);
    field = text_fields_next(&fields);
    FUZZ_CHECK(text_fields_done(&fields) && strcmp(field, string) == 0);
    text_buf_fini(&text);
    free(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    if (len_bytes < 1)
        return 0;
    read_in_ways(mem + 1, len_bytes - 1, mem[0]);
    check_rewritten(mem + 1, len_bytes - 1);
    check_field(mem + 1, len_bytes - 1);
    return 0;
}
