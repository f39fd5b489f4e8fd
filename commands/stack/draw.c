/* Draws the tree of call chains. */
#include "commands/stack/draw.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "commands/stack/tree.h"

enum {
    INDENT = 2,  /* how far a called function is indented */
    FURTHER = 4, /* how far the further lines of a long line are indented */
    COLUMNS_MIN = 40, /* narrower lines cannot be read */
    MORE_COLUMNS = 2, /* the width of " >" */
    PLACE_BYTES = STACK_FILE_MAX + 40,
    PIECE_BYTES = STACK_NAME_MAX + PLACE_BYTES,
    LABEL_BYTES = STACK_RANKS_BYTES + 40
};

struct pen {
    FILE *out;
    uint32_t columns; /* 0: no limit */
    uint32_t at;      /* the column of the next character */
    uint32_t margin;  /* where the further lines of a long line begin */
};

/* --- pieces of a line */

static uint32_t width_of(const char *text)
{
    uint32_t width = 0;

    for (; *text != '\0'; text++)
        width += ((uint8_t)*text & 0xc0) != 0x80;
    return width;
}

/* Cuts the end off, so that this number of columns is left. */
static void cut_end(char *text, uint32_t columns)
{
    uint32_t width = 0;

    if (width_of(text) <= columns)
        return;
    for (char *at = text; *at != '\0'; at++) {
        width += ((uint8_t)*at & 0xc0) != 0x80;
        if (width + 3 <= columns)
            continue;
        memcpy(at, "...", sizeof("..."));
        return;
    }
}

/* Cuts the beginning off, so that this number of columns is left. */
static void cut_begin(char *text, uint32_t columns)
{
    uint32_t width = width_of(text) + 3;
    char *at = text;

    if (width <= columns + 3)
        return;
    while (*at != '\0' && width > columns) {
        at++;
        while (((uint8_t)*at & 0xc0) == 0x80)
            at++;
        width--;
    }
    memmove(text + 3, at, strlen(at) + 1);
    memcpy(text, "...", 3);
}

/* True when a bracket at this place belongs to the name before it, as in f<int>
 * and f(int), but not in (anonymous namespace). */
static bool is_behind_name(const char *begin, const char *at)
{
    return at > begin &&
           (isalnum((uint8_t)at[-1]) || at[-1] == '_' || at[-1] == '>');
}

/* Returns the bracket that closes the one at `open`; NULL: there is none. */
static char *find_close(char *open)
{
    const char close = *open == '<' ? '>' : ')';
    uint32_t depth = 0;

    for (char *at = open; *at != '\0'; at++) {
        depth += *at == *open;
        if (*at == close && at[-1] != '-' && --depth == 0)
            return at;
    }
    return NULL;
}

/* Removes brackets after names, with their contents: these are parameters of
 * functions and of templates, which make names of C++ long. */
static void squeeze(char *text)
{
    char *to = text;

    for (char *at = text; *at != '\0'; at++) {
        char *close = NULL;

        if ((*at == '<' || *at == '(') && is_behind_name(text, to))
            close = find_close(at);
        *to++ = *at;
        if (close == NULL)
            continue;
        if (close - at > 3) {
            memcpy(to, "...", 3);
            to += 3;
        } else {
            memmove(to, at + 1, (size_t)(close - at - 1));
            to += close - at - 1;
        }
        *to++ = *close;
        at = close;
    }
    *to = '\0';
}

/* Shortens a name to this number of columns; its end is kept, as that is the
 * most useful part. */
static void fit(char *text, uint32_t columns)
{
    if (width_of(text) > columns)
        squeeze(text);
    cut_begin(text, columns);
}

/* Writes a piece after some blanks, or (when the line is full, with
 * `after_width' columns that must follow the piece) on the next line. */
static void put_piece(struct pen *pen, const char *piece, uint32_t blanks,
                      uint32_t after_width)
{
    const uint32_t width = width_of(piece);

    if (pen->columns > 0 && pen->at > pen->margin &&
        pen->at + blanks + width + after_width > pen->columns) {
        fprintf(pen->out, "\n%*s", (int)pen->margin, "");
        pen->at = pen->margin;
        blanks = 0;
    }
    fprintf(pen->out, "%*s%s", (int)blanks, "", piece);
    pen->at += blanks + width;
}

/* --- functions */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Writes how often a function calls itself, or where it is. */
static void name_place(const struct stack_node *node, uint32_t times,
                       char place[PLACE_BYTES])
{
    place[0] = '\0';
    if (times > 1)
        snprintf(place, PLACE_BYTES, " (%" PRIu32 " times)", times);
    else if (node->line > 0)
        snprintf(place, PLACE_BYTES, " (%s:%" PRIu32 ")", last_part(node->file),
                 node->line);
    else if (node->file != NULL && strcmp(node->name, "??") == 0)
        snprintf(place, PLACE_BYTES, " (%s)", last_part(node->file));
}

/* Writes a function's name as a piece that fits into a line. */
static void name_function(const struct pen *pen, const struct stack_node *node,
                          uint32_t times, char piece[PIECE_BYTES])
{
    const uint32_t most = pen->columns - pen->margin - MORE_COLUMNS;
    char place[PLACE_BYTES];
    uint32_t width;

    name_place(node, times, place);
    if (pen->columns > 0)
        cut_end(place, most / 2);
    width = width_of(place);
    snprintf(piece, PIECE_BYTES, "%s", node->name);
    if (pen->columns > 0)
        fit(piece, most - width);
    width = (uint32_t)strlen(piece);
    snprintf(piece + width, PIECE_BYTES - width, "%s", place);
}

/* Returns the function that this one calls, if it calls only one and all its
 * chains continue there; else NULL. */
static const struct stack_node *only_child(const struct stack_node *node)
{
    const struct stack_node *child = node->first;

    return child != NULL && child->next == NULL &&
                   child->threads == node->threads
               ? child
               : NULL;
}

/* Skips calls of a function by itself. */
static const struct stack_node *skip_same(const struct stack_node *node,
                                          uint32_t *times)
{
    const struct stack_node *child = only_child(node);

    *times = 1;
    while (child != NULL && strcmp(child->name, node->name) == 0) {
        node = child;
        child = only_child(node);
        ++*times;
    }
    return node;
}

static void name_ranks(const struct stack_node *node, char label[LABEL_BYTES])
{
    char ranks[STACK_RANKS_BYTES];

    stack_ranks_text(&node->ranks, ranks);
    if (node->threads == topo_ranges_size(&node->ranks))
        snprintf(label, LABEL_BYTES, "%s", ranks);
    else
        snprintf(label, LABEL_BYTES, "%s, %" PRIu64 " threads", ranks,
                 node->threads);
}

static void set_margins(struct pen *pen, uint32_t indent)
{
    const uint32_t most = pen->columns > 0 ? pen->columns / 2 : indent;

    if (indent > most)
        indent = most;
    fprintf(pen->out, "%*s", (int)indent, "");
    pen->at = indent;
    pen->margin = indent + FURTHER;
}

static void draw_node(struct pen *pen, const struct stack_node *node,
                      uint32_t indent)
{
    char piece[PIECE_BYTES], label[LABEL_BYTES];
    const struct stack_node *last;
    bool is_first = true;
    uint32_t times;

    name_ranks(node, label);
    set_margins(pen, indent);
    for (const struct stack_node *next = node;; next = only_child(last)) {
        last = skip_same(next, &times);
        name_function(pen, last, times, piece);
        put_piece(pen, piece, is_first ? 0 : 1,
                  only_child(last) != NULL ? MORE_COLUMNS : 0);
        is_first = false;
        if (only_child(last) == NULL)
            break;
        fputs(" >", pen->out);
        pen->at += MORE_COLUMNS;
    }
    put_piece(pen, label, 2, 0);
    putc('\n', pen->out);
    for (node = last->first; node != NULL; node = node->next)
        draw_node(pen, node, indent + INDENT);
}

void stack_draw(const struct stack_tree *tree, uint32_t columns, FILE *out)
{
    struct pen pen = {.out = out,
                      .columns = columns > 0 && columns < COLUMNS_MIN
                                     ? COLUMNS_MIN
                                     : columns};
    const struct stack_node *top = &tree->root;

    if (tree->root.first != NULL && tree->root.first->next == NULL)
        top = tree->root.first;
    for (const struct stack_node *at = top->first; at != NULL; at = at->next)
        draw_node(&pen, at, 0);
}
