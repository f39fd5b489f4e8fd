/* Signal handlers that write a message and end the process. The messages are
 * made before, so that a handler only has to write them. */
#include "endpoints/sys/prelude.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "endpoints/sys/clock.h"

enum {
    WORDS_BYTES_MAX = 1024,
    WHAT_BYTES_MAX = 640,
    TELL_MS = 1000,
};

static const int signos[] = {SIGALRM, SIGINT, SIGTERM, SIGHUP};

enum { SIGNALS = sizeof(signos) / sizeof(signos[0]) };

static struct {
    struct sigaction before[SIGNALS];
    sigset_t mask;
    double limit_s;
    /* When the time limit has passed, and when `what` is shown; 0: never. */
    uint64_t limit_ns, tell_ns;
    char told[WORDS_BYTES_MAX], over[WORDS_BYTES_MAX], ended[WORDS_BYTES_MAX];
    pid_t group; /* the group to be killed at the end; 0: none */
    bool is_open;
} prelude;

static void say(const char *words)
{
    ssize_t done = write(STDERR_FILENO, words, strlen(words));

    (void)done;
}

static void end(const char *words, int code)
{
    if (prelude.group > 0)
        kill(-prelude.group, SIGKILL);
    say(words);
    _exit(code);
}

/* Sets the timer for the next of these times. */
static void arm(void)
{
    uint64_t at_ns = prelude.tell_ns, now_ns = ep_clock_ns(), left_us;
    struct itimerval timer = {.it_value = {0}};

    if (at_ns == 0 || (prelude.limit_ns != 0 && prelude.limit_ns < at_ns))
        at_ns = prelude.limit_ns;
    if (at_ns != 0) {
        left_us = at_ns > now_ns ? (at_ns - now_ns) / 1000 + 1 : 1;
        timer.it_value.tv_sec = (time_t)(left_us / 1000000);
        timer.it_value.tv_usec = (suseconds_t)(left_us % 1000000);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_time(void)
{
    uint64_t now_ns = ep_clock_ns();

    if (prelude.limit_ns != 0 && now_ns >= prelude.limit_ns)
        end(prelude.over, EP_PRELUDE_TIMEOUT);
    if (prelude.tell_ns != 0 && now_ns >= prelude.tell_ns) {
        prelude.tell_ns = 0;
        say(prelude.told);
    }
    arm();
}

static void on_signal(int signo)
{
    int err = errno;

    if (signo == SIGALRM) {
        on_time();
        errno = err;
        return;
    }
    end(prelude.ended, 128 + (signo == SIGHUP ? SIGTERM : signo));
}

/* Blocks signals, so that handlers see either a whole change or none of it. */
static void hold_back(bool is_held)
{
    static sigset_t before;
    sigset_t all;

    sigemptyset(&all);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&all, signos[i]);
    if (is_held)
        sigprocmask(SIG_BLOCK, &all, &before);
    else
        sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Makes the messages: the process waits for `what`; NULL: for nothing that
 * takes long. */
static void set_words(const char *what)
{
    const char *shown = what != NULL ? what : "the job ends";
    const char *mark = what != NULL ? ":" : ";";
    int most = WHAT_BYTES_MAX;

    snprintf(prelude.over, sizeof(prelude.over),
             "xylem: timed out after %g s (--timeout)%s %.*s\n",
             prelude.limit_s, mark, most, shown);
    snprintf(prelude.told, sizeof(prelude.told), "xylem: %.*s\n", most, shown);
    prelude.ended[0] = '\0';
    if (what != NULL)
        snprintf(prelude.ended, sizeof(prelude.ended),
                 "xylem: interrupted: %.*s\n", most, what);
}

void ep_prelude_open(double limit_s, uint64_t since_ns)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t alarm_only;

    prelude.limit_s = limit_s;
    prelude.limit_ns = limit_s > 0 ? since_ns + (uint64_t)(limit_s * 1e9) : 0;
    prelude.tell_ns = 0;
    prelude.is_open = true;
    set_words(NULL);
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signos[i], NULL, &prelude.before[i]);
        if (signos[i] == SIGALRM || prelude.before[i].sa_handler != SIG_IGN)
            sigaction(signos[i], &action, NULL);
    }
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm_only, &prelude.mask);
    arm();
}

static void wait_for(const char *what, uint64_t tell_ns)
{
    if (!prelude.is_open)
        return;
    hold_back(true);
    set_words(what);
    prelude.tell_ns = tell_ns;
    arm();
    hold_back(false);
}

void ep_prelude_wait(const char *what)
{
    wait_for(what, ep_clock_ns() + TELL_MS * UINT64_C(1000000));
}

void ep_prelude_go_on(void)
{
    wait_for(NULL, 0);
}

void ep_prelude_group(pid_t group)
{
    hold_back(true);
    prelude.group = group;
    hold_back(false);
}

void ep_prelude_close(void)
{
    static const struct itimerval none = {.it_value = {0}};

    if (!prelude.is_open)
        return;
    prelude.is_open = false;
    setitimer(ITIMER_REAL, &none, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signos[i], &prelude.before[i], NULL);
    sigprocmask(SIG_SETMASK, &prelude.mask, NULL);
}
