/* Clients start jobs: requests arrive as the clients made them, and the clients
 * are told whether the job begins. */
#include "endpoints/client/viewers.h"

#include <errno.h>
#include <stdlib.h>

#include "job/request.h"
#include "tests/unit/viewers_lab.h"

static const char *const no_job =
    "SPAWN cannot be read as a job, or there is no memory for it";
static const char *const one_job =
    "a client can either start one job or attach to one";
static const char *const too_early = "a client must wait until it has a job "
                                     "before it sends requests";

struct bytes {
    uint8_t *mem; /* owned */
    size_t len_bytes;
};

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab->is_dvm = true;
    lab_begin(lab);
    lab_turn(lab); /* no client has made a request before */
}

static struct bytes encode(const struct job_request *request)
{
    struct bytes out = {.len_bytes = job_request_bytes(request)};
    struct ov_wr wr;

    out.mem = malloc(out.len_bytes);
    assert_non_null(out.mem);
    wr = ov_wr_init(out.mem, out.len_bytes);
    job_request_encode(&wr, request);
    assert_true(!wr.bad && wr.at == out.mem + out.len_bytes);
    return out;
}

/* Makes a request for this many processes of a program whose command line is
 * one word. */
static struct bytes request(const char *program, uint32_t procs)
{
    const char *const argv[] = {program, NULL};
    struct job_wish app = {.program.argv = argv, .procs = procs};

    return encode(&(struct job_request){.apps = &app,
                                        .apps_count = 1,
                                        .waits = true,
                                        .comes = LAB_BOTH,
                                        .forwards = LAB_BOTH,
                                        .cache_bytes = JOB_CACHE_UNSAID});
}

/* Sends the request in pieces of this size. Returns the error message, as
 * lab_spawn() does. */
static const char *say(struct lab_client *client, const struct bytes *bytes,
                       size_t piece)
{
    const char *why = "";

    for (size_t at = 0; at < bytes->len_bytes && why[0] == '\0'; at += piece) {
        size_t left = bytes->len_bytes - at;
        size_t len = left < piece ? left : piece;

        why = lab_spawn(client, bytes->mem + at, len, len < left);
    }
    return why;
}

static const char *ask(struct lab_client *client, const char *program,
                       uint32_t procs)
{
    struct bytes bytes = request(program, procs);
    const char *why = say(client, &bytes, JOB_DOOR_REST_MAX);

    free(bytes.mem);
    return why;
}

/* --- the contents of requests */

static const char *const cat[] = {"cat", "-u", NULL};
static const char *const env[] = {"A=b", "C=d"};

static struct bytes large_request(void)
{
    const char *const yes[] = {"yes", NULL};
    const struct job_env envs[] = {{JOB_ENV_SET, 0, env[0]},
                                   {JOB_ENV_ADD, 0, env[1]}};
    struct job_wish apps[] = {
        {.program = {.argv = cat, .cwd = "/x"},
         .env = envs,
         .env_count = 2,
         .procs = 3},
        {.program.argv = yes, .procs = 2, .hosts = "h1,h2"},
    };

    return encode(&(struct job_request){.apps = apps,
                                        .apps_count = 2,
                                        .has_stddiag = true,
                                        .merges_stderr = true,
                                        .has_stdin = true,
                                        .waits = true,
                                        .reader = 4,
                                        .comes = LAB_BOTH | 8,
                                        .forwards = LAB_BOTH | 8,
                                        .cache_bytes = JOB_CACHE_UNSAID});
}

static void a_job_is_what_was_asked_for(void **state)
{
    static const size_t pieces[] = {1, 7, JOB_DOOR_REST_MAX};
    struct bytes bytes = large_request();

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct lab_client client;
        struct lab lab;

        begin(&lab);
        lab_ask(&lab, &client);
        assert_string_equal(say(&client, &bytes, pieces[i]), "");
        ASSERT_CALLS(&lab, "spawn 3*cat,-u A=b C=d in /x 2*yes on h1,h2, "
                           "4 reads, stddiag, merged");
        ASSERT_HEARD(&client, "job own.1 10+5 channels 14 parts 1 push 4096");
        lab_leave(&client);
        lab_close(&lab);
    }
    free(bytes.mem);
}

static void what_is_not_asked_for_is_not_there(void **state)
{
    const char *const argv[] = {"true", NULL};
    struct job_wish app = {.program.argv = argv, .procs = 2};
    struct job_request all = {.apps = &app,
                              .apps_count = 1,
                              .has_stdin = true,
                              .waits = true,
                              .reader = JOB_READERS_ALL,
                              .comes = LAB_BOTH,
                              .forwards = LAB_BOTH,
                              .cache_bytes = JOB_CACHE_UNSAID};
    struct bytes bytes = encode(&all);
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_ask(&lab, &one);
    assert_string_equal(ask(&one, "true", 2), "");
    ASSERT_CALLS(&lab, "spawn 2*true");
    lab_ask(&lab, &other);
    assert_string_equal(say(&other, &bytes, 100), "");
    ASSERT_CALLS(&lab, "spawn 2*true, all read");
    ASSERT_HEARD(&one, "job own.1 10+2 channels 6 parts 1 push 4096");
    ASSERT_HEARD(&other, "job own.2 12+2 channels 6 parts 1 push 4096");
    lab_leave(&one);
    lab_leave(&other);
    free(bytes.mem);
    lab_close(&lab);
}

/* A request has the greatest allowed length, and then one byte more. */
static void a_request_has_a_limit(void **state)
{
    char *word = calloc(1, JOB_REQUEST_BYTES_MAX + 1);
    struct bytes bytes = request("", 1);
    struct lab_client client;
    struct lab lab;

    (void)state;
    memset(word, 'x', JOB_REQUEST_BYTES_MAX - bytes.len_bytes);
    begin(&lab);
    lab_ask(&lab, &client);
    assert_string_equal(ask(&client, word, 1), "");
    assert_memory_equal(lab_calls(&lab), "spawn 1*xxx", 11);
    lab_leave(&client);
    lab_calls(&lab);
    word[strlen(word)] = 'x';
    lab_ask(&lab, &client);
    assert_string_equal(
        ask(&client, word, 1),
        "the job has too many bytes of arguments and environment");
    ASSERT_CALLS(&lab, "");
    lab_leave(&client);
    free(bytes.mem);
    free(word);
    lab_close(&lab);
}

static void what_is_no_job_is_refused(void **state)
{
    struct bytes bytes = large_request();
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    for (size_t len = 1; len < bytes.len_bytes; len++) {
        lab_ask(&lab, &client);
        assert_string_equal(lab_spawn(&client, bytes.mem, len, false), no_job);
        lab_leave(&client);
    }
    lab_ask(&lab, &client);
    assert_string_equal(lab_spawn(&client, bytes.mem, bytes.len_bytes, true),
                        "");
    assert_string_equal(lab_spawn(&client, bytes.mem, 1, false), no_job);
    lab_leave(&client);
    bytes.mem[1] = 0x80; /* a flag that does not exist */
    lab_ask(&lab, &client);
    assert_string_equal(say(&client, &bytes, bytes.len_bytes), no_job);
    lab_leave(&client);
    ASSERT_CALLS(&lab, "");
    free(bytes.mem);
    lab_close(&lab);
}

/* --- before the tap is open */

/* The launcher knows of the tap only after open() has returned. */
static void who_asks_early_starts_when_the_tap_is_open(void **state)
{
    struct bytes bytes = request("late", 2);
    struct lab_client one, other, late, broken, gone;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.is_dvm = true;
    lab_ask(&lab, &one);
    lab_ask(&lab, &broken);
    lab_ask(&lab, &other);
    lab_ask(&lab, &gone);
    lab_ask(&lab, &late);
    assert_string_equal(ask(&other, "b", 1), "");
    assert_string_equal(ask(&one, "a", 1), "");
    assert_string_equal(ask(&gone, "c", 1), "");
    assert_string_equal(lab_spawn(&broken, bytes.mem, 3, false), "");
    assert_string_equal(lab_spawn(&late, bytes.mem, 3, true), "");
    lab_leave(&gone);
    ASSERT_HEARD(&one, "");
    lab_begin(&lab);
    ASSERT_CALLS(&lab, "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "spawn 1*a; spawn 1*b");
    ASSERT_HEARD(&one, "job own.1 10+1 channels 6 parts 1 push 4096");
    ASSERT_HEARD(&other, "job own.2 11+1 channels 6 parts 1 push 4096");
    assert_true(broken.is_cut);
    assert_string_equal(broken.why, no_job);
    assert_string_equal(
        lab_spawn(&late, bytes.mem + 3, bytes.len_bytes - 3, false), "");
    ASSERT_HEARD(&late, "job own.3 12+2 channels 6 parts 1 push 4096");
    lab_leave(&one);
    lab_leave(&other);
    lab_leave(&late);
    lab_leave(&broken);
    free(bytes.mem);
    lab_close(&lab);
}

static void who_asks_early_can_be_refused(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.spawns_max = 0;
    lab_ask(&lab, &client);
    assert_string_equal(ask(&client, "a", 1), "");
    lab_begin(&lab);
    ASSERT_HEARD(&client, "unstarted 1 out of memory");
    assert_false(client.is_cut);
    lab_leave(&client);
    lab_close(&lab);
}

/* A job that one launch has put off is requested from the next launch. */
static void who_waits_does_so_over_launches(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.spawns_max = 0;
    lab.refusal = EP_CLIENT_LATER;
    lab_ask(&lab, &client);
    assert_string_equal(ask(&client, "a", 1), "");
    ASSERT_CALLS(&lab, "spawn 1*a");
    lab_end(&lab);
    assert_false(client.is_cut);
    lab.spawns_max = 1;
    lab_begin(&lab);
    ASSERT_HEARD(&client, "job own.1 10+1 channels 6 parts 1 push 4096");
    lab_calls(&lab);
    lab_end(&lab); /* its owner is disconnected, and the launcher is told
                    * nothing */
    assert_true(client.is_cut);
    ASSERT_CALLS(&lab, "");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- jobs that are put off or refused */

static void again(const struct lab *lab)
{
    ep_viewers_again(lab->tap);
}

/* The request for a job that is to be kept waits without its client, also from
 * one launch to the next. */
static void what_is_to_be_kept_is_left(void **state)
{
    const char *const argv[] = {"k", NULL};
    struct job_wish app = {.program.argv = argv, .procs = 1};
    const struct job_request kept = {.apps = &app,
                                     .apps_count = 1,
                                     .is_kept = true,
                                     .forwards = LAB_BOTH,
                                     .cache_bytes = JOB_CACHE_UNSAID};
    struct bytes bytes = encode(&kept);
    struct lab_client clients[3];
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.spawns_max = 0;
    lab.refusal = EP_CLIENT_LATER;
    for (unsigned i = 0; i < 3; i++) {
        lab_ask(&lab, &clients[i]);
        assert_string_equal(say(&clients[i], &bytes, bytes.len_bytes), "");
    }
    free(bytes.mem);
    lab_calls(&lab);
    for (unsigned i = 0; i < 3; i++)
        lab_leave(&clients[i]);
    lab_end(&lab);
    lab_begin(&lab);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "spawn 1*k; spawn 1*k; spawn 1*k");
    lab.spawns_max = 1;
    again(&lab);
    ASSERT_CALLS(&lab, "spawn 1*k; spawn 1*k; spawn 1*k");
    lab.refusal = EP_CLIENT_BLIND;
    lab.why = "h1 is blind";
    again(&lab);
    again(&lab);
    ASSERT_CALLS(&lab, "spawn 1*k; note a job that a client asked for was "
                       "refused: h1 is blind; spawn 1*k; note a job that a "
                       "client asked for was refused: h1 is blind");
    lab_close(&lab);
}

static void what_is_put_off_is_tried_in_order(void **state)
{
    struct lab_client clients[4];
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.spawns_max = 0;
    lab.refusal = EP_CLIENT_LATER;
    for (unsigned i = 0; i < 4; i++) {
        const char name[] = {(char)('a' + i), '\0'};

        lab_ask(&lab, &clients[i]);
        assert_string_equal(ask(&clients[i], name, 2), "");
        ASSERT_HEARD(&clients[i], "");
    }
    ASSERT_CALLS(&lab, "spawn 2*a; spawn 2*b; spawn 2*c; spawn 2*d");
    lab_leave(&clients[1]);
    lab.spawns_max = 1;
    again(&lab);
    ASSERT_CALLS(&lab, "spawn 2*a; spawn 2*c; spawn 2*d");
    ASSERT_HEARD(&clients[0], "job own.1 10+2 channels 6 parts 1 push 4096");
    ASSERT_HEARD(&clients[2], "");
    lab.spawns_max = 2;
    again(&lab);
    ASSERT_CALLS(&lab, "spawn 2*c; spawn 2*d");
    lab.refusal = EP_CLIENT_BLIND;
    lab.why = "h1 is blind";
    again(&lab);
    ASSERT_CALLS(&lab, "spawn 2*d; note a job that a client asked for was "
                       "refused: h1 is blind");
    again(&lab);
    ASSERT_CALLS(&lab, "");
    ASSERT_HEARD(&clients[2], "job own.2 12+2 channels 6 parts 1 push 4096");
    ASSERT_HEARD(&clients[3], "unstarted 5 h1 is blind");
    lab_leave(&clients[0]);
    lab_leave(&clients[2]);
    lab_leave(&clients[3]);
    lab_close(&lab);
}

static void a_refusal_says_why(void **state)
{
    static const struct {
        enum ep_client_refusal refusal;
        enum job_door_reason reason;
    } cases[] = {
        {EP_CLIENT_NO_ROOM, JOB_DOOR_NO_ROOM},
        {EP_CLIENT_NO_HOST, JOB_DOOR_NO_HOST},
        {EP_CLIENT_NO_GROWTH, JOB_DOOR_NO_GROWTH},
        {EP_CLIENT_BAD_HOSTS, JOB_DOOR_BAD_HOSTS},
        {EP_CLIENT_NO_READER, JOB_DOOR_NO_READER},
        {EP_CLIENT_BLIND, JOB_DOOR_BLIND},
    };
    struct lab_client client;
    struct lab lab;
    char why[16];

    (void)state;
    begin(&lab);
    lab.spawns_max = 0;
    lab_ask(&lab, &client);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[96];

        snprintf(why, sizeof(why), "reason %zu", i);
        lab.refusal = cases[i].refusal;
        lab.why = why;
        assert_string_equal(ask(&client, "a", 1), "");
        snprintf(text, sizeof(text), "unstarted %u %s", cases[i].reason, why);
        ASSERT_HEARD(&client, text);
        snprintf(
            text, sizeof(text),
            "spawn 1*a; note a job that a client asked for was refused: %s",
            why);
        ASSERT_CALLS(&lab, text);
    }
    lab.spawns_max = 1; /* the client may make another request */
    assert_string_equal(ask(&client, "b", 1), "");
    ASSERT_HEARD(&client, "job own.1 10+1 channels 6 parts 1 push 4096");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- processes that cannot be started */

static void tell_failed(struct lab *lab, uint32_t rank, const char *step,
                        int err)
{
    ep_viewers_job(lab->tap,
                   &(struct ep_client_job){.event = EP_CLIENT_JOB_FAILED,
                                           .base = LAB_BASE,
                                           .size = 2,
                                           .rank = rank,
                                           .step = step,
                                           .subject = "it",
                                           .err = err});
}

static void a_process_that_cannot_be_started_is_told(void **state)
{
    static const struct {
        const char *step;
        int err;
        enum job_door_reason reason;
    } cases[] = {
        {"chdir", ENOENT, JOB_DOOR_NO_DIR},
        {"chdir", EACCES, JOB_DOOR_NO_DIR},
        {"exec", ENOENT, JOB_DOOR_NO_PROGRAM},
        {"exec", EACCES, JOB_DOOR_NO_EXEC},
        {"exec", ENOEXEC, JOB_DOOR_NO_EXEC},
        {"fork", ENOENT, JOB_DOOR_FAILED},
        {"fork", EAGAIN, JOB_DOOR_FAILED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256], why[128];
        struct lab_client client;
        struct lab lab;

        begin(&lab);
        lab_ask(&lab, &client);
        assert_string_equal(ask(&client, "a", 2), "");
        lab_calls(&lab);
        tell_failed(&lab, 1, cases[i].step, cases[i].err);
        snprintf(why, sizeof(why), "rank 1: %s of 'it': %s", cases[i].step,
                 strerror(cases[i].err));
        snprintf(text, sizeof(text),
                 "note a job that a client asked for could not be started: %s",
                 why);
        ASSERT_CALLS(&lab, text);
        ep_viewers_exit(lab.tap, LAB_BASE + 1, 127 << 8, (struct job_span){0});
        ep_viewers_exit(lab.tap, LAB_BASE, 9, (struct job_span){0});
        lab_job_ended(&lab, LAB_BASE);
        snprintf(text, sizeof(text),
                 "job own.1 10+2 channels 6 parts 1 push 4096; "
                 "unstarted %u %s; ended 10 of 2 failed, status 9",
                 cases[i].reason, why);
        ASSERT_HEARD(&client, text);
        lab_leave(&client);
        ASSERT_CALLS(&lab, "left 10/1");
        lab_close(&lab);
    }
}

/* --- requests at the wrong time */

static void a_client_starts_one_job(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_ask(&lab, &client);
    assert_string_equal(lab_pull(&client, LAB_BOTH), too_early);
    lab_leave(&client);
    lab_ask(&lab, &client);
    assert_string_equal(
        lab_say(&client, (struct job_door){.kind = JOB_DOOR_ATTACH}),
        "a client that attaches to a job or starts one must "
        "not send this request");
    lab_leave(&client);
    lab.spawns_max = 0;
    lab.refusal = EP_CLIENT_LATER;
    lab_ask(&lab, &client);
    assert_string_equal(ask(&client, "a", 1), "");
    assert_string_equal(ask(&client, "b", 1), one_job);
    lab_leave(&client);
    lab_ask(&lab, &client);
    assert_string_equal(ask(&client, "a", 1), "");
    assert_string_equal(
        lab_say(&client,
                (struct job_door){.kind = JOB_DOOR_SIGNAL, .status = 15}),
        too_early);
    lab_leave(&client);
    lab_job(&lab, "further", 5, 2, 0);
    lab_attach(&lab, &client, "further");
    assert_string_equal(ask(&client, "a", 1), one_job);
    lab_leave(&client);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_what_was_asked_for),
        cmocka_unit_test(what_is_not_asked_for_is_not_there),
        cmocka_unit_test(a_request_has_a_limit),
        cmocka_unit_test(what_is_no_job_is_refused),
        cmocka_unit_test(who_asks_early_starts_when_the_tap_is_open),
        cmocka_unit_test(who_asks_early_can_be_refused),
        cmocka_unit_test(who_waits_does_so_over_launches),
        cmocka_unit_test(what_is_put_off_is_tried_in_order),
        cmocka_unit_test(what_is_to_be_kept_is_left),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(a_process_that_cannot_be_started_is_told),
        cmocka_unit_test(a_client_starts_one_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
