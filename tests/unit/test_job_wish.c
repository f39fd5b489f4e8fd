/* A request for a program has the bytes that job/wish.h draws, and other bytes
 * are refused. */
#include "job/wish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { BYTES_MAX = 128 };

static const char drawn[] = "\2\0\0\0\1\0\0\0\0\1/x\0"
                            "\2\0\0\0ls\0\0"
                            "\2\0\0\0\0\0A=b\0\2:C\0"
                            "\1a,b\0\0c\0f";

static const char *const argv[] = {"ls", "", NULL};
static const struct job_env env[] = {{JOB_ENV_SET, 0, "A=b"},
                                     {JOB_ENV_UNSET, ':', "C"}};

static struct job_wish whole(void)
{
    return (struct job_wish){
        .program = {.argv = argv, .cwd = "/x", .cwd_is_optional = true},
        .env = env,
        .env_count = 2,
        .procs = 2,
        .ppn = 1,
        .per = TOPO_NO_OBJECT,
        .map = JOB_MAP_NODES,
        .hosts = "a,b",
        .add_hosts = "c",
        .add_hostfile = "f",
    };
}

static void a_program_has_the_bytes_that_are_drawn(void **state)
{
    const struct job_wish wish = whole();
    uint8_t mem[BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd = ov_rd_init((const uint8_t *)drawn, sizeof(drawn));
    struct job_wish back;

    (void)state;
    job_wish_encode(&wr, &wish);
    assert_int_equal(wr.at - mem, sizeof(drawn));
    assert_int_equal(job_wish_bytes(&wish), sizeof(drawn));
    assert_memory_equal(mem, drawn, sizeof(drawn));
    assert_int_equal(job_wish_decode(&rd, &back), 0);
    assert_int_equal(ov_rd_left(&rd), 0);
    assert_string_equal(back.program.argv[0], "ls");
    assert_string_equal(back.program.argv[1], "");
    assert_null(back.program.argv[2]);
    assert_string_equal(back.program.cwd, "/x");
    assert_true(back.program.cwd_is_optional);
    assert_int_equal(back.env_count, 2);
    assert_int_equal(back.env[1].what, JOB_ENV_UNSET);
    assert_int_equal(back.env[1].separator, ':');
    assert_string_equal(back.env[1].text, "C");
    assert_int_equal(back.procs, 2);
    assert_int_equal(back.ppn, 1);
    assert_int_equal(back.map, JOB_MAP_NODES);
    assert_string_equal(back.hosts, "a,b");
    assert_null(back.hostfile);
    assert_string_equal(back.add_hosts, "c");
    assert_string_equal(back.add_hostfile, "f");
    job_wish_fini(&back);
}

/* A change that unsets all variables names none. */
static void a_clear_has_no_name(void **state)
{
    static const struct job_env clear = {.what = JOB_ENV_CLEAR, .text = ""};
    struct job_wish one = whole(), back;
    uint8_t mem[128];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd;

    (void)state;
    one.env = &clear;
    one.env_count = 1;
    job_wish_encode(&wr, &one);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    assert_int_equal(job_wish_decode(&rd, &back), 0);
    assert_int_equal(back.env[0].what, JOB_ENV_CLEAR);
    assert_string_equal(back.env[0].text, "");
    job_wish_fini(&back);
}

static void what_says_nothing_comes_back_so(void **state)
{
    const struct job_wish wish = {.program.argv = argv};
    uint8_t mem[BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_wish back;
    struct ov_rd rd;

    (void)state;
    job_wish_encode(&wr, &wish);
    assert_int_equal(wr.at - mem, job_wish_bytes(&wish));
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    assert_int_equal(job_wish_decode(&rd, &back), 0);
    assert_null(back.program.cwd);
    assert_false(back.program.cwd_is_optional);
    assert_int_equal(back.env_count, 0);
    assert_null(back.hosts);
    job_wish_fini(&back);
}

static int decode(const uint8_t *mem, size_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    struct job_wish wish;
    int rc = job_wish_decode(&rd, &wish);

    job_wish_fini(&wish);
    return rc;
}

/* The request is cut anywhere, or has a byte without a meaning. */
static void what_is_none_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } wrong[] = {
        {8, TOPO_OBJECTS},   {9, 2},    {13, 0},
        {13, 255},           {17, 0},   {25, JOB_ENV_OWN},
        {25, JOB_ENV_CLEAR}, {27, '='}, {28, 'x'},
        {31, JOB_ENV_SET},   {33, 0},   {35, JOB_MAPS},
    };
    uint8_t mem[sizeof(drawn)];

    (void)state;
    for (size_t len = 0; len < sizeof(drawn); len++)
        assert_int_equal(decode((const uint8_t *)drawn, len), OV_EPROTO);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memcpy(mem, drawn, sizeof(drawn));
        mem[wrong[i].at] = wrong[i].byte;
        assert_int_equal(decode(mem, sizeof(mem)), OV_EPROTO);
    }
    memcpy(mem, drawn, sizeof(drawn));
    mem[4] = 0; /* a number of processes for each object, without a kind of
                 * object */
    assert_int_equal(decode(mem, sizeof(mem)), 0);
    mem[8] = TOPO_SOCKET;
    assert_int_equal(decode(mem, sizeof(mem)), OV_EPROTO);
}

/* The request is complete, except that it has no word, or an empty one
 * instead. */
static void what_names_no_program_is_refused(void **state)
{
    static const char *const none[] = {NULL}, *const empty[] = {"", NULL};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct job_wish wish = {.program.argv = i == 0 ? none : empty};
        uint8_t mem[BYTES_MAX];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

        job_wish_encode(&wr, &wish);
        assert_int_equal(decode(mem, (size_t)(wr.at - mem)), OV_EPROTO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_has_the_bytes_that_are_drawn),
        cmocka_unit_test(a_clear_has_no_name),
        cmocka_unit_test(what_says_nothing_comes_back_so),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(what_names_no_program_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
