/* The starter with daemons that work as they should. */
#include "config.h"

#include "endpoints/boot/starter.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/starter_rig.h"

static const struct ep_boot_peer peer = {.node = 9, .address = "b:2"};

/* The text arrives first, then the addresses of peers in order, then the
 * end. */
static void local_daemon_gets_text_and_peers_and_leaves(void **state)
{
    char body[2048];

    (void)state;
    snprintf(body, sizeof(body),
             "echo \"args $*\" >&2\n"
             "while read -r l; do echo \"$l\"; [ \"$l\" = go ] && break; done"
             " >%s\n@READY; cat >>%s; exit 3\n",
             rig_path("got"), rig_path("got"));
    rig_start(rig_script("d", body), NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("ready");
    assert_memory_equal(rig_told, "ready 0 5 a:1 40\n", 17);
    rig_wait("stderr");
    assert_true(rig_has("stderr 0 -: args --boot\n"));
    assert_int_equal(ep_starter_peer(rig_st, 0, &peer), 0);
    ep_starter_leave(rig_st);
    assert_int_equal(ep_starter_peer(rig_st, 0, &peer), OV_ECLOSED);
    rig_wait("exit");
    assert_true(rig_has("exit 0 300\n"));
    /* Leaving drops what was not yet sent; the text had been sent. */
    assert_memory_equal(rig_read("got"), TEXT, strlen(TEXT));
}

static void peers_follow_the_text_in_order(void **state)
{
    char body[2048];
    struct ep_boot_peer other = peer;

    (void)state;
    other.node = 10;
    snprintf(body, sizeof(body),
             UNTIL_GO "@READY\nread -r a; read -r b\n"
                      "echo \"$a;$b\" >%s\nprintf '\\nxylemd-note 5 got\\n'\n",
             rig_path("peers"));
    rig_start(rig_script("d", body), NULL, 0, 0);
    rig_add(3, NULL);
    /* Peers come before the daemon was started, and when it is ready. */
    assert_int_equal(ep_starter_peer(rig_st, 3, &peer), 0);
    rig_wait("ready 3");
    assert_int_equal(ep_starter_peer(rig_st, 3, &other), 0);
    rig_wait("note 3 of 5 got");
    assert_string_equal(rig_read("peers"),
                        "peer 9 b:2 00000000000000000000000000000000;"
                        "peer 10 b:2 00000000000000000000000000000000\n");
    rig_wait("exit 3 0");
    assert_int_equal(ep_starter_peer(rig_st, 3, &peer), OV_ECLOSED);
    assert_int_equal(ep_starter_peer(rig_st, 4, &peer), OV_ENOENT);
}

/* --rsh is split and quoted as a shell does; the command line is one word, and
 * a path with a space stays whole. */
static void remote_shell_is_called_with_host_and_commandline(void **state)
{
    char rsh[1024];
    const char *daemon = rig_script("my xylemd", UNTIL_GO "@READY\n" UNTIL_EOF);

    (void)state;
    snprintf(rsh, sizeof(rsh), "'%s' -o \"A  B\"",
             rig_script("my rsh", "for a; do echo \"<$a>\" >&2; done\n"
                                  "eval \"$4\"\n"));
    rig_start(daemon, rsh, 0, 0);
    rig_add(0, "user@n17");
    rig_wait("ready 0 5 a:1 40");
    rig_wait_count("stderr", 4);
    assert_true(rig_has("stderr 0 user@n17: <-o>\n"
                        "stderr 0 user@n17: <A  B>\n"
                        "stderr 0 user@n17: <user@n17>\n"
                        "stderr 0 user@n17: <exec '"));
    assert_true(rig_has("/my xylemd' --boot>\n"));
    assert_int_equal(rig_count("stderr"), 4);
}

/* A command of plain words is split without a shell, at any number of
 * blanks. */
static void remote_shell_of_plain_words_is_split_at_blanks(void **state)
{
    char rsh[1024];
    const char *daemon = rig_script("xylemd", UNTIL_GO "@READY\n" UNTIL_EOF);

    (void)state;
    snprintf(rsh, sizeof(rsh), " %s\t-o  A=B,%%c:1@x+y_.z ",
             rig_script("rsh", "for a; do echo \"<$a>\" >&2; done\n"
                               "eval \"$4\"\n"));
    rig_start(daemon, rsh, 0, 0);
    rig_add(0, "n17");
    rig_wait("ready 0 5 a:1 40");
    rig_wait_count("stderr", 4);
    assert_true(rig_has("stderr 0 n17: <-o>\n"
                        "stderr 0 n17: <A=B,%c:1@x+y_.z>\n"
                        "stderr 0 n17: <n17>\n"
                        "stderr 0 n17: <exec "));
    assert_true(rig_has("/xylemd --boot>\n"));
    assert_int_equal(rig_count("stderr"), 4);
}

static void rubbish_before_the_ready_line_is_skipped(void **state)
{
    (void)state;
    rig_start(rig_script("d", "echo Welcome to n1\n"
                              "yes 123456789 | head -c 60000\n"
                              "printf 'no newline at the end: '\n" UNTIL_GO
                              "@READY\n" UNTIL_EOF),
              NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("ready 0 5");
    assert_string_equal(rig_told, "ready 0 5 a:1 40\n");
}

static void lines_after_ready_are_told_as_they_are(void **state)
{
    (void)state;
    rig_start(rig_script("d", UNTIL_GO
                         "printf '\\nxylemd-note 9 early%%20note\\n'\n@READY\n"
                         "printf '\\nxylemd-error beneath\\n'\n"
                         "echo stray\n"
                         "printf '\\nxylemd-note 5 by'; exit 0\n"),
              NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("exit");
    assert_string_equal(rig_told, "note 0 of 9 early note\n"
                                  "ready 0 5 a:1 40\n"
                                  "error 0 beneath\n"
                                  "stderr 0 -: stray\n"
                                  "note 0 of 5 by\n"
                                  "exit 0 0\n");
}

/* The lines are held back until the daemon is ready, then reported with their
 * host. */
static void stderr_lines_are_told_with_their_host(void **state)
{
    char rsh[512];

    (void)state;
    snprintf(rsh, sizeof(rsh), "%s",
             rig_script("rsh", "echo warning >&2\neval \"$2\"\n"));
    rig_start(rig_script("d",
                         UNTIL_GO "@READY\n"
                                  "read -r x\n"
                                  "head -c 5000 /dev/zero | tr '\\0' x >&2\n"
                                  "printf '\\nnul\\0byte\\nlast' >&2\n"),
              rsh, 0, 0);
    rig_add(0, "n2");
    rig_wait("stderr 0 n2: warning");
    assert_string_equal(rig_told, "ready 0 5 a:1 40\nstderr 0 n2: warning\n");
    assert_int_equal(ep_starter_peer(rig_st, 0, &peer), 0);
    rig_wait("exit 0 0");
    /* 4096 + 904 x, and two lines; the last has no newline. */
    assert_int_equal(rig_count("stderr 0 n2: xxx"), 2);
    assert_true(rig_has("x\nstderr 0 n2: nul byte\n"
                        "stderr 0 n2: last\nexit 0 0\n"));
}

static unsigned most_on_their_way;

static void count_on_their_way(const char *line)
{
    unsigned now = rig_count("note") - rig_count("ready");

    (void)line;
    if (now > most_on_their_way)
        most_on_their_way = now;
}

/* Each daemon waits for a word of this test before it is ready, so the starter
 * cannot keep to the limit just by luck of timing. */
static void only_so_many_start_at_once(void **state)
{
    enum { DAEMONS = 7, PARALLEL = 3 };

    (void)state;
    rig_start(rig_script("d", UNTIL_GO "printf '\\nxylemd-note 5 here\\n'\n"
                                       "read -r x\n@READY\n" UNTIL_EOF),
              NULL, 0, PARALLEL);
    most_on_their_way = 0;
    rig_hook = count_on_their_way;
    for (uint32_t i = 0; i < DAEMONS; i++)
        rig_add(i, NULL);
    for (unsigned done = 0; done < DAEMONS; done++) {
        unsigned here = done + PARALLEL;

        rig_wait_count("note", here < DAEMONS ? here : DAEMONS);
        assert_int_equal(ep_starter_peer(rig_st, done, &peer), 0);
        rig_wait_count("ready", done + 1);
    }
    assert_int_equal(most_on_their_way, PARALLEL);
    assert_int_equal(rig_count("error"), 0);
}

/* The text is larger than any pipe, and the daemon reads it in small pieces. */
static void long_text_arrives_whole(void **state)
{
    enum { LINES = 100000 };
    struct text_buf text = {0};
    char body[2048];
    FILE *file = fopen(rig_path("want"), "w");

    (void)state;
    assert_non_null(file);
    for (unsigned i = 0; i < LINES; i++)
        text_buf_printf(&text, "host %u some.host.name.%u\n", i, i);
    text_buf_puts(&text, "go\n");
    fwrite(text.at, 1, text.len_bytes, file);
    fclose(file);
    snprintf(body, sizeof(body),
             "head -c %zu | cmp - '%s' && @READY\n" UNTIL_EOF, text.len_bytes,
             rig_path("want"));
    rig_start(rig_script("d", body), NULL, 0, 0);
    assert_int_equal(
        ep_starter_add(rig_st, 0, EP_LAUNCHER_LOCAL, "here", &text), 0);
    rig_wait("ready");
}

static void daemon_that_closes_stdin_is_no_error(void **state)
{
    struct text_buf text = {0};

    (void)state;
    for (unsigned i = 0; i < 100000; i++)
        text_buf_puts(&text, "more than a pipe holds\n");
    rig_start(rig_script("d", "exec <&-\n@READY\nsleep 1000\n"), NULL, 0, 0);
    assert_int_equal(ep_starter_add(rig_st, 0, EP_LAUNCHER_LOCAL, NULL, &text),
                     0);
    rig_wait("ready");
    while (ep_starter_peer(rig_st, 0, &peer) == 0)
        rig_turn(); /* the daemon that was added is started, and fails */
    ep_starter_leave(rig_st);
}

/* Two that wait are forgotten; the one that is being started leaves without a
 * report. */
static void leaving_early_is_quiet(void **state)
{
    char body[1024];

    (void)state;
    snprintf(body, sizeof(body),
             UNTIL_GO "printf '\\nxylemd-note 5 here\\n'\n" UNTIL_EOF
                      "echo gone >%s; echo bye >&2; exit 1\n",
             rig_path("gone"));
    rig_start(rig_script("d", body), NULL, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        rig_add(i, NULL);
    rig_wait("note 0 of 5 here");
    ep_starter_leave(rig_st);
    ep_starter_leave(rig_st);
    rig_wait_exits(1);
    assert_string_equal(rig_read("gone"), "gone\n");
    assert_string_equal(rig_told, "note 0 of 5 here\n");
}

/* As many daemons as may be starting begin while the caller is busy; the loop
 * starts the others. */
static void those_that_begin_need_no_loop(void **state)
{
    char body[1024], word[4] = "";
    int fd;

    (void)state;
    assert_int_equal(mkfifo(rig_path("begun"), 0600), 0);
    snprintf(body, sizeof(body), "echo on >%s\n" UNTIL_GO "@READY\n" UNTIL_EOF,
             rig_path("begun"));
    rig_start(rig_script("d", body), NULL, 0, 1);
    rig_add(0, NULL);
    rig_add(1, NULL);
    ep_starter_begin(rig_st);
    fd = open(rig_path("begun"), O_RDWR | O_CLOEXEC);
    assert_int_equal(read(fd, word, 3), 3);
    assert_string_equal(word, "on\n");
    assert_string_equal(rig_told, "");
    rig_wait("ready 0");
    rig_wait("ready 1");
    close(fd);
}

/* The caller has been busy for longer than the daemon may take, and the daemon
 * got no text meanwhile. */
static void the_time_of_one_that_begins_counts_from_the_loop(void **state)
{
    (void)state;
    rig_start(rig_script("d", UNTIL_GO "@READY\n" UNTIL_EOF), NULL, 3000, 0);
    rig_add(0, NULL);
    ep_starter_begin(rig_st);
    poll(NULL, 0, 3100);
    rig_wait_count("ready 0", 1);
    assert_int_equal(rig_count("error"), 0);
}

/* The launcher raises its limit later. */
static void without_descriptors_it_waits_for_the_loop(void **state)
{
    struct rlimit before, none;

    (void)state;
    rig_start(rig_script("d", UNTIL_GO "@READY\n" UNTIL_EOF), NULL, 0, 0);
    rig_add(0, NULL);
    rig_add(1, NULL);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    ep_starter_begin(rig_st);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_string_equal(rig_told, "");
    rig_wait("ready 0");
    rig_wait("ready 1");
}

#define T(name) cmocka_unit_test_setup_teardown(name, rig_enter, rig_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(local_daemon_gets_text_and_peers_and_leaves),
        T(peers_follow_the_text_in_order),
        T(remote_shell_is_called_with_host_and_commandline),
        T(remote_shell_of_plain_words_is_split_at_blanks),
        T(rubbish_before_the_ready_line_is_skipped),
        T(lines_after_ready_are_told_as_they_are),
        T(stderr_lines_are_told_with_their_host),
        T(only_so_many_start_at_once),
        T(long_text_arrives_whole),
        T(daemon_that_closes_stdin_is_no_error),
        T(leaving_early_is_quiet),
        T(those_that_begin_need_no_loop),
        T(the_time_of_one_that_begins_counts_from_the_loop),
        T(without_descriptors_it_waits_for_the_loop),
    };
    int failed;

    if (rig_open() != 0)
        return 1;
    failed = cmocka_run_group_tests_name("starter", tests, NULL, NULL);
    rig_close();
    return failed;
}
