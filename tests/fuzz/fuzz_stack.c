/* The output of a node for `xylem stack': texts of processes between marks,
 * with call chains in them. The same bytes in pieces of two sizes give the same
 * result. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "commands/stack/frames.h"
#include "commands/stack/marks.h"

struct seen {
    uint32_t looks, chains;
    size_t bytes;
};

static void on_chain(void *arg, const struct stack_frame *frames,
                     uint32_t count)
{
    struct seen *seen = arg;

    FUZZ_CHECK(count >= 1 && count <= STACK_FRAMES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        FUZZ_CHECK(frames[i].name_bytes >= 1);
        FUZZ_CHECK(frames[i].name_bytes <= STACK_NAME_MAX);
        FUZZ_CHECK(memchr(frames[i].name, '\n', frames[i].name_bytes) == NULL);
        FUZZ_CHECK(frames[i].line == 0 || frames[i].file != NULL);
    }
    seen->chains++;
}

static void on_look(void *arg, const struct stack_look *look)
{
    struct seen *seen = arg;
    char *copy = malloc(look->len_bytes + 1);
    uint32_t before = seen->chains, count;

    FUZZ_CHECK(copy != NULL);
    FUZZ_CHECK(look->len_bytes <= STACK_TEXT_MAX);
    if (look->len_bytes > 0)
        memcpy(copy, look->text, look->len_bytes);
    count = stack_frames_read(copy, look->len_bytes, on_chain, seen);
    FUZZ_CHECK(seen->chains == before + count);
    free(copy);
    seen->looks++;
    seen->bytes += look->len_bytes;
}

static struct seen read_all(const uint8_t *mem, size_t len_bytes, size_t most)
{
    struct seen seen = {.looks = 0};
    struct stack_stream stream = {
        .mark = "MARK", .on_look = on_look, .arg = &seen};

    for (size_t at = 0; at < len_bytes; at += most)
        FUZZ_CHECK(stack_stream_read(&stream, mem + at,
                                     len_bytes - at < most ? len_bytes - at
                                                           : most) == 0);
    stack_stream_free(&stream);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    const struct seen whole = read_all(mem, len_bytes, 1 << 20);
    const struct seen pieces = read_all(mem, len_bytes, 7);

    FUZZ_CHECK(whole.looks == pieces.looks && whole.chains == pieces.chains);
    FUZZ_CHECK(whole.bytes == pieces.bytes);
    return 0;
}
