/* The command that is started beside processes without progress, and when it
 * is. */
#include "config.h"

#include "endpoints/run/beside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/run/voice.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"
#include "tests/unit/plan_rig.h"

enum { SIZE = 20000 };

static struct trial {
    struct run_voice voice;
    struct run_beside *beside;
    struct capture said;
    const struct ep_spawner_events *events;
    void *arg;
    char last[1 << 18]; /* the arguments of the last command */
    unsigned started, closed;
    int rc; /* the result of starting a spawner */
    bool ranks[SIZE];
} t;

/* --- functions that replace the spawner */

static char spawner;

int ep_spawner_exec(const char *path, struct ep_spawner **out)
{
    (void)path;
    *out = t.rc == 0 ? (struct ep_spawner *)&spawner : NULL;
    return t.rc;
}

int ep_spawner_attach(struct ep_spawner *sp, struct event_base *base,
                      const struct ep_spawner_events *events, void *arg)
{
    (void)sp;
    (void)base;
    t.events = events;
    t.arg = arg;
    return 0;
}

int ep_spawner_job(struct ep_spawner *sp, uint32_t job,
                   const struct ep_spawn_job *what)
{
    (void)sp;
    (void)job;
    assert_string_equal(what->program.argv[0], "/proc/self/exe");
    return 0;
}

int ep_spawner_start(struct ep_spawner *sp, const struct ep_spawn_proc *what)
{
    size_t at = 0;

    (void)sp;
    t.last[0] = '\0';
    for (unsigned i = 0; what->args[i] != NULL; i++)
        at += (size_t)snprintf(t.last + at, sizeof(t.last) - at, "%s|",
                               what->args[i]);
    assert_int_equal(what->stdio[1], STDERR_FILENO);
    t.started++;
    return 0;
}

bool ep_spawner_close(struct ep_spawner *sp)
{
    t.closed += sp != NULL;
    return true;
}

/* --- helpers of the tests */

static const char *job_name; /* NULL: it is that of the run itself */

static void begin(const char *command)
{
    const struct run_beside_cfg cfg = {.voice = &t.voice,
                                       .pid = getpid(),
                                       .job = job_name,
                                       .command = command};

    t = (struct trial){.rc = 0};
    assert_int_equal(ep_run_beside_open(&cfg, &t.beside), 0);
}

static void ask(uint32_t first, uint32_t last)
{
    memset(t.ranks, 0, sizeof(t.ranks));
    for (uint32_t rank = first; rank <= last; rank++)
        t.ranks[rank] = true;
    ep_run_beside(t.beside, t.ranks, SIZE);
}

static void end(void)
{
    t.events->on_exit(t.arg, 0, 0, 1);
}

/* Returns the arguments after the number of this process. */
static const char *args(void)
{
    char head[64];

    snprintf(head, sizeof(head), "stack|--pid|%d|", (int)getpid());
    assert_memory_equal(t.last, head, strlen(head));
    return t.last + strlen(head);
}

static void a_command_gets_the_number_behind_it_or_in_its_place(void **state)
{
    (void)state;
    begin("py-spy dump --pid");
    ask(3, 4);
    assert_string_equal(args(),
                        "--ranks|3-4|--|sh|-c|py-spy dump --pid \"$@\"|sh|");
    ep_run_beside_close(t.beside);
    assert_int_equal(t.closed, 1);
    begin("cat /proc/{}/wchan; echo");
    ask(7, 7);
    assert_string_equal(args(), "--ranks|7|--|sh|-c|cat /proc/{}/wchan; echo|");
    ep_run_beside_close(t.beside);
    begin("stack");
    ask(7, 7);
    assert_string_equal(args(), "--ranks|7|");
    ep_run_beside_close(t.beside);
}

static void a_further_job_is_named(void **state)
{
    (void)state;
    job_name = "dvm.7";
    begin("stack");
    job_name = NULL;
    ask(7, 7);
    assert_string_equal(args(), "dvm.7|--ranks|7|");
    ep_run_beside_close(t.beside);
}

static void one_runs_at_a_time(void **state)
{
    (void)state;
    begin("stack");
    ask(3, 3);
    ask(5, 5);
    ask(9, 10);
    assert_int_equal(t.started, 1);
    end();
    assert_int_equal(t.started, 2);
    assert_string_equal(args(), "--ranks|5,9-10|");
    end();
    assert_int_equal(t.started, 2);
    ask(3, 3);
    assert_int_equal(t.started, 3);
    ep_run_beside_close(t.beside);
}

/* The list of every second rank is longer than the kernel's limit on an
 * argument. */
static void more_ranks_than_fit_have_their_turn(void **state)
{
    uint32_t count = 0;

    (void)state;
    begin("stack");
    memset(t.ranks, 0, sizeof(t.ranks));
    for (uint32_t rank = 0; rank < SIZE; rank += 2)
        t.ranks[rank] = true;
    ep_run_beside(t.beside, t.ranks, SIZE);
    for (unsigned started = 0; started < t.started; end()) {
        started = t.started;
        assert_true(strlen(args()) < 128 << 10);
        for (const char *at = args(); *at != '\0'; at++)
            count += *at == ',';
        count++;
    }
    assert_int_equal(count, SIZE / 2);
    ep_run_beside_close(t.beside);
}

static void what_cannot_be_started_is_told_once(void **state)
{
    (void)state;
    begin("stack");
    t.rc = OV_ESYS;
    capture_begin(&t.said);
    ask(3, 3);
    ask(4, 4);
    capture_end(&t.said);
    assert_string_equal(t.said.text,
                        "xylem: cannot run the command of --on-stall beside "
                        "the processes: no process can be started\n");
    ep_run_beside_close(t.beside);
    assert_int_equal(t.closed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_gets_the_number_behind_it_or_in_its_place),
        cmocka_unit_test(a_further_job_is_named),
        cmocka_unit_test(one_runs_at_a_time),
        cmocka_unit_test(more_ranks_than_fit_have_their_turn),
        cmocka_unit_test(what_cannot_be_started_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
