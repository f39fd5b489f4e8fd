/* The objects that are counted on machines: recorded machines, and this one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* for sched_setaffinity() */
#endif
#include "topo/machine.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { PATH_BYTES_MAX = 4096 };

static void check_recorded(const char *name, struct topo_machine expect)
{
    const char *srcdir = getenv("top_srcdir");
    char why[TOPO_WHY_MAX] = "";
    char path[PATH_BYTES_MAX];
    struct topo_machine machine = {0};

    snprintf(path, sizeof(path), "%s/tests/data/%s",
             srcdir != NULL ? srcdir : ".", name);
    if (topo_machine_load(&machine, path, why) != 0)
        fail_msg("%s: %s", name, why);
    assert_int_equal(machine.packages, expect.packages);
    assert_int_equal(machine.numa, expect.numa);
    assert_int_equal(machine.cores, expect.cores);
    assert_int_equal(machine.pus, expect.pus);
}

static void recorded_machines_are_counted(void **state)
{
    (void)state;
    check_recorded("two-sockets.xml",
                   (struct topo_machine){
                       .packages = 2, .numa = 1, .cores = 32, .pus = 64});
    check_recorded(
        "one-core.xml",
        (struct topo_machine){.packages = 1, .numa = 1, .cores = 1, .pus = 1});
    check_recorded("many-numa.xml",
                   (struct topo_machine){
                       .packages = 4, .numa = 16, .cores = 64, .pus = 64});
}

/* A container was given one half core and one whole core of a socket, and one
 * half core of the other socket. */
static void only_allowed_processors_count(void **state)
{
    (void)state;
    check_recorded(
        "cut-down.xml",
        (struct topo_machine){.packages = 2, .numa = 1, .cores = 3, .pus = 4});
}

/* Returns the objects of a recorded machine, each in brackets. */
static const char *cpus_of(const char *name, enum topo_object object)
{
    static char out[4096];
    const char *srcdir = getenv("top_srcdir");
    char why[TOPO_WHY_MAX] = "";
    char path[PATH_BYTES_MAX];
    struct topo_cpus cpus;
    int len = 0;

    snprintf(path, sizeof(path), "%s/tests/data/%s",
             srcdir != NULL ? srcdir : ".", name);
    if (topo_machine_cpus(&cpus, object, path, why) != 0)
        fail_msg("%s: %s", name, why);
    for (uint32_t i = 0; i < cpus.count; i++)
        len += sprintf(out + len, "[%s]", cpus.at[i]);
    topo_cpus_fini(&cpus);
    return out;
}

static void the_processors_of_objects_are_listed(void **state)
{
    (void)state;
    assert_string_equal(cpus_of("two-sockets.xml", TOPO_SOCKET),
                        "[0-31][32-63]");
    assert_memory_equal(cpus_of("two-sockets.xml", TOPO_CORE),
                        "[0-1][2-3][4-5]", 15);
    assert_string_equal(cpus_of("many-numa.xml", TOPO_SOCKET),
                        "[0-15][16-31][32-47][48-63]");
    assert_memory_equal(cpus_of("many-numa.xml", TOPO_CORE), "[0][1][2][3]",
                        12);
    assert_string_equal(cpus_of("one-core.xml", TOPO_CORE), "[0]");
    assert_string_equal(cpus_of("one-core.xml", TOPO_SOCKET), "[0]");
}

/* No process is bound to a processor that the container was not given. */
static void only_allowed_processors_are_listed(void **state)
{
    (void)state;
    assert_string_equal(cpus_of("cut-down.xml", TOPO_CORE), "[0][2-3][32]");
    assert_string_equal(cpus_of("cut-down.xml", TOPO_SOCKET), "[0,2-3][32]");
}

static void objects_have_names(void **state)
{
    (void)state;
    assert_string_equal(topo_object_name(TOPO_CORE), "core");
    assert_int_equal(topo_object_find("socket"), TOPO_SOCKET);
    assert_int_equal(topo_object_find("none"), TOPO_NO_OBJECT);
    assert_int_equal(topo_object_find("thread"), TOPO_OBJECTS);
}

static void bad_recordings_are_told(void **state)
{
    const char *srcdir = getenv("top_srcdir");
    char why[TOPO_WHY_MAX] = "";
    char path[PATH_BYTES_MAX];
    struct topo_machine machine = {.cores = 7};
    struct topo_cpus cpus;

    (void)state;
    assert_int_equal(topo_machine_load(&machine, "/nowhere.xml", why),
                     OV_EINVAL);
    assert_non_null(strstr(why, "/nowhere.xml cannot be read"));
    assert_non_null(strstr(why, "lstopo"));
    snprintf(path, sizeof(path), "%s/configure.ac",
             srcdir != NULL ? srcdir : ".");
    assert_int_equal(topo_machine_load(&machine, path, why), OV_EINVAL);
    assert_non_null(strstr(why, "configure.ac"));
    assert_int_equal(topo_machine_load(&machine, path, NULL), OV_EINVAL);
    assert_int_equal(machine.cores, 7);
    assert_int_equal(topo_machine_cpus(&cpus, TOPO_CORE, path, why), OV_EINVAL);
    assert_null(cpus.at);
}

/* There are as many PUs as the kernel lets this process run on; when the
 * process is bound to one of them, there is one object of each kind. */
static void the_binding_of_this_process_counts(void **state)
{
    struct topo_machine machine;
    char why[TOPO_WHY_MAX] = "";
    cpu_set_t before;
    cpu_set_t one;
    size_t first = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    if (topo_machine_load(&machine, NULL, why) != 0)
        fail_msg("%s", why);
    assert_int_equal(machine.pus, CPU_COUNT(&before));
    assert_in_range(machine.cores, 1, machine.pus);
    assert_in_range(machine.packages, 1, machine.cores);

    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(topo_machine_load(&machine, NULL, why), 0);
    assert_int_equal(machine.pus, 1);
    assert_int_equal(machine.cores, 1);
    assert_int_equal(machine.packages, 1);
    for (int object = TOPO_CORE; object < TOPO_OBJECTS; object++) {
        struct topo_cpus cpus;
        char number[24];

        assert_int_equal(
            topo_machine_cpus(&cpus, (enum topo_object)object, NULL, why), 0);
        assert_int_equal(cpus.count, 1);
        snprintf(number, sizeof(number), "%zu", first);
        assert_string_equal(cpus.at[0], number);
        topo_cpus_fini(&cpus);
    }
    /* Looking leaves the binding unchanged. */
    assert_int_equal(sched_getaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(CPU_COUNT(&one), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void the_environment_stays_as_it_was(void **state)
{
    struct topo_machine machine;

    (void)state;
    assert_int_equal(setenv("HWLOC_HIDE_ERRORS", "1", 1), 0);
    assert_int_equal(unsetenv("HWLOC_PLUGINS_PATH"), 0);
    assert_int_equal(topo_machine_load(&machine, NULL, NULL), 0);
    assert_string_equal(getenv("HWLOC_HIDE_ERRORS"), "1");
    assert_null(getenv("HWLOC_PLUGINS_PATH"));
    assert_int_equal(unsetenv("HWLOC_HIDE_ERRORS"), 0);
}

/* hwloc tells on stderr, when asked to, which plugins it finds. */
static void no_plugin_is_looked_at(void **state)
{
    struct topo_machine machine;
    char line[PATH_BYTES_MAX];
    FILE *told = tmpfile();
    int before = dup(STDERR_FILENO);

    (void)state;
    assert_non_null(told);
    assert_true(before >= 0);
    assert_int_equal(setenv("HWLOC_PLUGINS_VERBOSE", "1", 1), 0);
    assert_int_equal(dup2(fileno(told), STDERR_FILENO), STDERR_FILENO);
    int rc = topo_machine_load(&machine, NULL, NULL);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(before);
    assert_int_equal(unsetenv("HWLOC_PLUGINS_VERBOSE"), 0);
    assert_int_equal(rc, 0);
    rewind(told);
    while (fgets(line, sizeof(line), told) != NULL) {
        if (strstr(line, "Plugin descriptor") != NULL)
            fail_msg("%s", line);
    }
    fclose(told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_machines_are_counted),
        cmocka_unit_test(only_allowed_processors_count),
        cmocka_unit_test(the_processors_of_objects_are_listed),
        cmocka_unit_test(only_allowed_processors_are_listed),
        cmocka_unit_test(objects_have_names),
        cmocka_unit_test(bad_recordings_are_told),
        cmocka_unit_test(the_binding_of_this_process_counts),
        cmocka_unit_test(the_environment_stays_as_it_was),
        cmocka_unit_test(no_plugin_is_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
