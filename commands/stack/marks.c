/* Finds the texts of processes in the output of a node. */
#include "commands/stack/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum { ROOM_MIN = 4096, DIGITS_MAX = 9 };

static const char *const tools[STACK_TOOLS] = {
    [STACK_TOOL_NONE] = "none",
    [STACK_TOOL_GDB] = "gdb",
    [STACK_TOOL_EU_STACK] = "eu-stack",
    [STACK_TOOL_OWN] = "own",
};

/* --- lines with a mark */

/* Skips the word and the blank after it. */
static bool take_word(const char **at, const char *word)
{
    const size_t len = strlen(word);

    if (strncmp(*at, word, len) != 0 || (*at)[len] != ' ')
        return false;
    *at += len + 1;
    return true;
}

/* Reads a number, and skips the blank or the end of the line after it. */
static bool take_number(const char **at, uint32_t *out)
{
    const size_t len = strspn(*at, "0123456789");

    if (len == 0 || len > DIGITS_MAX ||
        ((*at)[len] != ' ' && (*at)[len] != '\0'))
        return false;
    *out = (uint32_t)strtoul(*at, NULL, 10);
    *at += len + ((*at)[len] == ' ');
    return true;
}

static bool take_tool(const char **at, enum stack_tool *out)
{
    for (unsigned i = 0; i < STACK_TOOLS; i++) {
        *out = (enum stack_tool)i;
        if (take_word(at, tools[i]))
            return true;
    }
    return false;
}

static bool begin_text(struct stack_stream *stream, const char *at)
{
    struct stack_look look = {.rank = 0};

    if (!take_number(&at, &look.rank) || !take_number(&at, &look.pid) ||
        !take_tool(&at, &look.tool))
        return false;
    snprintf(look.name, sizeof(look.name), "%s", at);
    stream->look = look;
    stream->is_inside = true;
    stream->len_bytes = stream->line_bytes = 0;
    return true;
}

static bool end_text(struct stack_stream *stream, const char *at)
{
    struct stack_look *look = &stream->look;

    if (!stream->is_inside || !take_number(&at, &look->status))
        return false;
    look->is_gone = strcmp(at, "gone") == 0;
    look->text = stream->text != NULL ? stream->text : "";
    look->len_bytes = stream->line_bytes;
    if (look->len_bytes > 0 && !look->is_cut)
        look->len_bytes--; /* the newline before the mark is not part of the
                            * text */
    stream->is_inside = false;
    stream->on_look(stream->arg, look);
    stream->len_bytes = stream->line_bytes = 0;
    return true;
}

/* Handles a complete line of which at least the beginning is known. */
static void read_line(struct stack_stream *stream)
{
    const char *at = stream->line;
    bool is_mark;

    stream->line[stream->read_bytes < STACK_LINE_MAX ? stream->read_bytes
                                                     : STACK_LINE_MAX - 1] =
        '\0';
    is_mark = take_word(&at, stream->mark) &&
              ((take_word(&at, "begin") && begin_text(stream, at)) ||
               (take_word(&at, "end") && end_text(stream, at)));
    if (!is_mark)
        stream->line_bytes = stream->len_bytes;
}

/* --- reading bytes */

static int keep_text(struct stack_stream *stream, const char *mem, size_t len)
{
    const size_t left = STACK_TEXT_MAX - stream->len_bytes;

    if (!stream->is_inside)
        return 0;
    if (len > left) {
        len = left;
        stream->look.is_cut = true;
    }
    while (stream->len_bytes + len > stream->room_bytes) {
        const size_t room =
            stream->room_bytes > 0 ? 2 * stream->room_bytes : ROOM_MIN;
        char *grown = realloc(stream->text, room);

        if (grown == NULL)
            return OV_ENOMEM;
        stream->text = grown;
        stream->room_bytes = room;
    }
    if (len > 0)
        memcpy(stream->text + stream->len_bytes, mem, len);
    stream->len_bytes += len;
    return 0;
}

static void keep_line(struct stack_stream *stream, const char *mem, size_t len)
{
    const size_t had = stream->read_bytes, most = STACK_LINE_MAX - 1;

    if (had < most)
        memcpy(stream->line + had, mem, len < most - had ? len : most - had);
    stream->read_bytes = had + len;
}

int stack_stream_read(struct stack_stream *stream, const void *mem,
                      size_t len_bytes)
{
    const char *at = mem, *const end = at + len_bytes;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop != NULL ? stop + 1 : end;

        keep_line(stream, at, (size_t)((stop != NULL ? stop : end) - at));
        if (keep_text(stream, at, (size_t)(next - at)) != 0)
            return OV_ENOMEM;
        at = next;
        if (stop == NULL)
            continue;
        read_line(stream);
        stream->read_bytes = 0;
    }
    return 0;
}

void stack_stream_free(struct stack_stream *stream)
{
    free(stream->text);
    *stream = (struct stack_stream){.text = NULL};
}
