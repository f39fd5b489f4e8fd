/* Clients start jobs as PMIx tools need them: the client says where else the
 * output goes and which part of it comes to the client, and the job may stay
 * when the client leaves. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include <signal.h>

#include "endpoints/client/viewer_impl.h"
#include "job/request.h"
#include "tests/unit/viewers_lab.h"

enum { RECORD = 32 * 1024, HOLD = 1 << 20, BOX = 4 << 20 };

static const uint32_t pids[] = {1, 2};

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab_begin(lab);
    lab_turn(lab);
}

/* Makes a request for two processes of program `a`, without any options. */
static struct job_request plain(const struct job_wish *app)
{
    return (struct job_request){.apps = (struct job_wish *)(uintptr_t)app,
                                .apps_count = 1,
                                .comes = LAB_BOTH,
                                .forwards = LAB_BOTH,
                                .cache_bytes = JOB_CACHE_UNSAID};
}

static const char *const argv[] = {"a", NULL};
static const struct job_wish app = {.program.argv = argv, .procs = 2};

static void ask(struct lab *lab, struct lab_client *client,
                const struct job_request *request)
{
    uint8_t mem[256];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_request_encode(&wr, request);
    assert_false(wr.bad);
    lab_ask(lab, client);
    assert_string_equal(lab_spawn(client, mem, (size_t)(wr.at - mem), false),
                        "");
}

/* Tells the client that it owns the job. */
static void own(struct lab *lab, struct lab_client *client,
                const struct job_request *request)
{
    ask(lab, client, request);
    assert_memory_equal(lab_heard(client), "job own.1 10+2", 14);
    lab_calls(lab);
}

static void run(struct lab *lab)
{
    lab->is_telling = true;
    ep_viewers_started(lab->tap, LAB_BASE, pids, 2);
    lab->is_telling = false;
    lab_job_started(lab, LAB_BASE);
}

static void end_job(struct lab *lab, uint32_t status)
{
    for (uint32_t proc = LAB_BASE; proc < LAB_BASE + 2; proc++) {
        lab_finish(lab, proc, 1);
        lab_finish(lab, proc, 2);
        ep_viewers_exit(lab->tap, proc, status, (struct job_span){0});
    }
    lab_job_ended(lab, LAB_BASE);
}

/* --- what the client requests */

static void its_output_is_as_it_asks(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    request.files = JOB_REQUEST_DIR;
    request.name = "out";
    request.label = TEXT_LABEL_FULL;
    request.format = TEXT_FORMAT_XML;
    request.is_raw = request.has_time = true;
    request.is_shown = request.needs_shown = true;
    request.forwards = 4;
    request.cache_bytes = 99;
    request.keeps_last = request.stall_all = true;
    request.stall_ms = 2500;
    ask(&lab, &client, &request);
    ASSERT_CALLS(&lab,
                 "spawn 2*a, keeps 99 of 4, dir out style 3.2, time, "
                 "raw, shown, needed, last states, watched for 2500 ms, all");
    lab_leave(&client);
    lab_calls(&lab);
    request = plain(&app);
    request.files = JOB_REQUEST_FILE;
    request.name = "f";
    ask(&lab, &client, &request);
    ASSERT_CALLS(&lab, "spawn 2*a, file f style 0.0");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_pattern_of_files_is_looked_at(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    request.files = JOB_REQUEST_PATTERN;
    request.name = "%q";
    ask(&lab, &client, &request);
    ASSERT_HEARD(&client,
                 "unstarted 1 '%q' is not a pattern for names of output files");
    ASSERT_CALLS(&lab, "note a job that a client asked for was refused: "
                       "'%q' is not a pattern for names of output files");
    lab_leave(&client);
    request.name = "%n.%r";
    ask(&lab, &client, &request);
    ASSERT_CALLS(&lab, "spawn 2*a, pattern %n.%r style 0.0");
    lab_leave(&client);
    lab_close(&lab);
}

static void those_that_watch_hear_what_it_forwards(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client, watcher;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_watch(&lab, &watcher);
    lab_heard(&watcher);
    request.forwards = 4 | 8; /* the client asks for stddiag, which the job does
                               * not have */
    ask(&lab, &client, &request);
    ASSERT_HEARD(&client, "job own.1 10+2 channels 6 parts 1 push 4096");
    ASSERT_HEARD(&watcher, "begun own.1 10+2 channels 12");
    lab_job_begun(&lab, "own.2", 20, 1,
                  0); /* the job belongs to another client */
    ASSERT_HEARD(&watcher, "begun own.2 20+1 channels 14");
    lab_leave(&client);
    lab_leave(&watcher);
    lab_close(&lab);
}

/* --- output that the client gets */

static void only_what_it_names_comes(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client, none;
    struct lab lab;

    (void)state;
    begin(&lab);
    request.comes = 4;
    own(&lab, &client, &request);
    request.comes = 0;
    ask(&lab, &none, &request);
    lab_heard(&none);
    lab_write(&lab, LAB_BASE, 1, "out");
    lab_write(&lab, LAB_BASE, 2, "err");
    lab_write(&lab, LAB_BASE + 2, 2, "other");
    lab_finish(&lab, LAB_BASE, 1);
    lab_finish(&lab, LAB_BASE, 2);
    ASSERT_HEARD(&client, "10.2 'err'; 10.2 end");
    assert_false(ep_viewers_wants(lab.tap, LAB_BASE, 1));
    assert_true(ep_viewers_wants(lab.tap, LAB_BASE, 2));
    assert_false(ep_viewers_wants(lab.tap, LAB_BASE + 2, 2));
    lab_job_started(&lab, LAB_BASE + 2);
    ASSERT_HEARD(&none, "started");
    lab_leave(&client);
    lab_leave(&none);
    lab_close(&lab);
}

static void fill(struct lab *lab, unsigned bytes)
{
    static const uint8_t mem[RECORD];

    for (unsigned at = 0; at < bytes; at += RECORD)
        lab_put(lab, LAB_BASE, 1, mem, RECORD, false);
    lab_turn(lab);
}

/* The client misses some output and is told how much; no process waits. */
static void a_job_that_does_not_wait_goes_on(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client;
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    uint64_t heard = 0, dropped = 0;
    struct job_door msg;
    struct lab lab;

    (void)state;
    begin(&lab);
    own(&lab, &client, &request);
    fill(&lab, 2 * BOX);
    ASSERT_CALLS(&lab, "");
    assert_true(ep_outbox_bytes(client.viewer->box) <= BOX);
    while ((msg = lab_next(&client, mem)).kind == JOB_DOOR_OUTPUT) {
        heard += ov_rd_left(&msg.rest);
        dropped += msg.dropped_bytes;
    }
    assert_int_equal(heard + dropped, 2 * BOX);
    assert_true(dropped > 0 && heard > BOX / 2);
    lab_leave(&client);
    lab_close(&lab);
}

static void one_that_waits_is_held(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    request.waits = true;
    own(&lab, &client, &request);
    fill(&lab, 2 * HOLD);
    ASSERT_CALLS(&lab, "hold 10-11");
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 10/1; go on 10-11; signal 15 10-11");
    lab_close(&lab);
}

/* --- the end of the job */

static void a_job_that_is_kept_goes_on_alone(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client, watcher;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_watch(&lab, &watcher);
    request.is_kept = request.waits = true;
    own(&lab, &client, &request);
    run(&lab);
    assert_string_equal(
        lab_say(&client,
                (struct job_door){.kind = JOB_DOOR_SIGNAL, .status = SIGUSR1}),
        "");
    ASSERT_CALLS(&lab, "signal 10 10-11");
    fill(&lab, 2 * HOLD);
    ASSERT_CALLS(&lab, "hold 10-11");
    lab_leave(&client);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 10/1; go on 10-11");
    lab_heard(&watcher);
    end_job(&lab, 0);
    ASSERT_HEARD(&watcher, "over 10");
    lab_leave(&watcher);
    lab_close(&lab);
}

static void one_that_is_not_ends_with_its_client(void **state)
{
    struct job_request request = plain(&app);
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    own(&lab, &client, &request);
    run(&lab);
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 10/1; signal 15 10-11");
    lab_close(&lab);
}

/* --- messages for the user */

static void the_user_is_told_what_it_says(void **state)
{
    static const struct {
        bool says_stages, says_end;
        const char *calls;
    } cases[] = {
        {false, false, ""},
        {false, true, "say PMIX_EVENT_JOB_END of own.1: rank 0 returned 3"},
        {true, false,
         "say PMIX_EVENT_JOB_START of own.1: a first process runs; "
         "say PMIX_LAUNCH_COMPLETE of own.1: 2 processes run; "
         "say PMIX_EVENT_JOB_END of own.1: rank 0 returned 3"},
    };
    struct lab_client client;
    struct lab lab;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job_request request = plain(&app);

        begin(&lab);
        request.says_stages = cases[i].says_stages;
        request.says_end = cases[i].says_end;
        own(&lab, &client, &request);
        run(&lab);
        end_job(&lab, 3 << 8);
        ASSERT_CALLS(&lab, cases[i].calls);
        lab_leave(&client);
        lab_close(&lab);
    }
}

static void the_user_is_told_how_a_job_ends(void **state)
{
    static const struct {
        uint32_t status;
        const char *calls;
    } cases[] = {
        {0, "say PMIX_EVENT_JOB_END of own.1: 2 processes returned 0"},
        {9, "say PMIX_EVENT_JOB_END of own.1: rank 0 was ended by signal 9"},
    };
    struct job_request request = plain(&app);
    struct lab_client client;
    struct lab lab;

    (void)state;
    request.says_end = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(&lab);
        own(&lab, &client, &request);
        run(&lab);
        end_job(&lab, cases[i].status);
        ASSERT_CALLS(&lab, cases[i].calls);
        lab_leave(&client);
        lab_close(&lab);
    }
    begin(&lab);
    own(&lab, &client, &request);
    run(&lab);
    ep_viewers_exit(lab.tap, LAB_BASE, 0, (struct job_span){0});
    (void)ep_viewers_flush(lab.tap);
    ASSERT_CALLS(&lab, "say PMIX_EVENT_JOB_END of own.1: how 1 of 2 "
                       "processes ended is not known");
    lab_leave(&client);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_output_is_as_it_asks),
        cmocka_unit_test(a_pattern_of_files_is_looked_at),
        cmocka_unit_test(those_that_watch_hear_what_it_forwards),
        cmocka_unit_test(only_what_it_names_comes),
        cmocka_unit_test(a_job_that_does_not_wait_goes_on),
        cmocka_unit_test(one_that_waits_is_held),
        cmocka_unit_test(a_job_that_is_kept_goes_on_alone),
        cmocka_unit_test(one_that_is_not_ends_with_its_client),
        cmocka_unit_test(the_user_is_told_what_it_says),
        cmocka_unit_test(the_user_is_told_how_a_job_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
