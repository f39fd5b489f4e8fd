/* Lays out the table of jobs. */
#include "commands/ps/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/escape.h"

enum { SHORT_BYTES = 32, CELL_BYTES = JOB_DOOR_TEXT_MAX + SHORT_BYTES };

/* The columns, from left to right. The last one is not padded. */
enum { PID, JOB, RANKS, HOSTS, AGE, OUTPUT, STDIN, COMMAND };

static const struct {
    const char *name;
    bool is_right; /* text stands at the right edge of the column */
} columns_of[PS_COLUMNS] = {
    [PID] = {"PID", true},     [JOB] = {"JOB", false},
    [RANKS] = {"RANKS", true}, [HOSTS] = {"HOSTS", false},
    [AGE] = {"AGE", true},     [OUTPUT] = {"OUTPUT", true},
    [STDIN] = {"STDIN", true}, [COMMAND] = {"COMMAND", false},
};

struct cells {
    char text[PS_COLUMNS][CELL_BYTES];
};

/* --- texts */

void ps_text_clean(const char *text, char *out, size_t size_bytes)
{
    const uint8_t *from = (const uint8_t *)text;
    size_t left = strlen(text), at = 0;

    while (left > 0) {
        size_t len = text_utf8_len(from, left);
        const bool is_shown =
            len > 1 || (len == 1 && *from >= 32 && *from != 127);

        if (len == 0)
            len = 1;
        if (at + len >= size_bytes)
            break;
        memcpy(out + at, is_shown ? (const char *)from : "?",
               is_shown ? len : 1);
        at += is_shown ? len : 1;
        from += len;
        left -= len;
    }
    out[at] = '\0';
}

bool ps_text_line(const char **text, char line[PS_LINE_BYTES])
{
    const size_t len = strcspn(*text, "\n");
    char raw[PS_LINE_BYTES];

    if (**text == '\0')
        return false;
    snprintf(raw, sizeof(raw), "%.*s", (int)len, *text);
    ps_text_clean(raw, line, PS_LINE_BYTES);
    *text += len + ((*text)[len] == '\n');
    return true;
}

/* Returns how many bytes the first `most` characters of clean text have; *count
 * becomes their number, which is less when the text is shorter. */
static size_t measure(const char *text, uint32_t most, uint32_t *count)
{
    size_t at = 0;

    *count = 0;
    while (text[at] != '\0' && *count < most) {
        at++;
        while (((uint8_t)text[at] & 0xc0) == 0x80)
            at++;
        ++*count;
    }
    return at;
}

/* Writes an age in the form of the system's `ps': mm:ss, hh:mm:ss or
 * dd-hh:mm:ss. */
static void put_age(char *cell, uint64_t s)
{
    const unsigned minutes = (unsigned)(s / 60 % 60), rest = (unsigned)(s % 60);
    const unsigned hours = (unsigned)(s / 3600 % 24);

    if (s >= 86400)
        snprintf(cell, SHORT_BYTES, "%" PRIu64 "-%02u:%02u:%02u", s / 86400,
                 hours, minutes, rest);
    else if (s >= 3600)
        snprintf(cell, SHORT_BYTES, "%02u:%02u:%02u", hours, minutes, rest);
    else
        snprintf(cell, SHORT_BYTES, "%02u:%02u", minutes, rest);
}

static void put_bytes(char *cell, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes;
    unsigned unit = 0;

    if (bytes < 1024) {
        snprintf(cell, SHORT_BYTES, "%" PRIu64, bytes);
        return;
    }
    for (value /= 1024; value >= 1023.5 && unit < 5; unit++)
        value /= 1024;
    snprintf(cell, SHORT_BYTES, value < 9.95 ? "%.1f%c" : "%.0f%c", value,
             units[unit]);
}

/* --- cells */

static void put_command(char *cell, const struct ps_row *row)
{
    char text[JOB_DOOR_TEXT_MAX];

    ps_text_clean(row->text, text, sizeof(text));
    switch (row->kind) {
    case PS_JOB:
        snprintf(cell, CELL_BYTES, "%s", text);
        break;
    case PS_DVM:
        snprintf(cell, CELL_BYTES, "(dvm)");
        break;
    case PS_IDLE:
        snprintf(cell, CELL_BYTES, "(no job)");
        break;
    case PS_SILENT:
        snprintf(cell, CELL_BYTES, "(does not answer)");
        break;
    case PS_REFUSED:
    case PS_KINDS:
        snprintf(cell, CELL_BYTES, "(%s)", text);
        break;
    }
}

static void fill_job(const struct ps_row *row, struct cells *out)
{
    char hosts[PS_HOSTS_BYTES];

    ps_text_clean(row->hosts, hosts, sizeof(hosts));
    snprintf(out->text[HOSTS], CELL_BYTES, "%" PRIu32 " %s", row->hosts_count,
             hosts);
    put_age(out->text[AGE], row->age_s);
    if (row->kind == PS_DVM)
        return;
    snprintf(out->text[RANKS], CELL_BYTES, "%" PRIu32 "/%" PRIu32, row->left,
             row->processes);
    put_bytes(out->text[OUTPUT], row->output_bytes);
    put_bytes(out->text[STDIN], row->stdin_bytes);
}

static void fill(const struct ps_row *row, struct cells *out)
{
    for (unsigned i = 0; i < PS_COLUMNS; i++)
        snprintf(out->text[i], CELL_BYTES, "%s",
                 row == NULL ? columns_of[i].name : "-");
    if (row == NULL)
        return;
    snprintf(out->text[PID], CELL_BYTES, "%d", (int)row->pid);
    if (row->job[0] != '\0')
        ps_text_clean(row->job, out->text[JOB], CELL_BYTES);
    if (row->kind == PS_JOB || row->kind == PS_DVM)
        fill_job(row, out);
    put_command(out->text[COMMAND], row);
}

/* --- lines */

static void widen(const struct ps_row *row, struct ps_widths *widths)
{
    struct cells cells;

    fill(row, &cells);
    for (unsigned i = 0; i < PS_COLUMNS; i++) {
        uint32_t count;

        (void)measure(cells.text[i], UINT32_MAX, &count);
        if (count > widths->column[i])
            widths->column[i] = count;
    }
}

void ps_table_widths(const struct ps_row *rows, size_t count,
                     struct ps_widths *out)
{
    *out = (struct ps_widths){{0}};
    widen(NULL, out);
    for (size_t i = 0; i < count; i++)
        widen(&rows[i], out);
}

/* Appends a cell to a line of PS_LINE_BYTES bytes. */
static void put(char *line, const char *text, uint32_t blanks)
{
    const size_t len = strlen(line);

    snprintf(line + len, PS_LINE_BYTES - len, "%*s%s", (int)blanks, "", text);
}

void ps_table_line(const struct ps_row *row, const struct ps_widths *widths,
                   uint32_t columns, char line[PS_LINE_BYTES])
{
    struct cells cells;
    uint32_t blanks = 0, count;

    fill(row, &cells);
    line[0] = '\0';
    for (unsigned i = 0; i < PS_COLUMNS; i++) {
        uint32_t free;

        (void)measure(cells.text[i], UINT32_MAX, &count);
        free = widths->column[i] - count;
        put(line, cells.text[i], blanks + (columns_of[i].is_right ? free : 0));
        blanks = 1 + (columns_of[i].is_right ? 0 : free);
    }
    line[measure(line, columns > 0 ? columns : UINT32_MAX, &count)] = '\0';
}

/* --- output and stdin of a job */

void ps_table_flow(const struct ps_row *row, char line[PS_LINE_BYTES])
{
    char out[SHORT_BYTES], in[SHORT_BYTES], left[SHORT_BYTES], age[SHORT_BYTES];

    put_bytes(out, row->output_bytes);
    put_bytes(in, row->stdin_bytes - row->waiting_bytes);
    put_bytes(left, row->waiting_bytes);
    put_age(age, row->quiet_s);
    if (row->quiet_s != UINT64_MAX)
        snprintf(line, PS_LINE_BYTES,
                 "output: %s, the last %s ago; stdin: %s taken, %s waiting",
                 out, age, in, left);
    else
        snprintf(line, PS_LINE_BYTES,
                 "output: none yet; stdin: %s taken, %s waiting", in, left);
}
