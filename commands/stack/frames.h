/* Reads the call chains that gdb and eu-stack write for the threads of a
 * process.
 *
 * gdb (`thread apply all bt'):
 *     #1  0x000055dc6a8ab151 in solve (n=...) at /src/p.c:3
 *     #2  0x00007fcea8f8b8ec in clone3 () from /lib/libc.so.6
 * eu-stack (-s):
 *     #1  0x000055dc6a8ab151 solve
 *         /src/p.c:3:60
 *
 * A line that begins with "#0" begins a chain. All other lines are ignored.
 * Pure, except that memory for one chain is allocated.
 */
#ifndef COMMANDS_STACK_FRAMES_H
#define COMMANDS_STACK_FRAMES_H

#include <stddef.h>
#include <stdint.h>

enum {
    STACK_FRAMES_ASKED = 1000, /* the most frames of a thread; the tools are
                                * asked for the innermost ones */
    STACK_FRAMES_MAX = 240,    /* the most frames of a chain; the middle of a
                                * longer one is left out */
    STACK_NAME_MAX = 512,      /* the size of a name; a longer one is cut off */
};

/* A function in a call chain. Strings are borrowed and have no NUL. */
struct stack_frame {
    const char *name;
    uint32_t name_bytes;
    uint32_t line;    /* 0: unknown */
    const char *file; /* path of the source or, without a line, of the library;
                         NULL: unknown */
    uint32_t file_bytes;
};

/* Receives a chain, the outermost function first; count is 1 to
 * STACK_FRAMES_MAX. Its arguments are valid until it returns. */
typedef void (*stack_chain_fn)(void *arg, const struct stack_frame *frames,
                               uint32_t count);

/* Reads the text, which may be any bytes, and returns how many chains it has.
 * Functions of the C library that run before main() are left out, and when
 * there are more frames than can be read, the outermost one is called "...".
 * O(bytes). Returns 0 when memory is out. */
uint32_t stack_frames_read(const char *text, size_t len_bytes,
                           stack_chain_fn on_chain, void *arg);

#endif
