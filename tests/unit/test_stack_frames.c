/* Reading the texts of gdb and eu-stack. Both programs have written these
 * texts, which only have shorter paths here. */
#include "commands/stack/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

static char seen[32768];
static uint32_t most;

static void put(const char *text, uint32_t len)
{
    const size_t at = strlen(seen);

    snprintf(seen + at, sizeof(seen) - at, "%.*s", (int)len, text);
}

/* Adds a chain as "outer@file:line>inner;". */
static void on_chain(void *arg, const struct stack_frame *frames,
                     uint32_t count)
{
    (void)arg;
    most = count > most ? count : most;
    for (uint32_t i = 0; i < count; i++) {
        char line[16];

        put(frames[i].name, frames[i].name_bytes);
        if (frames[i].file != NULL) {
            put("@", 1);
            put(frames[i].file, frames[i].file_bytes);
        }
        snprintf(line, sizeof(line), ":%u", frames[i].line);
        if (frames[i].line > 0)
            put(line, (uint32_t)strlen(line));
        put(i + 1 < count ? ">" : ";", 1);
    }
}

static const char *chains(const char *text)
{
    seen[0] = '\0';
    (void)stack_frames_read(text, strlen(text), on_chain, NULL);
    return seen;
}

/* Threads, arguments, a library without source, a signal, and lines beside the
 * chains. */
static void chains_of_gdb_are_read(void **state)
{
    (void)state;
    assert_string_equal(
        chains("[New LWP 7]\n"
               "0x00007fce in pause () at ../sysdeps/pause.c:29\n"
               "29\t../sysdeps/pause.c: No such file or directory.\n"
               "\n"
               "Thread 2 (Thread 0x7fce (LWP 7) \"p\"):\n"
               "#0  0x00007fce in pause () at ../sysdeps/pause.c:29\n"
               "#1  <signal handler called>\n"
               "#2  0x000055dc in th (p=...) at /src/my p.c:5\n"
               "#3  0x00007fce in ?? () from /lib/libc.so.6\n"
               "\n"
               "Thread 1 (Thread 0x7fcf (LWP 6) \"p\"):\n"
               "#0  solve (n=<optimized out>) at p.c:4\n"
               "#1  0x000055dc in main ()\n"
               "#2  0x00007fcd in __libc_start_call_main (main=0x1) at s.h:58\n"
               "#3  0x00007fcd in __libc_start_main_impl () at s.c:360\n"
               "#4  0x000055dc in _start ()\n"
               "[Inferior 1 (process 6) detached]\n"),
        "?\?@/lib/libc.so.6>th@/src/my p.c:5><signal handler called>"
        ">pause@../sysdeps/pause.c:29;main>solve@p.c:4;");
}

/* Names of C++ contain blanks and parentheses, as arguments do. */
static void names_of_cplusplus_are_whole(void **state)
{
    (void)state;
    assert_string_equal(
        chains("#0  0x1 in std::function<void (int)>::operator()(int) const "
               "(this=...) at f.h:9\n"
               "#1  0x2 in (anonymous namespace)::run<a (*)(b)> (f=0x3 <g(h)>) "
               "at r.cc:1\n"
               "#2  0x3 in operator new(unsigned long) () from /lib/l.so\n"),
        "operator new(unsigned long)@/lib/l.so>"
        "(anonymous namespace)::run<a (*)(b)>@r.cc:1>"
        "std::function<void (int)>::operator()(int) const@f.h:9;");
}

static void chains_of_eu_stack_are_read(void **state)
{
    (void)state;
    assert_string_equal(
        chains("eu-stack: tid 6: shown max number of frames (2)\n"
               "PID 6 - process\n"
               "TID 6:\n"
               "#0  0x00007fcea8f55df2 clock_nanosleep@GLIBC_2.2.5\n"
               "    ../sysdeps/clock_nanosleep.c:71:10\n"
               "#1  0x000055dc6a8ab151 ns::f(int) const\n"
               "    /src/p.c:3\n"
               "#2  0x000055e1e97d64af\n"
               "#3  0x00007fcea8ea9305 __libc_start_main@@GLIBC_2.34\n"
               "    ../csu/libc-start.c:360:3\n"
               "#4  0x000055dc6a8ab081 _start\n"
               "TID 7:\n"
               "#0  0x00007fcea8f55df2 pause\n"
               "    no place\n"
               "    a.c:1:1\n"),
        "?\?>ns::f(int) const@/src/p.c:3>"
        "clock_nanosleep@../sysdeps/clock_nanosleep.c:71;pause;");
}

/* Lines that only look like frames are ignored. */
static void other_lines_mean_nothing(void **state)
{
    (void)state;
    assert_string_equal(chains(""), "");
    assert_string_equal(chains("#\n# 0\n#x\n#0\n#0x1 f\n 0 #0  f ()\n"), "");
    assert_string_equal(chains("#99999999999 f ()\n#0 "), "");
    assert_string_equal(chains("#0  \n#1  (\n#2  ()\n#3  x"), "x>()>(;");
}

/* Both ends of a recursion that is deeper than the limit are kept. */
static void a_long_chain_has_its_two_ends(void **state)
{
    static char text[STACK_FRAMES_ASKED * 2 * 24];
    size_t at = 0;

    (void)state;
    for (int i = 0; i < 500; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "#%d  f%d ()\n", i,
                               i);
    most = 0;
    assert_true(strncmp(chains(text), "f499>f498>", 10) == 0);
    assert_non_null(strstr(seen, "f380>...>f117>"));
    assert_non_null(strstr(seen, ">f1>f0;"));
    assert_int_equal(most, STACK_FRAMES_MAX - 1);
    at = 0;
    for (int i = 0; i < STACK_FRAMES_ASKED + 1; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "#%d  f ()\n", i);
    assert_true(strncmp(chains(text), "...>f>f>", 8) == 0);
    assert_int_equal(most, STACK_FRAMES_MAX);
}

/* Any bytes are read, in memory that ends with them, so that a sanitizer sees
 * reads beyond them. */
static void any_bytes_are_read(void **state)
{
    static const char *const words[] = {
        "#",       "0",      "#0  ",
        "#1  ",    "0x",     "0x1f ",
        "in ",     " (",     ")",
        "at ",     ") at ",  ":",
        ":7",      " from ", "\n",
        "\n#0 ",   "f",      "@",
        "??",      "    ",   "\t",
        "\r\n",    "<f(g)>", "a.c:1:2",
        "#9999",   "_start", "__libc_start_main",
        ") from ", "((",     "))"};
    struct chance chance = chance_start(3);

    (void)state;
    for (int turn = 0; turn < 20000; turn++) {
        char text[256], *copy;
        size_t len = 0, left = chance_in(&chance, 0, sizeof(text) - 24);

        while (len < left) {
            const char *word = words[chance_in(
                &chance, 0, sizeof(words) / sizeof(words[0]) - 1)];

            if (chance_is(&chance, 10))
                text[len++] = (char)chance_in(&chance, 0, 255);
            else
                len += (size_t)sprintf(text + len, "%s", word);
        }
        copy = malloc(len + (len == 0));
        assert_non_null(copy);
        memcpy(copy, text, len);
        seen[0] = '\0';
        (void)stack_frames_read(copy, len, on_chain, NULL);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_gdb_are_read),
        cmocka_unit_test(names_of_cplusplus_are_whole),
        cmocka_unit_test(chains_of_eu_stack_are_read),
        cmocka_unit_test(other_lines_mean_nothing),
        cmocka_unit_test(a_long_chain_has_its_two_ends),
        cmocka_unit_test(any_bytes_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
