/* What the tests of the starter share. */
#include "config.h"

#include "tests/unit/starter_rig.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/spawn/spawner.h"

enum { TOO_LONG_S = 60, PROCS = 1000, JOBS = 100 };

static struct ep_spawner *spawner;
static struct event_base *base;
static char dir[400];
static bool has_ended;
static unsigned exits;
static uint32_t procs = PROCS, jobs = JOBS;

struct ep_starter *rig_st;
char rig_told[65536];
void (*rig_hook)(const char *line);

static void record(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void record(const char *format, ...)
{
    size_t len = strlen(rig_told);
    char *line = rig_told + len;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(rig_told) - len - 1, format, args);
    va_end(args);
    strcat(rig_told, "\n");
    if (rig_hook != NULL)
        rig_hook(line);
    event_base_loopbreak(base);
}

static void on_ready(void *arg, uint32_t index, const struct ep_boot_peer *peer)
{
    (void)arg;
    record("ready %u %u %s %02x", index, peer->node, peer->address,
           peer->nonce[0]);
}

static void on_note(void *arg, uint32_t index, uint32_t node, const char *text)
{
    (void)arg;
    record("note %u of %u %s", index, node, text);
}

static void on_error(void *arg, uint32_t index, const char *text)
{
    (void)arg;
    record("error %u %s", index, text);
}

static void on_stderr(void *arg, uint32_t index, const char *host,
                      const char *line)
{
    (void)arg;
    record("stderr %u %s: %s", index, host == NULL ? "-" : host, line);
}

static void on_exit_told(void *arg, uint32_t index, int status)
{
    (void)arg;
    record("exit %u %x", index, (unsigned)status);
}

static const struct ep_starter_events starter_events = {
    .on_ready = on_ready,
    .on_note = on_note,
    .on_error = on_error,
    .on_stderr = on_stderr,
    .on_exit = on_exit_told,
};

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    (void)arg;
    (void)proc;
    (void)pid;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    (void)arg;
    if (rig_st != NULL)
        ep_starter_failed(rig_st, proc, step, err);
}

static void on_exit_of(void *arg, uint32_t proc, int status, uint64_t at_ns)
{
    (void)arg;
    (void)at_ns;
    exits++;
    if (rig_st != NULL)
        ep_starter_exited(rig_st, proc, status);
    event_base_loopbreak(base);
}

static void on_ended(void *arg)
{
    (void)arg;
    has_ended = true;
    event_base_loopbreak(base);
}

static void on_lost(void *arg)
{
    (void)arg;
    abort();
}

static const struct ep_spawner_events spawner_events = {
    .on_started = on_started,
    .on_failed = on_failed,
    .on_exit = on_exit_of,
    .on_ended = on_ended,
    .on_lost = on_lost,
};

int rig_open(void)
{
    const char *tmp = getenv("TMPDIR");

    signal(SIGPIPE, SIG_IGN);
    if (ep_spawner_open(0, &spawner) != 0)
        return -1;
    base = event_base_new();
    snprintf(dir, sizeof(dir), "%.380s/starter-XXXXXX", tmp ? tmp : "/tmp");
    if (base == NULL || mkdtemp(dir) == NULL)
        return -1;
    return ep_spawner_attach(spawner, base, &spawner_events, NULL);
}

int rig_close(void)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL)
        unlink(rig_path(entry->d_name));
    if (d != NULL)
        closedir(d);
    rmdir(dir);
    ep_spawner_close(spawner);
    event_base_free(base);
    return 0;
}

int rig_enter(void **state)
{
    (void)state;
    memset(rig_told, 0, sizeof(rig_told));
    rig_hook = NULL;
    has_ended = false;
    exits = 0;
    return 0;
}

int rig_leave(void **state)
{
    (void)state;
    ep_starter_close(rig_st);
    rig_st = NULL;
    ep_spawner_end(spawner);
    while (!has_ended)
        event_base_loop(base, EVLOOP_ONCE);
    return 0;
}

const char *rig_path(const char *name)
{
    static char paths[8][1024];
    static unsigned turn;
    char *path = paths[turn++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    return path;
}

const char *rig_script(const char *name, const char *body)
{
    const char *path = rig_path(name);
    const char *ready = strstr(body, "@READY");
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("#!/bin/sh\n", file);
    if (ready != NULL) {
        fwrite(body, 1, (size_t)(ready - body), file);
        fprintf(file, "printf '\\nxylemd-ready %s 5 a:1 " NONCE "\\n'",
                ep_boot_version());
        body = ready + strlen("@READY");
    }
    fputs(body, file);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    fclose(file);
    return path;
}

const char *rig_read(const char *name)
{
    static char text[65536];
    FILE *file = fopen(rig_path(name), "r");
    size_t len = 0;

    if (file != NULL) {
        len = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
    }
    text[len] = '\0';
    return text;
}

/* Opens a starter. Numbers of processes and jobs differ in each test, so that a
 * late report cannot be mistaken for one of another test's process. */
struct ep_starter *rig_start(const char *xylemd, const char *rsh,
                             uint32_t timeout_ms, uint32_t max_parallel)
{
    struct ep_starter_cfg cfg = {
        .base = base,
        .spawner = spawner,
        .xylemd = xylemd,
        .rsh = rsh,
        .launch_timeout_ms = timeout_ms == 0 ? 60000 : timeout_ms,
        .max_parallel = max_parallel,
        .proc_first = procs += PROCS,
        .job_first = jobs += JOBS,
        .events = &starter_events,
    };

    assert_int_equal(ep_starter_open(&cfg, &rig_st), 0);
    return rig_st;
}

void rig_add(uint32_t index, const char *host)
{
    struct text_buf text = {0};

    text_buf_puts(&text, TEXT);
    assert_int_equal(
        ep_starter_add(rig_st, index,
                       host == NULL ? EP_LAUNCHER_LOCAL : EP_LAUNCHER_SSH, host,
                       &text),
        0);
    assert_null(text.at);
}

bool rig_has(const char *words)
{
    return strstr(rig_told, words) != NULL;
}

unsigned rig_count(const char *begin)
{
    unsigned count = 0;

    for (const char *line = rig_told; *line != '\0';
         line = strchr(line, '\n') + 1)
        count += strncmp(line, begin, strlen(begin)) == 0;
    return count;
}

static void on_too_long(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    *(bool *)arg = true;
    event_base_loopbreak(base);
}

/* Turns the loop once; false when nothing has happened for too long. */
static bool turn(void)
{
    struct timeval limit = {.tv_sec = TOO_LONG_S};
    bool is_late = false;
    struct event *timer = event_new(base, -1, 0, on_too_long, &is_late);

    event_add(timer, &limit);
    event_base_loop(base, EVLOOP_ONCE);
    event_free(timer);
    return !is_late;
}

void rig_turn(void)
{
    if (!turn())
        fail_msg("nothing happened any more; told:\n%s", rig_told);
}

void rig_wait_count(const char *begin, unsigned times)
{
    while (rig_count(begin) < times) {
        if (!turn())
            fail_msg("never told: %s; but:\n%s", begin, rig_told);
    }
}

void rig_wait(const char *begin)
{
    rig_wait_count(begin, 1);
}

void rig_wait_exits(unsigned times)
{
    while (exits < times)
        rig_turn();
}
