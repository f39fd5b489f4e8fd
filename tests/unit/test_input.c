/* Reading stdin: files, pipes, terminals, and how each ends. */
#include "config.h"

#include "endpoints/console/input.h"

#include "tests/unit/rig.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include "overlay/base/err.h"

enum { ROOM = 1 << 16 };

static unsigned threads_at_start;

struct fixture {
    struct event_base *base;
    struct ep_input *in;
    int fd;   /* the end that the input reads */
    int from; /* the end to which the test writes */
    unsigned answers;
    unsigned ends;
    int err;
    uint32_t len_bytes; /* the length of the last answer */
    bool close_next;
    uint8_t mem[ROOM];
};

static void answered(struct fixture *fx)
{
    fx->answers++;
    if (fx->close_next) {
        ep_input_close(fx->in);
        fx->in = NULL;
    }
}

static void on_data(void *arg, uint32_t len_bytes)
{
    struct fixture *fx = arg;

    assert_true(len_bytes > 0);
    fx->len_bytes = len_bytes;
    answered(fx);
}

static void on_end(void *arg)
{
    struct fixture *fx = arg;

    fx->ends++;
    answered(fx);
}

static void on_error(void *arg, int err)
{
    struct fixture *fx = arg;

    fx->err = err;
    answered(fx);
}

static const struct ep_input_events events = {
    .on_data = on_data,
    .on_end = on_end,
    .on_error = on_error,
};

static void input_open(struct fixture *fx, int fd)
{
    fx->base = event_base_new();
    assert_non_null(fx->base);
    assert_int_equal(ep_input_open(fx->base, fd, &events, fx, &fx->in), 0);
}

static struct fixture *with_fd(int fd)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    fx->fd = fd;
    fx->from = -1;
    input_open(fx, fd);
    return fx;
}

static struct fixture *with_pipe(void)
{
    struct fixture *fx = calloc(1, sizeof(*fx));
    int fds[2];

    rig_wide_pipe(fds);
    fx->fd = fds[0];
    fx->from = fds[1];
    input_open(fx, fds[0]);
    return fx;
}

static void end(struct fixture *fx)
{
    ep_input_close(fx->in);
    event_base_free(fx->base);
    if (fx->fd >= 0)
        close(fx->fd);
    if (fx->from >= 0)
        close(fx->from);
    free(fx);
}

static void put(struct fixture *fx, const void *mem, size_t len)
{
    assert_int_equal(write(fx->from, mem, len), len);
}

static void want(struct fixture *fx, uint32_t room)
{
    assert_int_equal(ep_input_want(fx->in, fx->mem, room), 0);
}

/* Makes a request and waits for the answer. */
static void ask(struct fixture *fx, uint32_t room)
{
    const unsigned before = fx->answers;

    fx->len_bytes = 0;
    want(fx, room);
    rig_run_until(fx->base, &fx->answers, before + 1);
    assert_int_equal(fx->answers, before + 1);
}

/* All frames are full except the last. */
static void a_file_is_read_in_full_frames(void **state)
{
    enum { FRAMES = 5, REST = 1234 };
    FILE *file = tmpfile();
    struct fixture *fx;
    uint64_t seed = 7;
    uint64_t same;

    (void)state;
    for (int i = 0; i < FRAMES * ROOM + REST; i++)
        putc((int)(rig_random(&seed) & 255), file);
    rewind(file);
    fx = with_fd(dup(fileno(file)));
    fclose(file);
    same = 7;
    for (int i = 0; i <= FRAMES; i++) {
        ask(fx, ROOM);
        assert_int_equal(fx->len_bytes, i < FRAMES ? ROOM : REST);
        for (uint32_t k = 0; k < fx->len_bytes; k++)
            assert_int_equal(fx->mem[k], rig_random(&same) & 255);
    }
    ask(fx, ROOM);
    assert_int_equal(fx->ends, 1);
    end(fx);
}

/* Opens a file of ROOM + 100 bytes, of which the first 10 were read before. */
static struct fixture *with_file(int flags)
{
    char path[] = "/proc/self/fd/1234567890";
    FILE *file = tmpfile();
    struct fixture *fx;
    int fd;

    for (int i = 0; i < ROOM + 100; i++)
        putc(i & 127, file);
    fflush(file);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
    fd = open(path, flags | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, 10, SEEK_SET), 10);
    fx = with_fd(fd);
    fclose(file);
    return fx;
}

/* Bytes that the thread has read and not delivered are given back, too: a
 * request is open, and nobody has looked whether it was answered. */
static void what_was_not_taken_is_given_back(void **state)
{
    struct fixture *fx = with_file(O_RDONLY);

    (void)state;
    ask(fx, 1000);
    want(fx, 500);
    assert_true(ep_input_give_back(fx->in, 600));
    assert_int_equal(lseek(fx->fd, 0, SEEK_CUR), 610);
    end(fx);
    fx = with_file(O_RDWR);
    ask(fx, ROOM);
    ask(fx, ROOM);
    ask(fx, ROOM);
    assert_int_equal(fx->ends, 1);
    assert_true(ep_input_give_back(fx->in, 0));
    assert_int_equal(lseek(fx->fd, 0, SEEK_CUR), 10);
    end(fx);
}

static void an_offset_that_somebody_moved_is_left_alone(void **state)
{
    struct fixture *fx = with_file(O_RDONLY);

    (void)state;
    ask(fx, 1000);
    assert_int_equal(lseek(fx->fd, 5, SEEK_SET), 5);
    assert_false(ep_input_give_back(fx->in, 0));
    assert_int_equal(lseek(fx->fd, 0, SEEK_CUR), 5);
    end(fx);
}

static void a_pipe_takes_nothing_back(void **state)
{
    struct fixture *fx = with_pipe();

    (void)state;
    put(fx, "hello", 5);
    ask(fx, ROOM);
    assert_false(ep_input_give_back(fx->in, 0));
    end(fx);
}

static void is_at_its_end(int fd)
{
    struct fixture *fx = with_fd(fd);

    ask(fx, ROOM);
    assert_int_equal(fx->ends, 1);
    assert_int_equal(fx->err, 0);
    assert_int_equal(ep_input_want(fx->in, fx->mem, ROOM), OV_EINVAL);
    end(fx);
}

static void nothing_to_read_is_an_end(void **state)
{
    (void)state;
    is_at_its_end(open("/dev/null", O_RDONLY | O_CLOEXEC));
    is_at_its_end(-1);
    is_at_its_end(987); /* after it was closed */
}

static void what_cannot_be_read_is_an_error(void **state)
{
    struct fixture *fx = with_fd(open("/", O_RDONLY | O_CLOEXEC));

    (void)state;
    ask(fx, ROOM);
    assert_int_equal(fx->err, EISDIR);
    assert_int_equal(fx->ends, 0);
    end(fx);
}

static void what_is_there_comes_without_waiting_for_more(void **state)
{
    struct fixture *fx = with_pipe();

    (void)state;
    put(fx, "hello", 5);
    ask(fx, ROOM);
    assert_int_equal(fx->len_bytes, 5);
    assert_memory_equal(fx->mem, "hello", 5);
    want(fx, ROOM); /* the next request waits */
    put(fx, "again", 5);
    rig_run_until(fx->base, &fx->answers, 2);
    assert_memory_equal(fx->mem, "again", 5);
    end(fx);
}

/* Sixteen small writes that have all arrived make one frame. */
static void what_is_there_comes_as_one_frame(void **state)
{
    struct fixture *fx = with_pipe();
    char small[ROOM / 16];

    (void)state;
    memset(small, 'x', sizeof(small));
    for (int i = 0; i < 16; i++)
        put(fx, small, sizeof(small));
    ask(fx, ROOM);
    assert_int_equal(fx->len_bytes, ROOM);
    end(fx);
}

static void no_more_is_taken_than_was_asked_for(void **state)
{
    struct fixture *fx = with_pipe();
    char hundred[100] = {0};

    (void)state;
    put(fx, hundred, 100);
    event_base_loop(fx->base, EVLOOP_NONBLOCK);
    assert_int_equal(rig_readable(fx->fd), 100);
    ask(fx, 10);
    assert_int_equal(fx->len_bytes, 10);
    assert_int_equal(rig_readable(fx->fd), 90);
    end(fx);
}

static void the_end_comes_behind_the_last_bytes(void **state)
{
    struct fixture *fx = with_pipe();

    (void)state;
    put(fx, "end", 3);
    close(fx->from);
    fx->from = -1;
    ask(fx, ROOM);
    assert_int_equal(fx->len_bytes, 3);
    ask(fx, ROOM);
    assert_int_equal(fx->ends, 1);
    end(fx);
}

static void one_request_at_a_time(void **state)
{
    struct fixture *fx = with_pipe();

    (void)state;
    assert_int_equal(ep_input_want(fx->in, fx->mem, 0), OV_EINVAL);
    want(fx, ROOM);
    assert_int_equal(ep_input_want(fx->in, fx->mem, ROOM), OV_EINVAL);
    put(fx, "x", 1);
    rig_run_until(fx->base, &fx->answers, 1);
    want(fx, ROOM);
    end(fx);
}

/* Nothing was ever written, and no thread is left. Some of the rounds close it
 * while the thread waits. */
static void closing_ends_a_reader_that_waits(void **state)
{

    (void)state;
    for (int round = 0; round < 30; round++) {
        struct fixture *fx = with_pipe();

        want(fx, ROOM);
        for (int i = 0; i < round * 10; i++)
            sched_yield();
        ep_input_close(fx->in);
        fx->in = NULL;
        rig_threads_until(threads_at_start);
        put(fx, "x", 1);
        event_base_loop(fx->base, EVLOOP_NONBLOCK);
        assert_int_equal(fx->answers, 0);
        assert_int_equal(rig_readable(fx->fd), 1);
        end(fx);
    }
}

static void it_may_be_closed_in_its_callback(void **state)
{
    struct fixture *fx = with_pipe();

    (void)state;
    fx->close_next = true;
    put(fx, "x", 1);
    ask(fx, ROOM);
    assert_null(fx->in);
    end(fx);
}

static void the_mode_of_the_descriptor_is_left_alone(void **state)
{
    struct fixture *fx = with_pipe();

    (void)state;
    put(fx, "x", 1);
    ask(fx, ROOM);
    assert_false(fcntl(fx->fd, F_GETFL) & O_NONBLOCK);
    /* Another program has made the pipe non-blocking: the input waits all the
     * same. */
    assert_int_equal(fcntl(fx->fd, F_SETFL, O_NONBLOCK), 0);
    want(fx, ROOM);
    put(fx, "yz", 2);
    rig_run_until(fx->base, &fx->answers, 2);
    assert_int_equal(fx->len_bytes, 2);
    end(fx);
}

/* ---- terminals ---- */

/* Ctrl-D is read once; the input must not wait for a second one. */
static void a_terminal_gives_lines_and_an_end(void **state)
{
    struct fixture *fx;
    int slave;
    int master = rig_terminal(&slave);

    (void)state;
    fx = with_fd(slave);
    fx->from = master;
    put(fx, "line\n", 5);
    ask(fx, ROOM);
    assert_int_equal(fx->len_bytes, 5);
    put(fx, "last\n\004", 6);
    ask(fx, ROOM);
    assert_int_equal(fx->len_bytes, 5);
    ask(fx, ROOM);
    assert_int_equal(fx->ends, 1);
    end(fx);
}

/* A terminal gives one line for each read; lines that have arrived make one
 * frame. */
static void lines_that_are_there_come_together(void **state)
{
    struct fixture *fx;
    int slave;
    int master = rig_terminal(&slave);

    (void)state;
    fx = with_fd(slave);
    fx->from = master;
    put(fx, "one\ntwo\n", 8);
    while (rig_readable(slave) < 8) /* the terminal passes the lines on after a
                                     * while */
        sched_yield();
    ask(fx, ROOM);
    assert_int_equal(fx->len_bytes, 8);
    assert_memory_equal(fx->mem, "one\ntwo\n", 8);
    end(fx);
}

static void byte_pass(int fd)
{
    if (write(fd, "x", 1) != 1)
        _exit(10);
}

static void byte_take(int fd)
{
    char byte;

    if (read(fd, &byte, 1) != 1)
        _exit(11);
}

/* Runs in a background process group of the terminal's session. Exits with 0 if
 * all is well; cmocka's assertions end a child with another code. */
static void background_main(int tty, int tell_fd, int hear_fd, bool with_wake)
{
    const struct timeval moment = {.tv_usec = 100 * 1000};
    struct fixture *fx = with_fd(dup(tty));

    want(fx, ROOM);
    /* A reader that does not check which group has the terminal would be
     * stopped, or get bytes or EIO, long before this. */
    event_base_loopexit(fx->base, &moment);
    event_base_dispatch(fx->base);
    if (fx->answers != 0)
        _exit(2);
    byte_pass(tell_fd);
    byte_take(hear_fd); /* now in the foreground */
    if (with_wake)
        ep_input_wake(fx->in);
    rig_run_until(fx->base, &fx->answers, 1);
    if (fx->len_bytes != 5 || memcmp(fx->mem, "type\n", 5) != 0)
        _exit(3);
    end(fx);
    _exit(0);
}

/* Leads a session with its own terminal, like a small shell. */
static void shell_main(int tty, bool with_wake)
{
    int up[2];
    int down[2];
    int status;
    pid_t job;

    signal(SIGTTOU, SIG_IGN);
    if (setsid() < 0 || ioctl(tty, TIOCSCTTY, 0) < 0 || pipe(up) < 0 ||
        pipe(down) < 0)
        _exit(20);
    job = fork();
    if (job == 0) {
        setpgid(0, 0);
        background_main(tty, up[1], down[0], with_wake);
    }
    setpgid(job, job);
    close(up[1]);
    byte_take(up[0]);
    if (tcsetpgrp(tty, job) < 0)
        _exit(21);
    byte_pass(down[1]);
    if (waitpid(job, &status, 0) != job)
        _exit(22);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 23);
}

static void background_reader_waits(bool with_wake)
{
    int tty;
    int master = rig_terminal(&tty);
    int status;
    pid_t shell;

    assert_int_equal(write(master, "type\n", 5), 5);
    shell = fork();
    if (shell == 0)
        shell_main(tty, with_wake);
    assert_int_equal(waitpid(shell, &status, 0), shell);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(master);
    close(tty);
}

static void a_background_program_waits_for_the_terminal(void **state)
{
    (void)state;
    background_reader_waits(true);
}

/* Some shells send no SIGCONT, so nothing wakes the reader. */
static void the_foreground_is_noticed_without_a_word(void **state)
{
    (void)state;
    background_reader_waits(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_in_full_frames),
        cmocka_unit_test(what_was_not_taken_is_given_back),
        cmocka_unit_test(an_offset_that_somebody_moved_is_left_alone),
        cmocka_unit_test(a_pipe_takes_nothing_back),
        cmocka_unit_test(nothing_to_read_is_an_end),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(what_is_there_comes_without_waiting_for_more),
        cmocka_unit_test(what_is_there_comes_as_one_frame),
        cmocka_unit_test(no_more_is_taken_than_was_asked_for),
        cmocka_unit_test(the_end_comes_behind_the_last_bytes),
        cmocka_unit_test(one_request_at_a_time),
        cmocka_unit_test(closing_ends_a_reader_that_waits),
        cmocka_unit_test(it_may_be_closed_in_its_callback),
        cmocka_unit_test(the_mode_of_the_descriptor_is_left_alone),
        cmocka_unit_test(a_terminal_gives_lines_and_an_end),
        cmocka_unit_test(lines_that_are_there_come_together),
        cmocka_unit_test(a_background_program_waits_for_the_terminal),
        cmocka_unit_test(the_foreground_is_noticed_without_a_word),
    };

    threads_at_start = rig_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
