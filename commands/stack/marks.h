/* Finds the text of each process in the output of a node. A text stands between
 * two lines that begin with a mark, which is random:
 *
 *     MARK begin RANK PID TOOL NAME
 *     the text, of any bytes
 *     MARK end STATUS STATE
 *
 * One end of line before the last of these is not part of the text.
 */
#ifndef COMMANDS_STACK_MARKS_H
#define COMMANDS_STACK_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STACK_MARK_BYTES = 33,     /* the size of a mark: 32 digits and a NUL */
    STACK_LINE_MAX = 192,      /* the size of a line with a mark; the end of a
                                * longer one is cut */
    STACK_TEXT_MAX = 512 << 10 /* the size of a text; the rest of a longer one
                                * is dropped */
};

enum stack_tool {
    STACK_TOOL_NONE, /* there is neither gdb nor eu-stack */
    STACK_TOOL_GDB,
    STACK_TOOL_EU_STACK,
    STACK_TOOL_OWN, /* the command that the user gave */
    STACK_TOOLS
};

/* The result for one process. */
struct stack_look {
    uint32_t rank, pid;
    enum stack_tool tool;
    char name[STACK_LINE_MAX]; /* the name of the process's program */
    uint32_t status;           /* exit code of the tool */
    bool is_gone;              /* the process had ended when the tool ended */
    bool is_cut;               /* the text was longer and was cut */
    bool is_below;    /* the process is a descendant of the rank's process; set
                       * by others */
    const char *text; /* borrowed; any bytes */
    size_t len_bytes;
};

typedef void (*stack_look_fn)(void *arg, const struct stack_look *look);

/* The output of one node. A struct of zeroes is empty. */
struct stack_stream {
    const char *mark; /* borrowed */
    stack_look_fn on_look;
    void *arg;
    char *text; /* owned: the text of the process that is being looked at */
    size_t len_bytes, room_bytes;
    size_t line_bytes;         /* where the last line in the text begins */
    char line[STACK_LINE_MAX]; /* the beginning of the last line */
    size_t read_bytes;         /* how many bytes of the last line have come */
    bool is_inside;
    struct stack_look look;
};

/* Reads the next bytes. on_look() is called for each complete text. Returns 0
 * or OV_ENOMEM. */
int stack_stream_read(struct stack_stream *stream, const void *mem,
                      size_t len_bytes);
void stack_stream_free(struct stack_stream *stream);

#endif
