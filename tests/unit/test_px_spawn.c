/* What a tool asks to be started, as bytes. */
#include "pmix_api/spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* The layout is the one that spawn.h draws. */
static const uint8_t drawn[] = {
    0,
    6,
    3,
    0,
    0,
    0,
    7,
    0,
    0,
    0,
    PX_OUTPUT_FILE | PX_OUTPUT_FILE_ONLY,
    0,
    0,
    0,
    'f',
    0,
    1,
    0,
    5,
    0,
    1,
    0,
    2,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    TOPO_SOCKET,
    1,
    '/',
    'x',
    0,
    2,
    0,
    0,
    0,
    'l',
    's',
    0,
    0,
    2,
    0,
    0,
    0,
    0,
    0,
    'A',
    '=',
    'b',
    0,
    JOB_ENV_UNSET,
    ':',
    'C',
    0,
    JOB_MAP_NODES,
    'a',
    ',',
    'b',
    0,
    0,
    'c',
    0,
    'f',
    0,
};

static void a_spawn_has_the_bytes_that_are_drawn(void **state)
{
    const char *argv[] = {"ls", "", NULL};
    struct job_env env[] = {{JOB_ENV_SET, 0, "A=b"}, {JOB_ENV_UNSET, ':', "C"}};
    struct job_wish app = {
        .procs = 2,
        .ppn = 1,
        .per = TOPO_SOCKET,
        .program = {.argv = argv, .cwd = "/x", .cwd_is_optional = true},
        .env = env,
        .env_count = 2,
        .map = JOB_MAP_NODES,
        .hosts = "a,b",
        .add_hosts = "c",
        .add_hostfile = "f"};
    const struct px_spawn spawn = {
        .forwards = 6,
        .reader = 3,
        .pull = 7,
        .output = PX_OUTPUT_FILE | PX_OUTPUT_FILE_ONLY,
        .files = "f",
        .apps = &app,
        .count = 1,
        .cache_bytes = 65541,
    };
    struct px_spawn back;
    uint8_t *mem;

    (void)state;
    assert_int_equal(px_spawn_encode(&spawn, &mem), sizeof(drawn));
    assert_memory_equal(mem, drawn, sizeof(drawn));
    assert_int_equal(px_spawn_decode(mem, sizeof(drawn), &back), 0);
    assert_int_equal(back.count, 1);
    assert_int_equal(back.forwards, 6);
    assert_int_equal(back.reader, 3);
    assert_int_equal(back.pull, 7);
    assert_int_equal(back.output, PX_OUTPUT_FILE | PX_OUTPUT_FILE_ONLY);
    assert_string_equal(back.files, "f");
    assert_int_equal(back.cache_bytes, 65541);
    assert_int_equal(back.apps[0].ppn, 1);
    assert_int_equal(back.apps[0].per, TOPO_SOCKET);
    assert_string_equal(back.apps[0].program.cwd, "/x");
    assert_string_equal(back.apps[0].program.argv[0], "ls");
    assert_null(back.apps[0].program.argv[2]);
    assert_string_equal(back.apps[0].env[1].text, "C");
    assert_int_equal(back.apps[0].map, JOB_MAP_NODES);
    assert_string_equal(back.apps[0].hosts, "a,b");
    assert_null(back.apps[0].hostfile);
    assert_string_equal(back.apps[0].add_hosts, "c");
    assert_string_equal(back.apps[0].add_hostfile, "f");
    px_spawn_fini(&back);
    free(mem);
}

/* Cut anywhere, with something behind it, or with a byte that means nothing. */
static void what_is_no_spawn_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } wrong[] = {{0, 8},
                 {1, 16},
                 {10, 0},
                 {10, 3},
                 {11, 16},
                 {14, 0},
                 {16, 0},
                 {16, 65},
                 {26, 0},
                 {30, TOPO_OBJECTS},
                 {31, 2},
                 {35, 0},
                 {35, 255},
                 {39, 0},
                 {47, JOB_ENV_OWN},
                 {49, '='},
                 {50, 'x'},
                 {53, JOB_ENV_SET},
                 {57, JOB_MAPS}};
    uint8_t mem[sizeof(drawn) + 1] = {0};
    struct px_spawn spawn;

    (void)state;
    memcpy(mem, drawn, sizeof(drawn));
    for (size_t len = 0; len <= sizeof(mem); len++) {
        assert_int_equal(px_spawn_decode(mem, len, &spawn),
                         len == sizeof(drawn) ? 0 : OV_EPROTO);
        px_spawn_fini(&spawn);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memcpy(mem, drawn, sizeof(drawn));
        mem[wrong[i].at] = wrong[i].byte;
        assert_int_equal(px_spawn_decode(mem, sizeof(drawn), &spawn),
                         OV_EPROTO);
        assert_null(spawn.apps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spawn_has_the_bytes_that_are_drawn),
        cmocka_unit_test(what_is_no_spawn_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
