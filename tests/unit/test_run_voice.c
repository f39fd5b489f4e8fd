/* Lines on stderr, which may be stuck. */
#include "endpoints/run/voice.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* stderr is a pipe for the time of a test, and the other end is read here. */
struct rig {
    int kept, end;
    unsigned waits, asked, given_back;
    bool is_ours;
};

static void on_wait(void *arg)
{
    ((struct rig *)arg)->waits++;
}

static bool on_ask(void *arg, bool wants)
{
    struct rig *rig = arg;

    rig->asked += wants;
    rig->given_back += !wants;
    return rig->is_ours;
}

static struct rig take_stderr(void)
{
    int ends[2];
    struct rig rig = {.kept = dup(STDERR_FILENO)};

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    rig.end = ends[0];
    return rig;
}

static void give_back_stderr(const struct rig *rig)
{
    dup2(rig->kept, STDERR_FILENO);
    close(rig->kept);
    close(rig->end);
}

static void expect(const struct rig *rig, const char *text)
{
    char got[8192] = "";
    ssize_t len = read(rig->end, got, sizeof(got) - 1);

    assert_true(len >= 0);
    got[len] = '\0';
    assert_string_equal(got, text);
}

/* Writes until the pipe takes nothing more. */
static void fill(void)
{
    static const char bytes[4096];
    int flags = fcntl(STDERR_FILENO, F_GETFL);

    fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
    while (write(STDERR_FILENO, bytes, sizeof(bytes)) > 0)
        continue;
    fcntl(STDERR_FILENO, F_SETFL, flags);
}

static void drain(const struct rig *rig)
{
    char bytes[4096];
    int flags = fcntl(rig->end, F_GETFL);

    fcntl(rig->end, F_SETFL, flags | O_NONBLOCK);
    while (read(rig->end, bytes, sizeof(bytes)) > 0)
        continue;
    fcntl(rig->end, F_SETFL, flags);
}

static void expect_end(const struct rig *rig, const char *text)
{
    static char got[1 << 17];
    ssize_t len = read(rig->end, got, sizeof(got) - 1);

    assert_true(len >= (ssize_t)strlen(text));
    got[len] = '\0';
    assert_string_equal(got + len - strlen(text), text);
}

static void lines_say_whose_they_are(void **state)
{
    struct run_voice voice = {0};
    struct rig rig = take_stderr();

    (void)state;
    ep_voice_say(&voice, "%u nodes", 3u);
    expect(&rig, "xylem: 3 nodes\n");
    ep_voice_line(&voice, "h1", "no route");
    expect(&rig, "h1: no route\n");
    assert_int_equal(ep_voice_fail(&voice, "out of memory"), 1);
    expect(&rig, "xylem: out of memory\n");
    give_back_stderr(&rig);
    ep_voice_fini(&voice);
}

static void notes_are_for_the_verbose(void **state)
{
    struct run_voice voice = {0};
    struct rig rig = take_stderr();

    (void)state;
    ep_voice_note(&voice, "unheard");
    voice.is_verbose = true;
    ep_voice_note(&voice, "heard");
    expect(&rig, "xylem: heard\n");
    give_back_stderr(&rig);
    ep_voice_fini(&voice);
}

static void what_stderr_does_not_take_waits(void **state)
{
    struct rig rig = take_stderr();
    struct run_voice voice = {.on_wait = on_wait, .arg = &rig};

    (void)state;
    fill();
    ep_voice_say(&voice, "one");
    ep_voice_say(&voice, "two");
    assert_true(ep_voice_waits(&voice));
    assert_int_equal(rig.waits, 2);
    ep_voice_retry(&voice, 0);
    assert_true(ep_voice_waits(&voice));
    drain(&rig);
    ep_voice_retry(&voice, 0);
    assert_false(ep_voice_waits(&voice));
    expect(&rig, "xylem: one\nxylem: two\n");
    give_back_stderr(&rig);
    ep_voice_fini(&voice);
}

/* A turn on the terminal is requested again for each line, and given back after
 * the last. */
static void where_others_write_it_asks(void **state)
{
    struct rig rig = take_stderr();
    struct run_voice voice = {.on_wait = on_wait, .ask = on_ask, .arg = &rig};

    (void)state;
    ep_voice_say(&voice, "one");
    ep_voice_say(&voice, "two");
    assert_int_equal(rig.asked, 2);
    assert_int_equal(rig.waits, 2);
    assert_int_equal(rig.given_back, 0);
    rig.is_ours = true;
    ep_voice_retry(&voice, 0);
    expect(&rig, "xylem: one\nxylem: two\n");
    assert_int_equal(rig.given_back, 1);
    ep_voice_retry(&voice, 0); /* there is nothing to write */
    assert_int_equal(rig.asked, 3);
    give_back_stderr(&rig);
    ep_voice_fini(&voice);
}

/* 64 KiB of lines, and the one that exceeds them; then the number of missing
 * lines. */
static void so_much_waits_and_no_more(void **state)
{
    struct rig rig = take_stderr();
    struct run_voice voice = {0};
    char text[2001];
    unsigned kept;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    fill();
    for (unsigned i = 0; i < 100; i++)
        ep_voice_say(&voice, "%s", text);
    assert_in_range(voice.lines.len_bytes, 64 * 1024, 64 * 1024 + 2010);
    kept = (unsigned)(voice.lines.len_bytes / 2008);
    assert_int_equal(voice.missing, 100 - kept);
    snprintf(
        text, sizeof(text),
        "xylem: %u messages are missing here, as nobody read stderr in time\n",
        100 - kept);
    while (ep_voice_waits(&voice)) {
        drain(&rig);
        ep_voice_retry(&voice, 0);
    }
    expect_end(&rig, text);
    give_back_stderr(&rig);
    ep_voice_fini(&voice);
}

/* A notice is written unless the user wants none, a note only when the user
 * asks for notes. */
static void a_quiet_voice_says_no_notice(void **state)
{
    struct run_voice quiet = {.is_quiet = true}, loud = {.is_verbose = true};
    struct rig rig = take_stderr();

    (void)state;
    ep_voice_remark(&quiet, "notice");
    ep_voice_note(&quiet, "note");
    ep_voice_say(&quiet, "error");
    expect(&rig, "xylem: error\n");
    ep_voice_remark(&loud, "notice %d", 1);
    ep_voice_note(&loud, "note %d", 2);
    expect(&rig, "xylem: notice 1\nxylem: note 2\n");
    ep_voice_fini(&quiet);
    ep_voice_fini(&loud);
    give_back_stderr(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_say_whose_they_are),
        cmocka_unit_test(notes_are_for_the_verbose),
        cmocka_unit_test(a_quiet_voice_says_no_notice),
        cmocka_unit_test(what_stderr_does_not_take_waits),
        cmocka_unit_test(where_others_write_it_asks),
        cmocka_unit_test(so_much_waits_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
