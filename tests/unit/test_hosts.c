/* Host lists: their meaning, their errors, and their short form. */
#include "topo/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { TEXT_MAX = 4096, ROUNDS = 3000 };

/* Returns the list as "name name:slots ...", in a static buffer. */
static const char *written(const struct topo_hosts *hosts)
{
    static char out[TEXT_MAX];
    size_t len = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < hosts->count; i++) {
        const char *blank = i == 0 ? "" : " ";
        const char *name = topo_hosts_name(hosts, i);
        uint32_t slots = hosts->items[i].slots;

        assert_true(len < sizeof(out) - TOPO_HOST_NAME_MAX - 16);
        if (slots == 0)
            len += (size_t)sprintf(out + len, "%s%s", blank, name);
        else
            len += (size_t)sprintf(out + len, "%s%s:%u", blank, name, slots);
        assert_int_equal(topo_hosts_find(hosts, name, strlen(name)), i);
    }
    return out;
}

static const char *expanded(const char *text)
{
    struct topo_hosts hosts;
    char why[TOPO_WHY_MAX] = "";
    const char *out = NULL;
    int rc = topo_hosts_parse(&hosts, text, why);

    if (rc != 0)
        print_error("%s: %s\n", text, why);
    assert_int_equal(rc, 0);
    out = written(&hosts);
    topo_hosts_fini(&hosts);
    return out;
}

/* Returns the short form of a list, in a static buffer. */
static const char *folded(const char *text)
{
    static char out[TEXT_MAX];
    struct topo_hosts hosts;
    char *fold = NULL;

    assert_int_equal(topo_hosts_parse(&hosts, text, NULL), 0);
    fold = topo_hosts_fold(&hosts, hosts.count);
    assert_non_null(fold);
    assert_true(strlen(fold) < sizeof(out));
    strcpy(out, fold);
    free(fold);
    topo_hosts_fini(&hosts);
    return out;
}

static void lists_name_their_hosts_in_order(void **state)
{
    (void)state;
    assert_string_equal(expanded("a"), "a");
    assert_string_equal(expanded("b,a"), "b a");
    assert_string_equal(expanded(" b ,\ta\n"), "b a");
    assert_string_equal(expanded("n[1-3]"), "n1 n2 n3");
    assert_string_equal(expanded("n[3,1-2]"), "n3 n1 n2");
    assert_string_equal(expanded("node[08-11]"), "node08 node09 node10 node11");
    assert_string_equal(expanded("n[0-10/4,7]"), "n0 n4 n8 n7");
    assert_string_equal(expanded("n[1-9/100]"), "n1");
    assert_string_equal(expanded("n[01-10/3]x"), "n01x n04x n07x n10x");
    assert_string_equal(expanded("r[1-2]n[1,3]"), "r1n1 r1n3 r2n1 r2n3");
    assert_string_equal(expanded("[1-2][3-4]"), "13 14 23 24");
    assert_string_equal(expanded("10.0.0.[1-2]"), "10.0.0.1 10.0.0.2");
    assert_string_equal(expanded("me@a-b_c.d"), "me@a-b_c.d");
    assert_string_equal(expanded("n[999999999999999998-999999999999999999]"),
                        "n999999999999999998 n999999999999999999");
    assert_string_equal(expanded("n[7]"), "n7");
    assert_string_equal(expanded("n[007,07,7]"), "n007 n07 n7");
}

static void slots_stand_behind_a_colon(void **state)
{
    (void)state;
    assert_string_equal(expanded("a:4,b"), "a:4 b");
    assert_string_equal(expanded("n[1-2]:3,x:1"), "n1:3 n2:3 x:1");
    assert_string_equal(expanded("a:1000000"), "a:1000000");
}

/* A host that is named again gains slots and keeps its place. */
static void naming_a_host_twice_adds_its_slots(void **state)
{
    (void)state;
    assert_string_equal(expanded("a,b,a"), "a:2 b");
    assert_string_equal(expanded("a:4,a"), "a:5");
    assert_string_equal(expanded("a,a:4"), "a:5");
    assert_string_equal(expanded("a:2,b:1,a:3"), "a:5 b:1");
    assert_string_equal(expanded("n[1-3],n[2-4]"), "n1 n2:2 n3:2 n4");
    assert_string_equal(expanded("a,a,a"), "a:3");
}

/* A term after '^' removes hosts, wherever the term stands. */
static void hosts_are_taken_out(void **state)
{
    (void)state;
    assert_string_equal(expanded("node[1-5],^node3"),
                        "node1 node2 node4 node5");
    assert_string_equal(expanded("^n2, n[1-4] ,^n[3-4]"), "n1");
    assert_string_equal(expanded("a:2,b:3,a,^b"), "a:3");
    assert_string_equal(expanded("a,b,^a,^a"), "b");
    assert_string_equal(expanded("b,^a,a"), "b");
}

/* Each invalid list, with the error message and its place. */
static const char *const bad_lists[][2] = {
    {"", "name is missing (write node1,node2) (at the start)"},
    {"a,", "name is missing (write node1,node2) (character 3, after"
           " \"a,\")"},
    {"a,,b", "name is missing (write node1,node2) (character 3,"},
    {":4", "name is missing (write node1,node2) (at the start)"},
    {"-oProxyCommand=x", "cannot start with '-' (at the start)"},
    {"a,-b", "cannot start with '-' (character 3,"},
    {"a b", "comma is missing between two hosts (character 3,"},
    {"a;b", "cannot be part of a host's name (letters, digits and ._-@"
            " can) (character 2, after \"a\")"},
    {"a\033[1mb", "cannot be part of a host's name"},
    {"n{1,2}", "braces are for a shell (write node[1-4,7], in quotes) "
               "(character 2,"},
    {"n1]", "this ']' has no '[' (write node[1-4]) (character 3,"},
    {"node[1-4", "the ']' is missing (write node[1-4]) (character 9, "
                 "after \"node[1-4\")"},
    {"n[]", "number is missing here (write node[1-4,7]) (character 3,"},
    {"n[1,]", "number is missing here (write node[1-4,7]) (character 5,"},
    {"n[a-b]", "number is missing here"},
    {"n[-4]", "number is missing here"},
    {"n[1-]", "range has no end (write node[1-4]) (character 5,"},
    {"n[4-1]", "runs backwards (write the lower number first)"
               " (character 3,"},
    {"n[01-100]", "same number of digits (write node[001-100])"},
    {"n[1-010]", "same number of digits"},
    {"n[001-2]", "same number of digits"},
    {"n[1-9/]", "step is missing (write node[0-10/2]) (character 7,"},
    {"n[1-9/0]",
     "step of 0 is not possible (write node[0-10/2]) (character 7,"},
    {"n[1 2]", "is not allowed in brackets"},
    {"n[1[2]]", "is not allowed in brackets"},
    {"n[1234567890123456789]", "more than 18 digits (character 3,"},
    {"a:", "number of slots is missing (write node:4) (character 3,"},
    {"a:0", "between 1 and 1000000 slots (character 3,"},
    {"a:1000001", "between 1 and 1000000 slots"},
    {"a:4x", "slots must be a number (write node:4) (character 4,"},
    {"a:[1-2]", "number of slots is missing"},
    {"fe80::1", "number of slots is missing"},
    {"2001:4:1", "(an IPv6 address needs a name)"},
    {"a:999999,b,a:2", "more than 1000000 slots (character 12,"},
    {"n[1-1000001]", "at most 1000000 hosts, and this term makes more"},
    {"n[1-1000][1-1001]", "at most 1000000 hosts, and this term makes more"},
    {"a,n[0-1000000]", "at most 1000000 hosts, and this term makes more"},
    {"n[0-999999],b", "at most 1000000 hosts (character 13, after \"n"},
    {"[1][1][1][1][1][1][1][1][1]", "8 brackets at most (character 25,"},
    {"a,^b", "'^' in a list of hosts: b is not among the hosts"},
    {"^a", "'^' in a list of hosts: a is not among the hosts"},
    {"a,b,^n[1-2]", "'^' in a list of hosts: n[1-2] are not among the hosts"},
    {"n[1-2],^n[1-2]", "'^' in a list of hosts leaves no host"},
    {"a:2,b,^a:2", "with all its slots (write ^node) (character 8,"},
    {"a,^", "name is missing (write node1,node2) (character 4,"},
    {"a,^^a", "cannot be part of a host's name"},
    {"a,^ a", "name is missing"},
    {"a,b^c", "cannot be part of a host's name"},
    {"a,b,cccccccccccccccccccccccccccccccccccccc,!",
     "(character 44, after \"...ccccccc"},
};

static void faults_name_the_place_and_the_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_lists) / sizeof(bad_lists[0]); i++) {
        char why[TOPO_WHY_MAX] = "";
        struct topo_hosts hosts;
        int rc = topo_hosts_parse(&hosts, bad_lists[i][0], why);

        if (rc == 0 || strstr(why, bad_lists[i][1]) == NULL)
            fail_msg("%s: %d %s", bad_lists[i][0], rc, why);
        assert_int_equal(hosts.count, 0);
        assert_null(hosts.items);
        assert_null(strchr(why, '\033'));
        /* The caller need not ask for the error message. */
        assert_int_equal(topo_hosts_parse(&hosts, bad_lists[i][0], NULL), rc);
    }
}

static void names_have_a_longest_length(void **state)
{
    char text[TOPO_HOST_NAME_MAX + 8];
    char why[TOPO_WHY_MAX];
    struct topo_hosts hosts;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[TOPO_HOST_NAME_MAX - 1] = '\0';
    assert_int_equal(topo_hosts_parse(&hosts, text, why), 0);
    assert_int_equal(strlen(topo_hosts_name(&hosts, 0)),
                     TOPO_HOST_NAME_MAX - 1);
    topo_hosts_fini(&hosts);
    strcpy(text + TOPO_HOST_NAME_MAX - 1, "b");
    assert_int_equal(topo_hosts_parse(&hosts, text, why), OV_EINVAL);
    assert_non_null(strstr(why, "more than 253 bytes"));
    strcpy(text + TOPO_HOST_NAME_MAX - 3, "[1-9]");
    assert_int_equal(topo_hosts_parse(&hosts, text, why), 0);
    topo_hosts_fini(&hosts);
    strcpy(text + TOPO_HOST_NAME_MAX - 3, "[1-200]");
    assert_int_equal(topo_hosts_parse(&hosts, text, why), OV_EINVAL);
    assert_non_null(strstr(why, "more than 253 bytes"));
}

static void adding_refuses_what_is_no_host(void **state)
{
    struct topo_hosts hosts;

    (void)state;
    topo_hosts_init(&hosts);
    assert_int_equal(topo_hosts_add(&hosts, "", 0, 0), OV_EINVAL);
    assert_int_equal(topo_hosts_add(&hosts, "-a", 2, 0), OV_EINVAL);
    assert_int_equal(topo_hosts_add(&hosts, "a b", 3, 0), OV_EINVAL);
    assert_int_equal(topo_hosts_add(&hosts, "a", 1, TOPO_SLOTS_MAX + 1),
                     OV_EINVAL);
    assert_int_equal(hosts.count, 0);
    assert_int_equal(topo_hosts_find(&hosts, "a", 1), TOPO_NONE);
    assert_int_equal(topo_hosts_add(&hosts, "abc", 2, 0), 0);
    assert_string_equal(topo_hosts_name(&hosts, 0), "ab");
    assert_int_equal(topo_hosts_find(&hosts, "abc", 3), TOPO_NONE);
    assert_int_equal(topo_hosts_find(&hosts, "a", 1), TOPO_NONE);
    assert_int_equal(topo_hosts_find(&hosts, "ab\0c", 4), TOPO_NONE);
    assert_int_equal(topo_hosts_find(&hosts, "ab", 2), 0);
    topo_hosts_fini(&hosts);
}

static void neighbours_fold(void **state)
{
    (void)state;
    assert_string_equal(folded("a"), "a");
    assert_string_equal(folded("n7"), "n7");
    assert_string_equal(folded("n1,n2,n3,n5"), "n[1-3,5]");
    assert_string_equal(folded("n3,n1,n2"), "n[3,1-2]");
    assert_string_equal(folded("n9,n10,n99,n100"), "n[9-10,99-100]");
    assert_string_equal(folded("n08,n09,n10,n11"), "n[08-11]");
    assert_string_equal(folded("n98,n99,n100"), "n[98-100]");
    assert_string_equal(folded("n098,n099,n100"), "n[098-100]");
    assert_string_equal(folded("n99,n100,n0101"), "n[99-100,0101]");
    assert_string_equal(folded("n01,n02,n1,n2"), "n[01-02,1-2]");
    assert_string_equal(folded("n09,n10,n100"), "n[09-10,100]");
    assert_string_equal(folded("n[09-99],n100"), "n[09-99,100]");
    assert_string_equal(folded("n0,n1,n00"), "n[0-1,00]");
    assert_string_equal(folded("a1.x,a2.x,a3.y"), "a[1-2].x,a3.y");
    assert_string_equal(folded("login,n1,n2,x"), "login,n[1-2],x");
    assert_string_equal(folded("n[0-6/2]"), "n[0,2,4,6]");
}

static void several_numbers_fold(void **state)
{
    (void)state;
    assert_string_equal(folded("r[1-3]n[01-04]"), "r[1-3]n[01-04]");
    assert_string_equal(folded("r[1-2]c[1-2]n[1-2]"), "r[1-2]c[1-2]n[1-2]");
    assert_string_equal(folded("r[1-3]n5"), "r[1-3]n5");
    assert_string_equal(folded("r5n[1-3]"), "r5n[1-3]");
    assert_string_equal(folded("x,r1n[1-2],r2n[1-2]"), "x,r[1-2]n[1-2]");
    assert_string_equal(folded("r1n[1-2],r2n[1-3]"), "r1n[1-2],r2n[1-3]");
    assert_string_equal(folded("r1n1,r2n1,r1n2,r2n2"), "r[1-2]n1,r[1-2]n2");
    assert_string_equal(folded("10.0.[0-1].[1-254]"), "10.0.[0-1].[1-254]");
    /* A name with more numbers than the short form can fold is not folded, and
     * neither are digits too long for a number. */
    assert_string_equal(folded("a1b2c3d4e[5-6]"), "a1b2c3d4e5,a1b2c3d4e6");
    assert_string_equal(folded("n1234567890123456789,n1234567890123456780"),
                        "n1234567890123456789,n1234567890123456780");
}

static void slots_fold_with_their_hosts(void **state)
{
    (void)state;
    assert_string_equal(folded("n[1-2]:4,n[3-4]"), "n[1-2]:4,n[3-4]");
    assert_string_equal(folded("n1:4,n2:2,n3:2"), "n1:4,n[2-3]:2");
    assert_string_equal(folded("r1n[1-2]:2,r2n1:2,r2n2:3"),
                        "r1n[1-2]:2,r2n1:2,r2n2:3");
    assert_string_equal(folded("n1,n1,n2:2"), "n[1-2]:2");
}

static void check_short(const char *text, size_t max_bytes, const char *expect)
{
    struct topo_hosts hosts;
    char *fold = NULL;

    assert_int_equal(topo_hosts_parse(&hosts, text, NULL), 0);
    fold = topo_hosts_fold_short(&hosts, max_bytes);
    assert_non_null(fold);
    assert_string_equal(fold, expect);
    free(fold);
    topo_hosts_fini(&hosts);
}

static void messages_tell_how_many_hosts_they_leave_out(void **state)
{
    (void)state;
    check_short("n[1-1000000]", 20, "n[1-1000000]");
    check_short("a,b,c", 100, "a,b,c");
    check_short("a,b,c", 3, "a,b and 1 more");
    check_short("a,b,c", 1, "a and 2 more");
    check_short("abcdef,b,c", 1, "abcdef and 2 more");
    check_short("n[1-100/2]", 12, "n[1,3,5,7,9] and 45 more");
}

/* Many names are in a small table, where the beginnings of some are looked up,
 * too. */
static void the_beginning_of_a_name_is_another_name(void **state)
{
    struct topo_hosts hosts;
    char name[16];

    (void)state;
    assert_int_equal(topo_hosts_parse(&hosts, "n[10000-26000]", NULL), 0);
    for (int i = 1000; i < 10000; i++) {
        size_t len = (size_t)sprintf(name, "n%d", i);

        assert_int_equal(topo_hosts_find(&hosts, name, len), TOPO_NONE);
    }
    assert_int_equal(topo_hosts_find(&hosts, "n26000", 6), 16000);
    topo_hosts_fini(&hosts);
}

/* Makes a random list of few names, so that names repeat. */
static void random_list(char *text)
{
    static const char *const shapes[] = {"n%d",    "n%02d",    "n%03d",
                                         "r%dn%d", "r%dn%02d", "n%d.site",
                                         "%d",     "a%db%dc",  "%d-%02d"};
    size_t len = 0;
    int shape = rand() % 9;
    int start = rand() % 120;

    for (int i = rand() % 40; i >= 0; i--) {
        char name[64];

        if (rand() % 6 == 0)
            shape = rand() % 9;
        start = rand() % 5 == 0 ? rand() % 120 : start + 1;
        /* Shapes with one number ignore the second argument. */
        snprintf(name, sizeof(name), shapes[shape], start, start % 4);
        len += (size_t)sprintf(text + len, "%s%s", len > 0 ? "," : "", name);
        if (rand() % 12 == 0)
            len += (size_t)sprintf(text + len, ":%d", 1 + rand() % 3);
    }
}

static void check_round_trip(const char *text)
{
    static char before[TEXT_MAX];
    struct topo_hosts hosts;
    char *fold = NULL;

    assert_int_equal(topo_hosts_parse(&hosts, text, NULL), 0);
    strcpy(before, written(&hosts));
    fold = topo_hosts_fold(&hosts, hosts.count);
    assert_non_null(fold);
    assert_string_equal(expanded(fold), before);
    free(fold);
    topo_hosts_fini(&hosts);
}

/* Reading the short form gives the list again: order, names, slots. */
static void random_lists_survive_folding(void **state)
{
    static char text[TEXT_MAX];
    unsigned seed = *(unsigned *)*state;

    srand(seed);
    for (int round = 0; round < ROUNDS; round++) {
        random_list(text);
        check_round_trip(text);
    }
    check_round_trip("r[1-4]n[01-20],r[5-6]n[01-20]:2");
    check_round_trip("n[0-12],n[00-12],n[000-012],n[0000-0012]");
}

static void check_file(const char *content, int expect, const char *says)
{
    const char *dir = getenv("TMPDIR");
    char path[TEXT_MAX];
    char why[TOPO_WHY_MAX] = "";
    struct topo_hosts hosts;
    FILE *file = NULL;
    int rc = 0;

    snprintf(path, sizeof(path), "%s/xylem-hosts-%ld",
             dir != NULL ? dir : "/tmp", (long)getpid());
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
    rc = topo_hosts_read(&hosts, path, why);
    remove(path);
    if (rc != expect || strstr(rc == 0 ? written(&hosts) : why, says) == NULL)
        fail_msg("%s: %d %s", content, rc, rc == 0 ? written(&hosts) : why);
    if (rc == 0)
        assert_string_equal(written(&hosts), says);
    else
        assert_int_equal(hosts.count, 0);
    topo_hosts_fini(&hosts);
}

static void host_files_have_one_host_per_line(void **state)
{
    (void)state;
    check_file("a\nb\n", 0, "a b");
    check_file("# all of them\n\n  a slots=4 # big\n\tb\t\n\n", 0, "a:4 b");
    check_file("a\r\nb slots=2\r\n", 0, "a b:2");
    check_file("a\nb", 0, "a b");
    check_file("a:3\nn[1-2] slots=2\n", 0, "a:3 n1:2 n2:2");
    check_file("a\na\na slots=2\n", 0, "a:4");
    check_file("a#b\n", 0, "a");
}

static void host_file_faults_name_their_line(void **state)
{
    static char line[20000];

    (void)state;
    check_file("", OV_EINVAL, "names no host (write one per line)");
    check_file("# nothing\n", OV_EINVAL, "names no host");
    check_file("a\n\nb slot=2\n", OV_EINVAL,
               ":3: \"slot=2\" is not understood (a line is HOST or HOST "
               "slots=N");
    check_file("a slots=0\n", OV_EINVAL, ":1: \"slots=0\" is not understood");
    check_file("a slots=\n", OV_EINVAL, "is not understood");
    check_file("a slots=4x\n", OV_EINVAL, "is not understood");
    check_file("a slots=99999999999\n", OV_EINVAL, "is not understood");
    check_file("a slots=2 b\n", OV_EINVAL, "is not understood");
    check_file("a b\n", OV_EINVAL, ":1: \"b\" is not understood");
    check_file("a:2 slots=2\n", OV_EINVAL, ":1: slots are given twice");
    check_file("ok\nn[1-\n", OV_EINVAL,
               ":2: the range has no end (write node[1-4]) (character 5,");
    check_file("a\n^a\n", OV_EINVAL, ":2: this character cannot be part");
    check_file("x\na=1\n", OV_EINVAL, ":2: this character cannot be part");
    memset(line, 'a', sizeof(line) - 1);
    check_file(line, OV_EINVAL, ":1: this is not a line of text");
}

static void absent_host_files_are_told(void **state)
{
    char why[TOPO_WHY_MAX] = "";
    struct topo_hosts hosts;

    (void)state;
    assert_int_equal(topo_hosts_read(&hosts, "/nowhere/at/all", why),
                     OV_ENOENT);
    assert_non_null(strstr(why, "/nowhere/at/all"));
    assert_non_null(strstr(why, "No such file"));
    assert_int_equal(topo_hosts_read(&hosts, "/", why), OV_ESYS);
    assert_non_null(strstr(why, "directory"));
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Reads a list of names one by one, and folds it; prints the time for
 * information. */
static void check_large(const char *text, const char *expect)
{
    struct topo_hosts hosts;
    struct topo_hosts again;
    struct timespec start;
    char *fold = NULL;
    char *names = NULL;
    size_t len = 0;
    double parse_s = 0;

    assert_int_equal(topo_hosts_parse(&hosts, text, NULL), 0);
    names = malloc(hosts.text_bytes + 1);
    assert_non_null(names);
    for (uint32_t i = 0; i < hosts.count; i++)
        len += (size_t)sprintf(names + len, "%s%s", i > 0 ? "," : "",
                               topo_hosts_name(&hosts, i));
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(topo_hosts_parse(&again, names, NULL), 0);
    parse_s = seconds_since(&start);
    assert_int_equal(again.count, hosts.count);
    clock_gettime(CLOCK_MONOTONIC, &start);
    fold = topo_hosts_fold(&again, again.count);
    assert_non_null(fold);
    print_message("%u hosts: read in %.3f s, folded in %.3f s\n", again.count,
                  parse_s, seconds_since(&start));
    assert_string_equal(fold, expect);
    free(fold);
    free(names);
    topo_hosts_fini(&hosts);
    topo_hosts_fini(&again);
}

static void large_lists_are_read_and_folded(void **state)
{
    (void)state;
    check_large("node[000001-100000]", "node[000001-100000]");
    check_large("r[1-100]c[1-10]n[01-99]", "r[1-100]c[1-10]n[01-99]");
    check_large("n[0-999999]", "n[0-999999]");
}

static unsigned seed_used;

static int setup(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");

    seed_used = given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20240612;
    print_message("seed %u (XYLEM_TEST_SEED chooses another)\n", seed_used);
    *state = &seed_used;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_name_their_hosts_in_order),
        cmocka_unit_test(slots_stand_behind_a_colon),
        cmocka_unit_test(naming_a_host_twice_adds_its_slots),
        cmocka_unit_test(hosts_are_taken_out),
        cmocka_unit_test(faults_name_the_place_and_the_remedy),
        cmocka_unit_test(names_have_a_longest_length),
        cmocka_unit_test(adding_refuses_what_is_no_host),
        cmocka_unit_test(neighbours_fold),
        cmocka_unit_test(several_numbers_fold),
        cmocka_unit_test(slots_fold_with_their_hosts),
        cmocka_unit_test(messages_tell_how_many_hosts_they_leave_out),
        cmocka_unit_test(the_beginning_of_a_name_is_another_name),
        cmocka_unit_test(random_lists_survive_folding),
        cmocka_unit_test(host_files_have_one_host_per_line),
        cmocka_unit_test(host_file_faults_name_their_line),
        cmocka_unit_test(absent_host_files_are_told),
        cmocka_unit_test(large_lists_are_read_and_folded),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
