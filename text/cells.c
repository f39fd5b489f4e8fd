/* Reads bytes as a terminal does, as far as one row is concerned. */
#include "config.h"

#include "text/cells.h"

#include <stdbool.h>
#include <string.h>

#include "text/escape.h"

enum { ESC = 0x1b, TAB_COLUMNS = 8, COLOUR_MAX = 32 };

static const char colour_end[TEXT_CELLS_END_BYTES + 1] = "\033[0m";

struct range {
    uint32_t first, last;
    uint8_t width;
};

/* Characters that do not take one column, in ascending order. */
static const struct range ranges[] = {
    {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},
    {0x610, 0x61a, 0},     {0x64b, 0x65f, 0},     {0x1100, 0x115f, 2},
    {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0},
    {0x202a, 0x202e, 0},   {0x2060, 0x206f, 0},   {0x20d0, 0x20ff, 0},
    {0x231a, 0x231b, 2},   {0x23e9, 0x23ec, 2},   {0x25fd, 0x25fe, 2},
    {0x2614, 0x2615, 2},   {0x2648, 0x2653, 2},   {0x26aa, 0x26ab, 2},
    {0x26bd, 0x26be, 2},   {0x26c4, 0x26c5, 2},   {0x2705, 0x2705, 2},
    {0x270a, 0x270b, 2},   {0x2728, 0x2728, 2},   {0x274c, 0x274c, 2},
    {0x274e, 0x274e, 2},   {0x2753, 0x2755, 2},   {0x2757, 0x2757, 2},
    {0x2795, 0x2797, 2},   {0x2b1b, 0x2b1c, 2},   {0x2b50, 0x2b50, 2},
    {0x2b55, 0x2b55, 2},   {0x2e80, 0x303e, 2},   {0x3041, 0x4dbf, 2},
    {0x4e00, 0xa4cf, 2},   {0xa960, 0xa97f, 2},   {0xac00, 0xd7a3, 2},
    {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},
    {0xfe30, 0xfe6f, 2},   {0xfeff, 0xfeff, 0},   {0xff01, 0xff60, 2},
    {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
    {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}, {0xe0000, 0xe01ef, 0},
};

/* An escape sequence. */
struct sequence {
    uint32_t len_bytes;    /* with its ESC */
    uint32_t params_bytes; /* between `ESC [` and its last byte */
    uint8_t last;          /* what it does; 0: nothing that is known here */
};

struct cells {
    uint8_t *dst;
    uint32_t len_bytes;
    uint32_t head_bytes; /* that no backspace goes over */
    uint32_t room_bytes; /* without the end of a colour */
    uint32_t column;
    uint32_t columns;
    uint32_t back; /* characters that the next one goes back over */
    bool is_coloured;
    bool is_full;
};

uint32_t text_cells_width(uint32_t character)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (character < ranges[i].first)
            return 1;
        if (character <= ranges[i].last)
            return ranges[i].width;
    }
    return 1;
}

static uint32_t character_of(const uint8_t *mem, size_t len)
{
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = mem[0] & masks[len];

    for (size_t i = 1; i < len; i++)
        character = character << 6 | (mem[i] & 0x3f);
    return character;
}

/* ---- escape sequences ---- */

/* A text that another program reads, such as a title: ends with BEL, or with
 * ESC and a backslash. */
static uint32_t string_len(const uint8_t *mem, uint32_t len_bytes)
{
    for (uint32_t at = 2; at < len_bytes; at++) {
        if (mem[at] == '\a')
            return at + 1;
        if (mem[at] == '\\' && mem[at - 1] == ESC)
            return at + 1;
    }
    return len_bytes;
}

/* Reads the sequence that begins at mem with ESC. */
static struct sequence read_sequence(const uint8_t *mem, uint32_t len_bytes)
{
    struct sequence found = {.len_bytes = len_bytes};
    uint32_t at = 1;

    if (len_bytes > 1 && memchr("]PX^_", mem[1], 5) != NULL) {
        found.len_bytes = string_len(mem, len_bytes);
        return found;
    }
    if (len_bytes > 1 && mem[1] == '[') {
        at = 2;
        while (at < len_bytes && mem[at] >= 0x30 && mem[at] <= 0x3f)
            at++;
        found.params_bytes = at - 2;
    }
    while (at < len_bytes && mem[at] >= 0x20 && mem[at] <= 0x2f)
        at++;
    if (at == len_bytes)
        return found;
    found.len_bytes = mem[at] < 0x20 ? at : at + 1;
    if (mem[1] == '[' && at == 2 + found.params_bytes && mem[at] >= 0x40)
        found.last = mem[at];
    return found;
}

/* True when the sequence erases what stands before the cursor. */
static bool erases(const uint8_t *mem, const struct sequence *sequence)
{
    return sequence->last == 'K' && sequence->params_bytes == 1 &&
           (mem[2] == '1' || mem[2] == '2');
}

/* Returns where the text begins that nothing erases. */
static uint32_t find_begin(const uint8_t *mem, uint32_t len_bytes,
                           uint32_t head_bytes)
{
    uint32_t begin = head_bytes, at = head_bytes;

    while (at < len_bytes) {
        const uint8_t *esc = memchr(mem + at, ESC, len_bytes - at);
        struct sequence sequence;

        if (esc == NULL)
            break;
        at = (uint32_t)(esc - mem);
        sequence = read_sequence(mem + at, len_bytes - at);
        if (erases(mem + at, &sequence))
            begin = at + sequence.len_bytes;
        at += sequence.len_bytes;
    }
    return begin;
}

static void put_colour(struct cells *cells, const uint8_t *mem,
                       const struct sequence *sequence)
{
    for (uint32_t i = 0; i < sequence->params_bytes; i++) {
        if (mem[2 + i] > ';')
            return; /* a question to the terminal, or private to it */
    }
    if (sequence->len_bytes > COLOUR_MAX ||
        cells->room_bytes - cells->len_bytes < sequence->len_bytes)
        return;
    memcpy(cells->dst + cells->len_bytes, mem, sequence->len_bytes);
    cells->len_bytes += sequence->len_bytes;
    cells->is_coloured = true;
}

/* ---- characters ---- */

/* Takes away the characters that a backspace has gone over. */
static void go_back(struct cells *cells)
{
    while (cells->back > 0 && cells->len_bytes > cells->head_bytes) {
        uint32_t at = cells->len_bytes - 1;

        while (at > 0 && (cells->dst[at] & 0xc0) == 0x80)
            at--;
        cells->back--;
        if (text_utf8_len(cells->dst + at, cells->len_bytes - at) == 1 &&
            cells->dst[at] == 'm' && cells->is_coloured)
            break; /* it may be the end of a colour, which stays */
        cells->column -= text_cells_width(
            character_of(cells->dst + at, cells->len_bytes - at));
        cells->len_bytes = at;
    }
    cells->back = 0;
}

static void put_character(struct cells *cells, const uint8_t *mem, uint32_t len)
{
    const uint32_t width = text_cells_width(character_of(mem, len));

    go_back(cells);
    if (cells->column + width > cells->columns ||
        cells->room_bytes - cells->len_bytes < len) {
        cells->is_full = true;
        return;
    }
    memcpy(cells->dst + cells->len_bytes, mem, len);
    cells->len_bytes += len;
    cells->column += width;
}

static void put_blanks(struct cells *cells, uint32_t count)
{
    while (count-- > 0 && !cells->is_full)
        put_character(cells, (const uint8_t *)" ", 1);
}

/* How far `ESC [ n C` goes to the right. */
static uint32_t right_of(const uint8_t *mem, const struct sequence *sequence)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sequence->params_bytes && count < 1000; i++)
        count = count * 10 + (mem[2 + i] - (uint32_t)'0');
    return count > 0 && count < 1000 ? count : 1;
}

/* Takes one character or sequence, which is `hidden` when it is erased later.
 * Returns its length. */
static uint32_t take(struct cells *cells, const uint8_t *mem,
                     uint32_t len_bytes, bool is_hidden)
{
    const size_t len = text_utf8_len(mem, len_bytes);

    if (*mem == ESC) {
        const struct sequence sequence = read_sequence(mem, len_bytes);

        if (sequence.last == 'm')
            put_colour(cells, mem, &sequence);
        else if (sequence.last == 'C' && !is_hidden)
            put_blanks(cells, right_of(mem, &sequence));
        return sequence.len_bytes;
    }
    if (is_hidden)
        return 1;
    if (len == 0)
        put_character(cells, (const uint8_t *)"?", 1);
    else if (*mem == '\b')
        cells->back++;
    else if (*mem == '\t')
        put_blanks(cells, TAB_COLUMNS - cells->column % TAB_COLUMNS);
    else if (*mem >= 0x20 && *mem != 0x7f &&
             (len != 2 || character_of(mem, 2) >= 0xa0))
        put_character(cells, mem, (uint32_t)len);
    return len > 0 ? (uint32_t)len : 1;
}

uint32_t text_cells_put(const uint8_t *mem, uint32_t len_bytes,
                        uint32_t head_bytes, uint32_t columns, uint8_t *dst,
                        uint32_t room_bytes)
{
    struct cells cells = {.dst = dst,
                          .room_bytes = room_bytes - TEXT_CELLS_END_BYTES,
                          .columns = columns};
    const uint32_t begin = find_begin(mem, len_bytes, head_bytes);
    uint32_t at = 0;

    while (at < len_bytes && !cells.is_full) {
        if (at == head_bytes)
            cells.head_bytes = cells.len_bytes;
        at += take(&cells, mem + at, len_bytes - at,
                   at >= head_bytes && at < begin);
    }
    if (cells.is_coloured) {
        memcpy(dst + cells.len_bytes, colour_end, TEXT_CELLS_END_BYTES);
        cells.len_bytes += TEXT_CELLS_END_BYTES;
    }
    return cells.len_bytes;
}
