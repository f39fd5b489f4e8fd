/* However bytes are written, cut and read, they come out complete and as whole
 * lines. */
#include "config.h"

#include "endpoints/daemon/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/channel_tap.h"
#include "tests/unit/spill_file.h"

/* Returns where the unfinished line in `seen` begins. */
static size_t open_since(const uint8_t *bytes, size_t len)
{
    const uint8_t *newline = len > 0 ? memrchr(bytes, '\n', len) : NULL;

    return newline == NULL ? len : len - (size_t)(newline + 1 - bytes);
}

static size_t random_text(uint8_t *text, size_t room)
{
    size_t len = (size_t)rand() % room;
    int newlines = 1 + rand() % 400;

    for (size_t i = 0; i < len; i++)
        text[i] = (uint8_t)(rand() % newlines == 0 ? '\n' : rand() % 256);
    return len;
}

/* Random text is written in random chunks and read with random room: all bytes
 * come in order; a read ends inside a line only for lack of room or at the end;
 * a channel that was read to the end holds no complete line back. */
static void random_round(struct tap *tap)
{
    enum { TEXT_MAX = 200000 };
    uint8_t *text = malloc(TEXT_MAX);
    size_t len = random_text(text, TEXT_MAX);
    uint32_t room_max = rand() % 2 == 0 ? 300 : TAP_ROOM * 2;
    size_t written = 0;
    enum ep_channel_state channel = EP_CHANNEL_IDLE;

    tap_open(tap, false, 0);
    while (channel != EP_CHANNEL_END) {
        size_t chunk = 1 + (size_t)rand() % 3000;
        uint32_t room = 1 + (uint32_t)rand() % room_max;
        uint32_t got;

        if (chunk > len - written)
            chunk = len - written;
        if (chunk > 0 && rand() % 4 != 0) {
            ssize_t count = write(tap->out, text + written, chunk);

            written += count > 0 ? (size_t)count : 0;
        }
        if (written == len && tap->out >= 0)
            tap_put_end(tap);
        if (rand() % 3 == 0)
            continue;
        got = tap_pull(tap, room, &channel);
        assert_true(tap->seen_bytes <= written);
        if (got > 0 && tap->dst[got - 1] != '\n' && channel != EP_CHANNEL_END)
            assert_true(open_since(tap->seen, tap->seen_bytes) >= room ||
                        got == room ||
                        open_since(tap->seen, tap->seen_bytes) >= TAP_ROOM);
        if (channel == EP_CHANNEL_IDLE && written > tap->seen_bytes)
            assert_null(memchr(text + tap->seen_bytes, '\n',
                               written - tap->seen_bytes));
    }
    assert_int_equal(tap->seen_bytes, len);
    if (len > 0)
        assert_memory_equal(tap->seen, text, len);
    free(text);
}

/* Does the same while other lines fill the memory again and again, so that the
 * unfinished line goes to the file, once or several times, and comes back: a
 * line is cut only when a read has too little room. */
static void loaded_round(struct tap *tap, bool *was_in_file)
{
    enum { TEXT_MAX = 400000 };
    uint8_t *text = malloc(TEXT_MAX);
    size_t len = random_text(text, TEXT_MAX);
    uint32_t room = rand() % 2 == 0 ? 20000 : TAP_ROOM * 2;
    uint32_t limit = room < TAP_ROOM ? room : TAP_ROOM;
    size_t written = 0;
    enum ep_channel_state channel = EP_CHANNEL_IDLE;

    for (size_t i = 0; i < len; i++) { /* long lines, some of them longer than a
                                        * line may be */
        if (text[i] == '\n' && rand() % 50 != 0)
            text[i] = 'n';
    }
    tap_open(tap, false, 0);
    while (channel != EP_CHANNEL_END) {
        size_t chunk = 1 + (size_t)rand() % 9000;
        ssize_t count;
        uint32_t got;

        if (chunk > len - written)
            chunk = len - written;
        count = chunk > 0 ? write(tap->out, text + written, chunk) : 0;
        written += count > 0 ? (size_t)count : 0;
        if (written == len && tap->out >= 0)
            tap_put_end(tap);
        if (rand() % 4 == 0)
            tap_load(tap);
        tap_turn(tap);
        *was_in_file = *was_in_file || spill_file_bytes() > 0;
        got = tap_pull(tap, room, &channel);
        if (got > 0 && tap->dst[got - 1] != '\n' && channel != EP_CHANNEL_END)
            assert_true(open_since(tap->seen, tap->seen_bytes) >= limit ||
                        written == len);
    }
    assert_int_equal(tap->seen_bytes, len);
    if (len > 0)
        assert_memory_equal(tap->seen, text, len);
    assert_int_equal(ep_tails_cuts(tap->tails), 0);
    free(text);
}

static void random_text_comes_back_from_the_file(void **state)
{
    bool was_in_file = false;

    for (unsigned i = 0; i < 60; i++)
        loaded_round(*state, &was_in_file);
    assert_true(was_in_file);
}

static void random_text_in_random_chunks_is_whole(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    unsigned seed =
        given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20240613;

    print_message("seed %u (XYLEM_TEST_SEED chooses another)\n", seed);
    srand(seed);
    for (unsigned i = 0; i < 60; i++)
        random_round(*state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TAP_TEST(random_text_in_random_chunks_is_whole),
        TAP_TEST(random_text_comes_back_from_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
