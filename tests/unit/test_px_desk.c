/* Tools connect to a desk, and each gets a helper. The helpers are this program
 * itself, with other arguments. */
#include "config.h"

#include "pmix_api/desk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/desk_helper.h"
#include "tests/unit/rig.h"

struct lab {
    struct event_base *base;
    struct px_desk *desk;
    char folder[256];
    char uri[256], why[1024], said[1024], noted[4096];
    unsigned ups, given_up, says;
};

static void on_up(void *arg, const char *uri)
{
    struct lab *lab = arg;

    snprintf(lab->uri, sizeof(lab->uri), "%s", uri);
    lab->ups++;
}

static void on_given_up(void *arg, const char *why)
{
    struct lab *lab = arg;

    snprintf(lab->why, sizeof(lab->why), "%s", why);
    lab->given_up++;
}

static void on_say(void *arg, const char *text)
{
    struct lab *lab = arg;

    snprintf(lab->said, sizeof(lab->said), "%s", text);
    lab->says++;
}

static void on_note(void *arg, const char *text)
{
    struct lab *lab = arg;
    size_t len = strlen(lab->noted);

    snprintf(lab->noted + len, sizeof(lab->noted) - len, "%s\n", text);
}

static void open_desk(struct lab *lab, const char *path, const char *does)
{
    char *argv[] = {(char[]){"helper"}, (char *)(uintptr_t)does, lab->folder,
                    NULL};
    struct px_desk_cfg cfg = {
        .path = path,
        .argv = argv,
        .folder = lab->folder,
        .job = "xylem-x",
        .allows_user = true,
        .allows_root = true,
        .take_ms = strcmp(does, "hangs") == 0 ? 1 : 60 * PX_DESK_TAKE_MS,
        .pause_ms = 1,
        .tries_max = PX_DESK_TRIES,
        .on_up = on_up,
        .on_given_up = on_given_up,
        .on_say = on_say,
        .on_note = on_note,
        .arg = lab};
    static char *kept[4];
    const char *top = getenv("TMPDIR");

    memset(lab, 0, sizeof(*lab));
    snprintf(lab->folder, sizeof(lab->folder), "%s/desk.XXXXXX",
             top != NULL ? top : "/tmp");
    assert_non_null(mkdtemp(lab->folder));
    memcpy(kept, argv, sizeof(kept));
    cfg.argv = kept;
    kept[0] = (char *)(uintptr_t) "helper";
    cfg.base = lab->base = event_base_new();
    assert_int_equal(px_desk_open(&cfg, &lab->desk), 0);
}

static void come_up(struct lab *lab, const char *does)
{
    open_desk(lab, "/proc/self/exe", does);
    rig_run_until(lab->base, &lab->ups, 1);
}

static bool has_file(const struct lab *lab, const char *end)
{
    char path[1024], host[256];
    struct stat st;

    assert_int_equal(gethostname(host, sizeof(host)), 0);
    snprintf(path, sizeof(path), "%s/pmix.%s.tool%s", lab->folder, host, end);
    return stat(path, &st) == 0;
}

static void close_desk(struct lab *lab)
{
    char path[1024];

    px_desk_close(lab->desk);
    /* no child process is left */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_false(has_file(lab, ""));
    event_base_free(lab->base);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", lab->folder,
                 i == 0 ? "tries" : "gate");
        unlink(path);
    }
    assert_int_equal(rmdir(lab->folder), 0);
}

/* Connects a tool and sends the head of its first message. */
static int connect_with(const struct lab *lab, const char *head)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *port = strrchr(lab->uri, ':');
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_non_null(port);
    to.sin_port = htons((uint16_t)atoi(port + 1));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(write(fd, head, HEAD_BYTES), HEAD_BYTES);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static int connect_tool(const struct lab *lab)
{
    return connect_with(lab, "0123456789abcdef");
}

static bool is_readable(const void *arg)
{
    char byte;
    ssize_t got = recv(*(const int *)arg, &byte, 1, MSG_PEEK);

    return got >= 0 || errno != EAGAIN;
}

/* Returns the pid of the helper that serves the tool; 0: the tool is cut
 * off. */
static pid_t helper_of(struct lab *lab, int fd)
{
    char word[WORD_BYTES];
    ssize_t got;

    rig_run_until_true(lab->base, is_readable, &fd);
    got = read(fd, word, sizeof(word));
    return got == WORD_BYTES ? (pid_t)atoi(word) : 0;
}

static const struct lab *waits_for;

static bool are_gone(const void *count)
{
    return px_desk_tools(waits_for->desk) == *(const unsigned *)count;
}

static void await_tools(struct lab *lab, unsigned count)
{
    waits_for = lab;
    rig_run_until_true(lab->base, are_gone, &count);
}

static void each_tool_has_a_helper(void **state)
{
    struct lab lab;
    char end[64];
    int first, second;

    (void)state;
    come_up(&lab, "serves");
    assert_memory_equal(lab.uri, "xylem-x-server.0;tcp4://127.0.0.1:", 34);
    assert_true(has_file(&lab, "") && has_file(&lab, ".xylem-x") &&
                has_file(&lab, ".xylem-x-server"));
    snprintf(end, sizeof(end), ".%d", (int)getpid());
    assert_true(has_file(&lab, end));
    first = connect_tool(&lab);
    second = connect_tool(&lab);
    assert_true(helper_of(&lab, first) > 0);
    assert_true(helper_of(&lab, second) > 0);
    await_tools(&lab, 2);
    close(first);
    await_tools(&lab, 1);
    assert_true(send(second, "?", 1, MSG_NOSIGNAL) == 1);
    close(second);
    await_tools(&lab, 0);
    assert_int_equal(lab.says, 0);
    assert_int_equal(lab.given_up, 0);
    close_desk(&lab);
}

/* The text has our own port and process number. */
static void tools_find_us(void **state)
{
    char path[1024], host[256], text[512] = "", pid[32];
    struct lab lab;
    FILE *file;

    (void)state;
    come_up(&lab, "serves");
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    snprintf(path, sizeof(path), "%s/pmix.%s.tool", lab.folder, host);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_memory_equal(text, lab.uri, strlen(lab.uri));
    snprintf(pid, sizeof(pid), "\n4.2\n%d\nmore\n", (int)getpid());
    assert_string_equal(text + strlen(lab.uri), pid);
    close_desk(&lab);
}

static void a_helper_that_dies_takes_its_tool_alone(void **state)
{
    struct lab lab;
    int first, second;
    pid_t pid;

    (void)state;
    come_up(&lab, "serves");
    first = connect_tool(&lab);
    pid = helper_of(&lab, first);
    second = connect_tool(&lab);
    assert_true(helper_of(&lab, second) != pid);
    assert_int_equal(write(first, "k", 1), 1);
    rig_run_until(lab.base, &lab.says, 1);
    assert_string_equal(
        lab.said,
        "a PMIx tool was disconnected: the helper xylem-pmix was killed "
        "by signal 9; the session goes on");
    assert_int_equal(px_desk_tools(lab.desk), 1);
    assert_int_equal(helper_of(&lab, first), 0);
    assert_int_equal(write(second, "x", 1), 1);
    rig_run_until(lab.base, &lab.says, 2);
    assert_non_null(
        strstr(lab.said, "the helper xylem-pmix ended with exit status 7"));
    assert_int_equal(px_desk_tools(lab.desk), 0);
    close(first);
    first = connect_tool(&lab);
    assert_true(helper_of(&lab, first) > 0);
    close(first);
    close(second);
    close_desk(&lab);
}

/* The first two helpers die, or hang, once they were sent a tool's connection
 * and before they take it: the third one serves the tool, and another tool that
 * came later has the fourth. */
static void check_untaken(const char *does)
{
    struct lab lab;
    int first, second;

    come_up(&lab, does);
    first = connect_tool(&lab);
    second = connect_tool(&lab);
    assert_true(helper_of(&lab, first) > 0);
    assert_true(helper_of(&lab, second) > 0);
    assert_non_null(
        strstr(lab.noted, "the helper xylem-pmix was killed by signal 9"));
    assert_int_equal(lab.says, 0);
    assert_int_equal(px_desk_tools(lab.desk), 2);
    close(first);
    close(second);
    await_tools(&lab, 0);
    close_desk(&lab);
}

static void
a_helper_that_dies_before_it_takes_a_tool_costs_nothing(void **state)
{
    (void)state;
    check_untaken("falls");
}

static void a_helper_that_hangs_before_it_takes_a_tool_is_replaced(void **state)
{
    (void)state;
    check_untaken("hangs");
}

/* The end of a helper whose tool was never let in is not reported to the
 * user. */
static void a_helper_whose_tool_is_not_in_dies_silently(void **state)
{
    struct lab lab;
    int fd;

    (void)state;
    come_up(&lab, "serves");
    fd = connect_with(&lab, "dies............");
    assert_int_equal(helper_of(&lab, fd), 0);
    await_tools(&lab, 0);
    assert_int_equal(lab.says, 0);
    close(fd);
    close_desk(&lab);
}

static void tools_wait_for_their_helpers(void **state)
{
    struct lab lab;
    int tools[5], gate;
    char path[512];

    (void)state;
    open_desk(&lab, "/proc/self/exe", "serves");
    snprintf(path, sizeof(path), "%s/gate", lab.folder);
    gate = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(gate, LOCK_EX), 0);
    rig_run_until(lab.base, &lab.ups, 1);
    for (unsigned i = 0; i < 5; i++) {
        tools[i] = connect_tool(&lab);
        await_tools(&lab, i + 1);
    }
    assert_true(helper_of(&lab, tools[0]) > 0);
    for (unsigned i = 1; i < 5; i++)
        assert_false(is_readable(&tools[i]));
    close(gate);
    for (unsigned i = 1; i < 5; i++)
        assert_true(helper_of(&lab, tools[i]) > 0);
    for (unsigned i = 0; i < 5; i++)
        close(tools[i]);
    await_tools(&lab, 0);
    close_desk(&lab);
}

static void one_more_than_may_be_there_is_refused(void **state)
{
    static int tools[PX_DESK_TOOLS_MAX];
    struct lab lab;
    int more;

    (void)state;
    come_up(&lab, "serves");
    for (unsigned i = 0; i < PX_DESK_TOOLS_MAX; i++) {
        tools[i] = connect_tool(&lab);
        assert_true(helper_of(&lab, tools[i]) > 0);
    }
    more = connect_tool(&lab);
    assert_int_equal(helper_of(&lab, more), 0);
    assert_non_null(
        strstr(lab.noted,
               "64 PMIx tools are connected, which is the maximum: a further "
               "one was refused"));
    close(more);
    close(tools[7]);
    await_tools(&lab, PX_DESK_TOOLS_MAX - 1);
    tools[7] = connect_tool(&lab);
    assert_true(helper_of(&lab, tools[7]) > 0);
    for (unsigned i = 0; i < PX_DESK_TOOLS_MAX; i++)
        close(tools[i]);
    assert_int_equal(lab.says, 0);
    close_desk(&lab);
}

static void one_that_does_not_come_up_is_given_up(void **state)
{
    static const struct {
        const char *path, *does, *why;
    } cases[] = {
        {"/proc/self/exe", "dies",
         "PMIx tools cannot connect: the helper xylem-pmix ended with exit "
         "status 5"},
        {"/proc/self/exe", "says",
         "PMIx tools cannot connect: the helper xylem-pmix says: libpmix has "
         "no plugins"},
        {"/nowhere/xylem", "serves",
         "PMIx tools cannot connect: /nowhere/xylem cannot be started: No such "
         "file or directory"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab lab;
        const char *at;
        unsigned tries = 0;

        open_desk(&lab, cases[i].path, cases[i].does);
        rig_run_until(lab.base, &lab.given_up, 1);
        assert_string_equal(lab.why, cases[i].why);
        for (at = lab.noted; *at != '\0'; at++)
            tries += *at == '\n';
        assert_int_equal(tries, 8);
        assert_int_equal(lab.ups + lab.says, 0);
        close_desk(&lab);
    }
}

/* Returns the pid of the only child. */
static pid_t reserve_of(void)
{
    char path[64], text[64] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "r");
    if (file == NULL)
        skip();
    (void)!fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    return (pid_t)atoi(text);
}

static bool is_another(const void *pid)
{
    pid_t now = reserve_of();

    return now > 0 && now != *(const pid_t *)pid;
}

/* A helper that became ready and dies in reserve is replaced, however often. */
static void one_in_reserve_that_dies_is_replaced(void **state)
{
    struct lab lab;
    int tool;

    (void)state;
    come_up(&lab, "serves");
    for (unsigned i = 0; i < 10; i++) {
        pid_t pid = reserve_of();

        assert_true(pid > 0);
        assert_int_equal(kill(pid, SIGKILL), 0);
        rig_run_until_true(lab.base, is_another, &pid);
        tool = connect_tool(&lab); /* the next helper is ready */
        assert_true(helper_of(&lab, tool) > 0);
        close(tool);
        await_tools(&lab, 0);
    }
    assert_non_null(
        strstr(lab.noted, "the helper xylem-pmix was killed by signal 9\n"));
    assert_int_equal(lab.given_up + lab.says, 0);
    close_desk(&lab);
}

static void one_that_comes_up_late_serves(void **state)
{
    struct lab lab;
    int tool;

    (void)state;
    come_up(&lab, "late");
    assert_non_null(strstr(
        lab.noted, "the helper xylem-pmix ended with exit status 5\nthe helper "
                   "xylem-pmix ended with exit status 5\n"));
    tool = connect_tool(&lab);
    assert_true(helper_of(&lab, tool) > 0);
    close(tool);
    await_tools(&lab, 0);
    close_desk(&lab);
}

/* Once tools know the port, new helpers are tried as long as it takes, and
 * tools wait. */
static void none_comes_up_for_a_time(void **state)
{
    struct lab lab;
    int first, second;

    (void)state;
    come_up(&lab, "once");
    first = connect_tool(&lab);
    assert_true(helper_of(&lab, first) > 0);
    second = connect_tool(&lab);
    assert_true(helper_of(&lab, second) > 0);
    assert_int_equal(lab.says, 1);
    assert_string_equal(lab.said, "PMIx tools have to wait: the helper "
                                  "xylem-pmix ended with exit status 5");
    close(first);
    close(second);
    await_tools(&lab, 0);
    assert_int_equal(lab.given_up, 0);
    close_desk(&lab);
}

/* However many tools disconnect, they do not take the places of others. */
static void those_that_hang_up_need_no_helper(void **state)
{
    struct lab lab;
    int tool, gate;
    char path[512];

    (void)state;
    open_desk(&lab, "/proc/self/exe", "serves");
    snprintf(path, sizeof(path), "%s/gate", lab.folder);
    gate = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(gate, LOCK_EX), 0);
    rig_run_until(lab.base, &lab.ups, 1);
    tool = connect_tool(&lab); /* takes the only helper */
    await_tools(&lab, 1);
    for (unsigned i = 0; i < 3 * PX_DESK_TOOLS_MAX; i++) {
        close(connect_tool(&lab));
        assert_int_equal(event_base_loop(lab.base, EVLOOP_NONBLOCK), 0);
    }
    close(gate);
    close(tool);
    tool = connect_tool(&lab);
    assert_true(helper_of(&lab, tool) > 0);
    assert_null(strstr(lab.noted, "refused"));
    assert_int_equal(lab.says, 0);
    close(tool);
    await_tools(&lab, 0);
    close_desk(&lab);
}

static void files_of_another_are_left_alone(void **state)
{
    char path[1024], host[256];
    struct lab lab;
    int fd;

    (void)state;
    open_desk(&lab, "/proc/self/exe", "serves");
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    snprintf(path, sizeof(path), "%s/pmix.%s.tool", lab.folder, host);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    rig_run_until(lab.base, &lab.given_up, 1);
    assert_non_null(
        strstr(lab.why, "PMIx tools cannot connect: cannot write files in "));
    assert_non_null(strstr(lab.why, "File exists"));
    assert_int_equal(unlink(path), 0);
    close_desk(&lab);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tool_has_a_helper),
        cmocka_unit_test(tools_find_us),
        cmocka_unit_test(a_helper_that_dies_takes_its_tool_alone),
        cmocka_unit_test(
            a_helper_that_dies_before_it_takes_a_tool_costs_nothing),
        cmocka_unit_test(
            a_helper_that_hangs_before_it_takes_a_tool_is_replaced),
        cmocka_unit_test(a_helper_whose_tool_is_not_in_dies_silently),
        cmocka_unit_test(tools_wait_for_their_helpers),
        cmocka_unit_test(one_more_than_may_be_there_is_refused),
        cmocka_unit_test(one_that_does_not_come_up_is_given_up),
        cmocka_unit_test(one_in_reserve_that_dies_is_replaced),
        cmocka_unit_test(one_that_comes_up_late_serves),
        cmocka_unit_test(none_comes_up_for_a_time),
        cmocka_unit_test(those_that_hang_up_need_no_helper),
        cmocka_unit_test(files_of_another_are_left_alone),
    };

    if (argc == 3 && strcmp(argv[0], "helper") == 0)
        desk_help(argv[1], argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
