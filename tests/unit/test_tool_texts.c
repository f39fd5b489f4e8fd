/* Texts of a tool for the user: they go to the door in pieces, a few at a time,
 * and each request is answered when all of it is written. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include <stdio.h>

#include "pmix_api/helper/texts.h"

enum { REQUESTS = PX_TEXTS_MAX + 1, TEXTS = 6 };

static struct px_texts *texts;
static struct px_lib_log logs[REQUESTS];
static struct px_lib_text all[REQUESTS][TEXTS];
static unsigned made;
static char text_of_max[PX_TEXTS_BYTES + 2];

static void on_word(const struct job_door *msg)
{
    px_texts_on_word(texts, msg);
}

static int set_up(void **state)
{
    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    tool_rig.on_word = on_word;
    made = 0;
    memset(logs, 0, sizeof(logs));
    memset(text_of_max, 'x', PX_TEXTS_BYTES);
    text_of_max[PX_TEXTS_BYTES] = '\0';
    return px_texts_open(tool_rig.jobs, &texts);
}

static int tear_down(void **state)
{
    (void)state;
    px_texts_close(texts);
    tool_rig_end();
    return 0;
}

static void add(const char *text, bool is_error)
{
    all[made][logs[made].count++] =
        (struct px_lib_text){.is_error = is_error, .text = text};
}

/* Makes a request with the texts that were added. */
static void ask(void)
{
    struct px_lib_log *log = &logs[made];

    log->texts = all[made++];
    log->call = log;
    px_texts_on_log(texts, log);
}

static void hear(uint8_t channel, const char *text, bool is_more)
{
    struct job_door msg = tool_rig_hear(0);

    assert_int_equal(msg.kind, JOB_DOOR_LOG);
    assert_int_equal(msg.channel, channel);
    assert_int_equal(ov_rd_left(&msg.rest), strlen(text));
    assert_memory_equal(msg.rest.at, text, strlen(text));
    assert_int_equal(msg.is_more, is_more);
}

static void say_logged(bool is_over)
{
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_LOGGED, .is_over = is_over});
    tool_rig_settle();
}

static void check_answer(unsigned nth, unsigned request,
                         enum px_lib_answer answer)
{
    assert_int_equal(tool_rig.pushes, nth + 1);
    assert_ptr_equal(tool_rig.push_calls[nth], &logs[request]);
    assert_int_equal(tool_rig.push_answers[nth], answer);
}

/* Four texts are at the door, of any requests; a request is answered when its
 * last text is written. */
static void four_at_a_time(void **state)
{
    (void)state;
    add("a", false);
    add("", true);
    ask();
    add("c", true);
    ask();
    add("d", false);
    add("e", false);
    ask();
    hear(1, "a", false);
    hear(2, "", false);
    hear(2, "c", false);
    hear(1, "d", false);
    assert_true(tool_rig_is_silent(0));
    say_logged(false);
    assert_int_equal(tool_rig.pushes, 0);
    hear(1, "e", false);
    assert_true(tool_rig_is_silent(0));
    say_logged(false);
    check_answer(0, 0, PX_LIB_YES);
    say_logged(false);
    check_answer(1, 1, PX_LIB_YES);
    say_logged(false);
    assert_int_equal(tool_rig.pushes, 2);
    say_logged(false);
    check_answer(2, 2, PX_LIB_YES);
    say_logged(false); /* no request waits */
    assert_int_equal(tool_rig.pushes, 3);
    add("f", false);
    ask();
    hear(1, "f", false);
}

/* One text of a request was refused; the next request is not affected. */
static void not_taken(void **state)
{
    (void)state;
    add("a", false);
    add("b", false);
    ask();
    add("c", false);
    ask();
    say_logged(true);
    say_logged(false);
    check_answer(0, 0, PX_LIB_NO_RESOURCE);
    say_logged(false);
    check_answer(1, 1, PX_LIB_YES);
}

/* A long text is sent in pieces, and stays one text. */
static void pieces(void **state)
{
    static char half[JOB_DOOR_REST_MAX + 1];

    (void)state;
    memset(half, 'x', JOB_DOOR_REST_MAX);
    add(text_of_max, true);
    ask();
    hear(2, half, true);
    hear(2, text_of_max + JOB_DOOR_REST_MAX, false);
    say_logged(false);
    check_answer(0, 0, PX_LIB_YES);
    add(half, false);
    ask();
    hear(1, half, false);
}

/* All texts of a request together have a greatest length. */
static void too_long(void **state)
{
    (void)state;
    add(text_of_max, false);
    add("x", false);
    ask();
    check_answer(0, 0, PX_LIB_BAD_PARAM);
    text_of_max[PX_TEXTS_BYTES] = 'x';
    add(text_of_max, false);
    ask();
    check_answer(1, 1, PX_LIB_BAD_PARAM);
    assert_true(tool_rig_is_silent(0));
}

/* Requests that are not written have a limit in number, and one in bytes. */
static void too_many(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PX_TEXTS_MAX; i++) {
        add("a", false);
        ask();
    }
    assert_int_equal(tool_rig.pushes, 0);
    add("b", false);
    ask();
    check_answer(0, PX_TEXTS_MAX, PX_LIB_NO_RESOURCE);
    say_logged(false);
    check_answer(1, 0, PX_LIB_YES);
    made = PX_TEXTS_MAX;
    logs[made].count = 0;
    add("c", false);
    ask();
    assert_int_equal(tool_rig.pushes, 2);
}

static void too_many_bytes(void **state)
{
    unsigned taken = PX_TEXTS_BYTES_MAX / PX_TEXTS_BYTES;

    (void)state;
    for (unsigned i = 0; i < taken; i++) {
        add(text_of_max, false);
        ask();
    }
    assert_int_equal(tool_rig.pushes, 0);
    add(text_of_max, false);
    ask();
    check_answer(0, taken, PX_LIB_NO_RESOURCE);
    text_of_max[PX_TEXTS_BYTES_MAX % PX_TEXTS_BYTES] = '\0';
    add(text_of_max, false); /* this text just fits; the others are longer */
    ask();
    assert_int_equal(tool_rig.pushes, 1);
    add("x", false);
    ask();
    check_answer(1, taken + 2, PX_LIB_NO_RESOURCE);
    say_logged(false);
    check_answer(2, 0, PX_LIB_YES);
    add("x", false); /* one more text can be added now */
    ask();
    assert_int_equal(tool_rig.pushes, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(four_at_a_time), TEST(not_taken), TEST(pieces),
        TEST(too_long),       TEST(too_many),  TEST(too_many_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
