/* A request for a job has the bytes that job/request.h draws, and other bytes
 * are refused. */
#include "job/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/job.h"
#include "overlay/base/err.h"
#include "text/style.h"

enum {
    BYTES_MAX = 128,
    HEAD_BYTES = 32,
    FLAGS = 15,
    FLAGS_AT = 0,
    COMES_AT = 6,
    FORWARDS_AT = 7,
    FILES_AT = 24,
    LABEL_AT = 25,
    FORMAT_AT = 26,
    NAME_AT = 27,
    COUNT_AT = 29,   /* the position of the count, after a name of one byte */
    EMPTY_BYTES = 64 /* more bytes than the shortest program has */
};

static const char drawn[] = "\15\14\2\0\0\0"
                            /* stdout goes to the client, both channels can be
                             * pulled: 256 bytes of each are kept */
                            "\2\6\0\1\0\0"
                            /* 9 bytes are gathered for at most 3 s */
                            "\11\0\0\0\3\0\0\0"
                            /* processes that stall are told after 2.5 s */
                            "\304\11\0\0"
                            /* files that begin with f, with labels, as XML */
                            "\2\1\2f\0\2\0\0\0"
                            /* the program ls, two processes */
                            "\2\0\0\0\0\0\0\0\0\0\0"
                            "\1\0\0\0ls\0"
                            "\0\0\0\0\0\0\0\0\0"
                            /* the program pwd in /x with A=b, one process on
                             * each node */
                            "\0\0\0\0\1\0\0\0\0\1/x\0"
                            "\1\0\0\0pwd\0"
                            "\1\0\0\0\0\0A=b\0\0a\0\0\0";

static const char *const ls[] = {"ls", NULL}, *const pwd[] = {"pwd", NULL};
static const struct job_env env[] = {{JOB_ENV_SET, 0, "A=b"}};

static void a_job_has_the_bytes_that_are_drawn(void **state)
{
    struct job_wish apps[] = {
        {.program = {.argv = ls}, .procs = 2},
        {.program = {.argv = pwd, .cwd = "/x", .cwd_is_optional = true},
         .env = env,
         .env_count = 1,
         .ppn = 1,
         .hosts = "a"},
    };
    const struct job_request request = {.apps = apps,
                                        .apps_count = 2,
                                        .has_stddiag = true,
                                        .has_stdin = true,
                                        .is_kept = true,
                                        .has_time = true,
                                        .reader = 2,
                                        .comes = 2,
                                        .forwards = 6,
                                        .drops_oldest = true,
                                        .cache_bytes = 256,
                                        .buffer_bytes = 9,
                                        .buffer_s = 3,
                                        .stall_ms = 2500,
                                        .files = JOB_REQUEST_FILE,
                                        .label = TEXT_LABEL_RANK,
                                        .format = TEXT_FORMAT_XML,
                                        .name = "f"};
    uint8_t mem[BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_request back;

    (void)state;
    job_request_encode(&wr, &request);
    assert_int_equal(wr.at - mem, sizeof(drawn));
    assert_int_equal(job_request_bytes(&request), sizeof(drawn));
    assert_memory_equal(mem, drawn, sizeof(drawn));
    assert_int_equal(job_request_decode(ov_rd_init(mem, sizeof(drawn)), &back),
                     0);
    assert_true(back.has_stddiag && back.has_stdin && back.is_kept);
    assert_true(back.has_time && back.drops_oldest);
    assert_int_equal(back.reader, 2);
    assert_int_equal(back.comes, 2);
    assert_int_equal(back.forwards, 6);
    assert_int_equal(back.cache_bytes, 256);
    assert_int_equal(back.buffer_bytes, 9);
    assert_int_equal(back.buffer_s, 3);
    assert_int_equal(back.stall_ms, 2500);
    assert_int_equal(back.files, JOB_REQUEST_FILE);
    assert_int_equal(back.label, TEXT_LABEL_RANK);
    assert_int_equal(back.format, TEXT_FORMAT_XML);
    assert_string_equal(back.name, "f");
    assert_int_equal(back.apps_count, 2);
    assert_string_equal(back.apps[0].program.argv[0], "ls");
    assert_int_equal(back.apps[0].procs, 2);
    assert_string_equal(back.apps[1].program.cwd, "/x");
    assert_string_equal(back.apps[1].env[0].text, "A=b");
    assert_string_equal(back.apps[1].hosts, "a");
    job_request_fini(&back);
    assert_null(back.apps);
    job_request_fini(&back); /* a second call is harmless */
}

static void each_flag_comes_back_alone(void **state)
{
    struct job_wish app = {.program.argv = ls};

    (void)state;
    for (unsigned bit = 0; bit < FLAGS; bit++) {
        const struct job_request request = {.apps = &app,
                                            .apps_count = 1,
                                            .has_stddiag = bit == 0,
                                            .merges_stderr = bit == 1,
                                            .has_stdin = bit == 2,
                                            .is_kept = bit == 3,
                                            .waits = bit == 4,
                                            .is_raw = bit == 5,
                                            .is_shown = bit == 6,
                                            .needs_shown = bit == 7,
                                            .says_stages = bit == 8,
                                            .says_end = bit == 9,
                                            .has_time = bit == 10,
                                            .drops_oldest = bit == 11,
                                            .notes_end = bit == 12,
                                            .keeps_last = bit == 13,
                                            .stall_all = bit == 14,
                                            .reader = JOB_READERS_ALL};
        uint8_t mem[BYTES_MAX];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
        struct job_request back;

        job_request_encode(&wr, &request);
        assert_int_equal(mem[FLAGS_AT] | mem[FLAGS_AT + 1] << 8, 1u << bit);
        assert_int_equal(
            job_request_decode(ov_rd_init(mem, (size_t)(wr.at - mem)), &back),
            0);
        assert_true(back.has_stddiag == request.has_stddiag);
        assert_true(back.merges_stderr == request.merges_stderr);
        assert_true(back.has_stdin == request.has_stdin);
        assert_true(back.is_kept == request.is_kept);
        assert_true(back.waits == request.waits);
        assert_true(back.is_raw == request.is_raw);
        assert_true(back.is_shown == request.is_shown);
        assert_true(back.needs_shown == request.needs_shown);
        assert_true(back.says_stages == request.says_stages);
        assert_true(back.says_end == request.says_end);
        assert_true(back.has_time == request.has_time);
        assert_true(back.drops_oldest == request.drops_oldest);
        assert_true(back.notes_end == request.notes_end);
        assert_true(back.keeps_last == request.keeps_last);
        assert_true(back.stall_all == request.stall_all);
        assert_true(back.reader == JOB_READERS_ALL);
        assert_string_equal(back.name, "");
        job_request_fini(&back);
    }
}

/* Checks that the request is refused. A refused request owns nothing, so a
 * sanitizer would report memory that is not freed. */
static void check_refused(const void *mem, size_t len_bytes)
{
    struct job_request request;

    assert_int_equal(job_request_decode(ov_rd_init(mem, len_bytes), &request),
                     OV_EPROTO);
    assert_null(request.apps);
    assert_int_equal(request.apps_count, 0);
}

/* The request is cut anywhere, has extra bytes, or has a byte without a
 * meaning: in the part before the programs, and in the second program. */
static void what_is_none_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } wrong[] = {
        {FLAGS_AT + 1, 0x80}, {COMES_AT, 3},
        {COMES_AT, 16},       {FORWARDS_AT, 1},
        {FORWARDS_AT, 128},   {FILES_AT, 0},
        {FILES_AT, 4},        {LABEL_AT, 4},
        {FORMAT_AT, 3},       {NAME_AT, 0},
        {COUNT_AT, 0},        {COUNT_AT, 1},
        {COUNT_AT, 3},        {COUNT_AT, 255},
        {COUNT_AT + 3, 1},    {69, 2},
    };
    uint8_t mem[sizeof(drawn) + 1] = {0};

    (void)state;
    for (size_t len = 0; len < sizeof(drawn); len++)
        check_refused(drawn, len);
    memcpy(mem, drawn, sizeof(drawn));
    check_refused(mem, sizeof(mem));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memcpy(mem, drawn, sizeof(drawn));
        mem[wrong[i].at] = wrong[i].byte;
        check_refused(mem, sizeof(drawn));
    }
}

/* A job has the largest number of programs, and then one more. */
static void a_job_has_so_many_programs_at_most(void **state)
{
    struct job_wish apps[JOB_APPS_MAX + 1];

    (void)state;
    for (uint32_t i = 0; i <= JOB_APPS_MAX; i++)
        apps[i] = (struct job_wish){.program.argv = ls};
    for (uint32_t count = JOB_APPS_MAX; count <= JOB_APPS_MAX + 1; count++) {
        const struct job_request request = {.apps = apps, .apps_count = count};
        uint8_t mem[HEAD_BYTES + (JOB_APPS_MAX + 1) * EMPTY_BYTES];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
        struct job_request back;

        job_request_encode(&wr, &request);
        assert_false(wr.bad);
        assert_int_equal(
            job_request_decode(ov_rd_init(mem, (size_t)(wr.at - mem)), &back),
            count == JOB_APPS_MAX ? 0 : OV_EPROTO);
        job_request_fini(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_has_the_bytes_that_are_drawn),
        cmocka_unit_test(each_flag_comes_back_alone),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(a_job_has_so_many_programs_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
