/* Reads call chains from the text of gdb or eu-stack. */
#include "commands/stack/frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 100000000 };

/* A piece of the text. */
struct span {
    const char *at, *end;
};

struct chain {
    uint32_t count;
    bool takes_file; /* the next line may have the place of the last frame */
    /* the frames as they were read, the innermost first */
    struct stack_frame frames[STACK_FRAMES_ASKED];
    /* the frames as they are passed on */
    struct stack_frame turned[STACK_FRAMES_MAX];
};

static const struct stack_frame gap = {.name = "...", .name_bytes = 3};

/* --- pieces of text */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span span)
{
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.at < span.end && is_blank(span.end[-1]))
        span.end--;
    return span;
}

static bool begins(struct span span, const char *with)
{
    const size_t len = strlen(with);

    return (size_t)(span.end - span.at) >= len &&
           memcmp(span.at, with, len) == 0;
}

/* Reads the digits at the beginning. False: there are none, or too many. */
static bool take_number(struct span *span, uint32_t *out)
{
    const char *at = span->at;

    *out = 0;
    while (at < span->end && *at >= '0' && *at <= '9' && *out < NUMBER_MAX)
        *out = 10 * *out + (uint32_t)(*at++ - '0');
    if (at == span->at || *out >= NUMBER_MAX)
        return false;
    span->at = at;
    return true;
}

/* Skips an address at the beginning, and the blanks after it. */
static bool skip_address(struct span *span)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = span->at + 2;

    if (!begins(*span, "0x"))
        return false;
    while (at < span->end && *at != '\0' && strchr(digits, *at) != NULL)
        at++;
    span->at = at;
    *span = trim(*span);
    return true;
}

/* Returns the last place of the words in the piece; NULL: they are not in
 * it. */
static const char *find_last(struct span span, const char *words)
{
    const size_t len = strlen(words);
    size_t left = (size_t)(span.end - span.at);

    for (; left >= len; left--) {
        if (memcmp(span.at + left - len, words, len) == 0)
            return span.at + left - len;
    }
    return NULL;
}

/* --- a frame */

/* Reads PATH:LINE or PATH:LINE:COLUMN. */
static bool take_place(struct span span, struct stack_frame *out)
{
    uint32_t line = 0;

    for (int numbers = 0; numbers < 2; numbers++) {
        const char *colon = find_last(span, ":");
        struct span rest = {colon != NULL ? colon + 1 : span.end, span.end};
        uint32_t number;

        if (colon == NULL || !take_number(&rest, &number) ||
            rest.at != rest.end)
            break;
        line = number;
        span.end = colon;
    }
    if (line == 0 || span.at == span.end)
        return false;
    out->line = line;
    out->file = span.at;
    out->file_bytes = (uint32_t)(span.end - span.at);
    return true;
}

/* Returns where the arguments begin, which end the piece; NULL: there are
 * none. */
static const char *find_arguments(struct span span)
{
    uint32_t depth = 0;

    for (const char *at = span.end; at > span.at; at--) {
        if (at[-1] == ')')
            depth++;
        else if (depth == 0)
            return NULL;
        else if (at[-1] == '(' && --depth == 0)
            return at - 1;
    }
    return NULL;
}

static void set_name(struct stack_frame *frame, struct span name)
{
    const size_t len = (size_t)(name.end - name.at);

    frame->name = len > 0 ? name.at : "??";
    frame->name_bytes = len > STACK_NAME_MAX ? STACK_NAME_MAX
                        : len > 0            ? (uint32_t)len
                                             : 2;
}

/* Cuts off " at FILE:LINE" or " from LIBRARY". */
static struct span cut_place(struct span span, struct stack_frame *out)
{
    const char *at = find_last(span, ") at "), *from;

    if (at != NULL && take_place((struct span){at + 5, span.end}, out))
        return (struct span){span.at, at + 1};
    from = find_last(span, ") from ");
    if (from == NULL)
        return span;
    out->file = from + 7;
    out->file_bytes = (uint32_t)(span.end - out->file);
    return (struct span){span.at, from + 1};
}

/* Reads a frame of gdb: NAME (ARGUMENTS) and a place. */
static void read_call(struct span span, struct stack_frame *out)
{
    const char *arguments;

    span = cut_place(span, out);
    arguments = find_arguments(span);
    if (arguments == NULL)
        arguments = find_last(span, " (");
    if (arguments != NULL && arguments > span.at)
        span.end = arguments;
    set_name(out, trim(span));
}

/* Reads a frame of eu-stack: NAME, possibly with @VERSION. */
static void read_symbol(struct span span, struct stack_frame *out)
{
    const char *version = NULL;

    if (span.at < span.end)
        version = memchr(span.at + 1, '@', (size_t)(span.end - span.at) - 1);
    if (version != NULL)
        span.end = version;
    set_name(out, span);
}

/* Reads the line of a frame, after its number. */
static void read_frame(struct chain *chain, struct span span)
{
    const bool has_address = skip_address(&span);
    struct stack_frame *frame = &chain->frames[chain->count];

    chain->takes_file = false;
    if (chain->count == STACK_FRAMES_ASKED ||
        (span.at == span.end && !has_address))
        return;
    *frame = (struct stack_frame){.line = 0};
    chain->takes_file = has_address && !begins(span, "in ");
    if (chain->takes_file)
        read_symbol(span, frame);
    else
        read_call((struct span){span.at + (has_address ? 3 : 0), span.end},
                  frame);
    chain->count++;
}

/* --- a chain */

static bool is_named(const struct stack_frame *frame, const char *name)
{
    return begins((struct span){frame->name, frame->name + frame->name_bytes},
                  name);
}

/* Returns how many frames remain without those that come before main(). */
static uint32_t count_own(const struct chain *chain)
{
    for (uint32_t i = 1; i < chain->count; i++) {
        if (is_named(&chain->frames[i], "__libc_start_") ||
            is_named(&chain->frames[i], "_start"))
            return i;
    }
    return chain->count;
}

/* Turns the chain around, and leaves out the middle of a long one. Returns how
 * many frames it then has. */
static uint32_t turn(struct chain *chain)
{
    const uint32_t own = count_own(chain), half = STACK_FRAMES_MAX / 2;
    uint32_t count = 0;

    if (own == STACK_FRAMES_ASKED)
        chain->turned[count++] = gap;
    for (uint32_t i = 0; i < own; i++) {
        if (own >= STACK_FRAMES_MAX && i == half)
            chain->turned[count++] = gap;
        if (own >= STACK_FRAMES_MAX && i >= half && i < own - half + 2)
            continue;
        chain->turned[count++] = chain->frames[own - 1 - i];
    }
    return count;
}

/* Passes on a chain that is complete. Returns how many were passed on. */
static uint32_t end_chain(struct chain *chain, stack_chain_fn on_chain,
                          void *arg)
{
    const uint32_t count = chain->count > 0 ? turn(chain) : 0;

    chain->count = 0;
    chain->takes_file = false;
    if (count == 0)
        return 0;
    on_chain(arg, chain->turned, count);
    return 1;
}

/* Reads a line. True: the line begins another chain, so the caller must pass on
 * the chain before it and then read the line again. */
static bool read_line(struct chain *chain, struct span line)
{
    struct span rest = {line.at + 1, line.end};
    uint32_t number;

    if (begins(line, "#") && take_number(&rest, &number) &&
        rest.at < rest.end && is_blank(*rest.at)) {
        if (number == 0 && chain->count > 0)
            return true;
        read_frame(chain, trim(rest));
    } else {
        if (chain->takes_file && line.at < line.end && is_blank(*line.at))
            (void)take_place(trim(line), &chain->frames[chain->count - 1]);
        chain->takes_file = false;
    }
    return false;
}

uint32_t stack_frames_read(const char *text, size_t len_bytes,
                           stack_chain_fn on_chain, void *arg)
{
    const char *const end = text + len_bytes;
    struct chain *chain = calloc(1, sizeof(*chain));
    uint32_t told = 0;

    if (chain == NULL)
        return 0;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const struct span line = {at, stop != NULL ? stop : end};

        if (read_line(chain, line)) {
            told += end_chain(chain, on_chain, arg);
            (void)read_line(chain, line);
        }
        at = stop != NULL ? stop + 1 : end;
    }
    told += end_chain(chain, on_chain, arg);
    free(chain);
    return told;
}
