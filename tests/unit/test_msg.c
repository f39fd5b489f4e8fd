/* Messages between the owner and the spawner: bytes, limits, echoes. */
#include "endpoints/spawn/msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/manners.h"
#include "overlay/base/err.h"

static const char *const argv[] = {"cat", "-n", NULL};
static const char *const env[] = {"A=1", "PATH=/bin", NULL};
static const char *const own_env[] = {"RANK=3", NULL};
static const char *const own_args[] = {"--last", NULL};

static const struct ep_spawn_job plain = {.program = {.argv = argv}};
static const struct ep_spawn_job full = {
    .program = {.argv = argv, .cwd = "/tmp", .cwd_is_optional = true},
    .env = env,
    .new_session = true,
    .manners =
        {
            .is_known = true,
            .umask = 022,
            .nice = 5,
            .soft = {1, UINT64_MAX, 3, 4, 5, 1024, 7, 8, UINT64_C(1) << 40},
        },
};

static const struct ep_spawn_proc bare = {
    .job = 1, .proc = 2, .stdio = {-1, -1, -1}};
static const struct ep_spawn_proc dressed = {
    .job = 0x01020304,
    .proc = 5,
    .args = own_args,
    .env = own_env,
    .cpus = "0-3",
    .stdio = {7, -1, 8},
    .further = 9,
};

static const struct ep_signal one = {.proc = 0x01020304, .signo = 15};
static const struct ep_report report = {.proc = 0x01020304,
                                        .step = EP_STEP_EXEC,
                                        .value = 0x8b00,
                                        .at_ns = 0x0a0b0c0d0e};

/* Checks the bytes of a message and returns them as a message that has
 * arrived. */
static struct ep_wire_in sent(struct ep_wire_out *out, uint8_t type,
                              const uint8_t *golden, size_t len_bytes)
{
    static uint8_t mem[256];

    assert_non_null(out);
    assert_int_equal(out->type, type);
    assert_int_equal(out->len_bytes, len_bytes);
    assert_memory_equal(out->body, golden, len_bytes);
    memcpy(mem, golden, len_bytes);
    ep_wire_out_free(out);
    return (struct ep_wire_in){
        .type = type, .len_bytes = (uint32_t)len_bytes, .body = mem};
}

static void assert_strings(const char *const *heard, const char *const *said)
{
    for (; said != NULL && *said != NULL; heard++, said++)
        assert_string_equal(*heard, *said);
    assert_null(*heard);
}

// clang-format off
static const uint8_t plain_bytes[] = {
    1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'c', 'a', 't', 0, '-', 'n', 0, 0, 0, 0, 0,
};
static const uint8_t full_bytes[] = {
    2, 0, 0, 0, 7, '/', 't', 'm', 'p', 0, 2, 0, 0, 0, 'c', 'a', 't', 0, '-',
    'n', 0, 2, 0, 0, 0, 'A', '=', '1', 0, 'P', 'A', 'T', 'H', '=', '/', 'b',
    'i', 'n', 0, 18, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0,
    0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
    8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
};
static const uint8_t bare_bytes[] = {
    1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};
static const uint8_t dressed_bytes[] = {
    4, 3, 2, 1, 5, 0, 0, 0, 13, '0', '-', '3', 0, 1, 0, 0, 0, '-', '-', 'l',
    'a', 's', 't', 0, 1, 0, 0, 0, 'R', 'A', 'N', 'K', '=', '3', 0,
};
static const uint8_t one_bytes[] = {4, 3, 2, 1, 15};
static const uint8_t report_bytes[] = {4, 3, 2, 1, EP_STEP_EXEC, 0, 0x8b, 0, 0,
                                      0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0, 0, 0};
// clang-format on

static void a_job_is_these_bytes(void **state)
{
    struct ep_held_job heard;
    struct ep_wire_in in;
    int err;

    (void)state;
    in = sent(ep_spawn_job_encode(1, &plain, &err), EP_SPAWN_JOB, plain_bytes,
              sizeof(plain_bytes));
    assert_int_equal(ep_spawn_job_decode(&in, &heard), 0);
    assert_int_equal(heard.job, 1);
    assert_false(heard.what.program.cwd_is_optional || heard.what.new_session);
    assert_null(heard.what.program.cwd);
    assert_false(heard.what.manners.is_known);
    assert_strings(heard.what.program.argv, argv);
    assert_strings(heard.what.env, NULL);
    ep_spawn_job_fini(&heard);
    in = sent(ep_spawn_job_encode(2, &full, &err), EP_SPAWN_JOB, full_bytes,
              sizeof(full_bytes));
    assert_int_equal(ep_spawn_job_decode(&in, &heard), 0);
    assert_true(heard.what.program.cwd_is_optional && heard.what.new_session);
    assert_string_equal(heard.what.program.cwd, "/tmp");
    assert_true(heard.what.manners.is_known);
    assert_int_equal(heard.what.manners.umask, 022);
    assert_int_equal(heard.what.manners.nice, 5);
    assert_memory_equal(heard.what.manners.soft, full.manners.soft,
                        sizeof(full.manners.soft));
    assert_strings(heard.what.program.argv, argv);
    assert_strings(heard.what.env, env);
    ep_spawn_job_fini(&heard);
}

static void a_start_is_these_bytes(void **state)
{
    struct ep_start heard;
    struct ep_wire_in in;
    int err;

    (void)state;
    in = sent(ep_start_encode(&bare, &err), EP_SPAWN_START, bare_bytes,
              sizeof(bare_bytes));
    assert_int_equal(ep_start_decode(&in, &heard), 0);
    assert_int_equal(heard.job, 1);
    assert_int_equal(heard.proc, 2);
    assert_int_equal(heard.mask, 0);
    assert_string_equal(heard.cpus, "");
    assert_strings(heard.args, NULL);
    assert_strings(heard.env, NULL);
    ep_start_fini(&heard);
    in = sent(ep_start_encode(&dressed, &err), EP_SPAWN_START, dressed_bytes,
              sizeof(dressed_bytes));
    assert_int_equal(ep_start_decode(&in, &heard), 0);
    assert_int_equal(heard.job, 0x01020304);
    assert_int_equal(heard.mask, 13);
    assert_string_equal(heard.cpus, "0-3");
    assert_strings(heard.args, own_args);
    assert_strings(heard.env, own_env);
    ep_start_fini(&heard);
}

static void signals_and_reports_are_these_bytes(void **state)
{
    struct ep_signal signal;
    struct ep_report heard;
    struct ep_wire_in in;
    int err;

    (void)state;
    in = sent(ep_signal_encode(&one, &err), EP_SPAWN_SIGNAL, one_bytes,
              sizeof(one_bytes));
    assert_int_equal(ep_signal_decode(&in, &signal), 0);
    assert_int_equal(signal.proc, 0x01020304);
    assert_int_equal(signal.signo, 15);
    in = sent(ep_report_encode(EP_SPAWN_FAILED, &report, &err), EP_SPAWN_FAILED,
              report_bytes, sizeof(report_bytes));
    assert_int_equal(ep_report_decode(&in, &heard), 0);
    assert_int_equal(heard.proc, 0x01020304);
    assert_int_equal(heard.step, EP_STEP_EXEC);
    assert_int_equal(heard.value, 0x8b00);
    assert_int_equal(heard.at_ns, 0x0a0b0c0d0e);
}

static int cut_job(const struct ep_wire_in *in)
{
    struct ep_held_job heard;
    int rc = ep_spawn_job_decode(in, &heard);

    if (rc == 0)
        ep_spawn_job_fini(&heard);
    return rc;
}

static int cut_start(const struct ep_wire_in *in)
{
    struct ep_start heard;
    int rc = ep_start_decode(in, &heard);

    if (rc == 0)
        ep_start_fini(&heard);
    return rc;
}

static int cut_signal(const struct ep_wire_in *in)
{
    struct ep_signal heard;

    return ep_signal_decode(in, &heard);
}

static int cut_report(const struct ep_wire_in *in)
{
    struct ep_report heard;

    return ep_report_decode(in, &heard);
}

/* Decodes a message in memory of its exact size, so that a sanitizer sees reads
 * beyond it. */
static int cut(int (*decode)(const struct ep_wire_in *in),
               const uint8_t *golden, size_t len_bytes, size_t more_bytes)
{
    uint8_t *mem = calloc(1, len_bytes + more_bytes + 1);
    struct ep_wire_in in = {.len_bytes = (uint32_t)(len_bytes + more_bytes)};
    int rc;

    assert_non_null(mem);
    memcpy(mem, golden, len_bytes);
    in.body = mem;
    rc = decode(&in);
    free(mem);
    return rc;
}

static void half_a_message_and_more_than_one_are_refused(void **state)
{
    static const struct {
        int (*decode)(const struct ep_wire_in *in);
        const uint8_t *golden;
        size_t len_bytes;
    } all_kinds[] = {
        {cut_job, plain_bytes, sizeof(plain_bytes)},
        {cut_job, full_bytes, sizeof(full_bytes)},
        {cut_start, bare_bytes, sizeof(bare_bytes)},
        {cut_start, dressed_bytes, sizeof(dressed_bytes)},
        {cut_signal, one_bytes, sizeof(one_bytes)},
        {cut_report, report_bytes, sizeof(report_bytes)},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(all_kinds) / sizeof(all_kinds[0]); i++) {
        size_t len = all_kinds[i].len_bytes;

        assert_int_equal(cut(all_kinds[i].decode, all_kinds[i].golden, len, 0),
                         0);
        assert_int_equal(cut(all_kinds[i].decode, all_kinds[i].golden, len, 1),
                         OV_EPROTO);
        while (len-- > 0)
            assert_int_equal(
                cut(all_kinds[i].decode, all_kinds[i].golden, len, 0),
                OV_EPROTO);
    }
}

static void what_cannot_be_started_is_not_sent(void **state)
{
    static const char *const nothing[] = {NULL};
    static const char *const no_name[] = {"=1", NULL}, *const word[] = {"A",
                                                                        NULL};
    struct ep_spawn_job job = {.program = {.argv = nothing}};
    struct ep_spawn_proc proc = bare;
    int err = 0;

    (void)state;
    assert_null(ep_spawn_job_encode(1, &job, &err));
    assert_int_equal(err, OV_EINVAL);
    proc.env = no_name;
    err = 0;
    assert_null(ep_start_encode(&proc, &err));
    assert_int_equal(err, OV_EINVAL);
    proc.env = word;
    assert_null(ep_start_encode(&proc, &err));
}

/* The largest possible body is sent, a longer one is not. */
static void more_than_a_message_holds_is_not_sent(void **state)
{
    char *large = malloc(EP_WIRE_BODY_MAX + 1);
    const char *const args[] = {large, NULL};
    struct ep_spawn_proc proc = {.args = args, .stdio = {-1, -1, -1}};
    struct ep_wire_out *out;
    int err = 0;

    (void)state;
    assert_non_null(large);
    memset(large, 'x', EP_WIRE_BODY_MAX);
    large[EP_WIRE_BODY_MAX] = '\0';
    assert_null(ep_start_encode(&proc, &err));
    assert_int_equal(err, OV_EINVAL);
    large[EP_WIRE_BODY_MAX - sizeof(bare_bytes) - 1] = '\0';
    out = ep_start_encode(&proc, &err);
    assert_non_null(out);
    assert_int_equal(out->len_bytes, EP_WIRE_BODY_MAX);
    ep_wire_out_free(out);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_these_bytes),
        cmocka_unit_test(a_start_is_these_bytes),
        cmocka_unit_test(signals_and_reports_are_these_bytes),
        cmocka_unit_test(half_a_message_and_more_than_one_are_refused),
        cmocka_unit_test(what_cannot_be_started_is_not_sent),
        cmocka_unit_test(more_than_a_message_holds_is_not_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
