/* Fabrics from topology.conf: which files are accepted, and which are refused
 * with the number of the wrong line. */
#include "topo/fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static char why[TOPO_WHY_MAX];

static int parse(struct topo_fabric *fabric, const char *text)
{
    why[0] = '\0';
    return topo_fabric_parse(fabric, text, strlen(text), "file", why);
}

static const char *leaf(const struct topo_fabric *f, const char *host)
{
    uint32_t s = topo_fabric_leaf(f, host);

    return s == TOPO_NONE ? "none" : topo_hosts_name(&f->switches, s);
}

static const char *above(const struct topo_fabric *f, const char *name)
{
    uint32_t s = topo_hosts_find(&f->switches, name, strlen(name));

    assert_int_not_equal(s, TOPO_NONE);
    s = f->above[s];
    return s == TOPO_NONE ? "none" : topo_hosts_name(&f->switches, s);
}

static void test_the_syntax_of_slurm_is_read(void **state)
{
    static const char text[] =
        "# all there is\n"
        "\n"
        "SwitchName=core Switches=s[1-2] LinkSpeed=800 # before those beneath\n"
        "switchname=s1 NODES=tux[0-3],lx[1,3-5] linkspeed=1\r\n"
        "SwitchName=s2 \\\n"
        "  Nodes=a[0-1]b[0-1],\\\n"
        "login LinkSpeed=2\n"
        "SwitchName=s3 Nodes=";
    struct topo_fabric f;

    (void)state;
    assert_int_equal(parse(&f, text), 0);
    assert_int_equal(f.hosts.count, 8 + 5);
    assert_string_equal(leaf(&f, "tux3"), "s1");
    assert_string_equal(leaf(&f, "lx4"), "s1");
    assert_string_equal(leaf(&f, "lx2"), "none");
    assert_string_equal(leaf(&f, "a1b0"), "s2");
    assert_string_equal(leaf(&f, "login"), "s2");
    assert_string_equal(above(&f, "s1"), "core");
    assert_string_equal(above(&f, "s2"), "core");
    assert_string_equal(above(&f, "core"), "none");
    assert_string_equal(above(&f, "s3"), "none");
    topo_fabric_fini(&f);
}

/* scontrol prints it like this: upper switches list the nodes of the switches
 * beneath them. */
static void test_what_scontrol_prints_is_read(void **state)
{
    static const char text[] =
        "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]\n"
        "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]\n"
        "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]\n";
    struct topo_fabric f;

    (void)state;
    assert_int_equal(parse(&f, text), 0);
    assert_int_equal(f.hosts.count, 8);
    assert_string_equal(leaf(&f, "tux4"), "s1");
    assert_string_equal(above(&f, "s1"), "s2");
    topo_fabric_fini(&f);
}

static void test_hosts_are_found_by_what_people_write(void **state)
{
    struct topo_fabric f;

    (void)state;
    assert_int_equal(
        parse(&f, "SwitchName=s1 Nodes=a,b.example\nSwitchName=s2 Nodes=b\n"),
        0);
    assert_string_equal(leaf(&f, "a.example.org"), "s1");
    assert_string_equal(leaf(&f, "me@a"), "s1");
    assert_string_equal(leaf(&f, "me@a.example"), "s1");
    assert_string_equal(leaf(&f, "b.example"), "s1");
    assert_string_equal(leaf(&f, "b.other"), "s2");
    assert_string_equal(leaf(&f, "c"), "none");
    topo_fabric_fini(&f);
}

static const struct {
    const char *text, *words;
} bad[] = {
    {"", "file:1: no host is named"},
    {"# nothing\n", "no host is named"},
    {"SwitchName=s1 Switches=s2\nSwitchName=s2 Nodes=\n", "no host is named"},
    {"SwitchName=s1\n", "file:1: the line is incomplete"},
    {"Nodes=a\n", "file:1: the line is incomplete"},
    {"\n\nSwitchName=s1 Nodes=a Nodes=b\n", "file:3: \"Nodes=b\" is not"},
    {"BlockName=b1 Nodes=a\n", "file:1: \"BlockName=b1\" is not understood: a "
                               "line is SwitchName=NAME with Nodes=HOSTS"},
    {"SwitchName=s1 Nodes a\n", "\"Nodes\" is not understood"},
    {"SwitchName=s/1 Nodes=a\n", "\"s/1\" is not a name for a switch"},
    {"SwitchName= Nodes=a\n", "is not a name for a switch"},
    {"SwitchName=s1 Nodes=a[1-\n", "file:1: "},
    {"SwitchName=s1 Nodes=a[2-1]\n", "file:1: "},
    {"SwitchName=s1 Nodes=a:2\n", "name it once, without \":N\""},
    {"SwitchName=s1 Nodes=a,b,a\n", "a comes twice"},
    {"SwitchName=s1 Nodes=a\nSwitchName=s2 Nodes=b,a\n",
     "file:2: a is under the switch s1 already"},
    {"SwitchName=s1 Nodes=a\nSwitchName=s1 Nodes=b\n",
     "file:2: the switch s1 is described on line 1"},
    {"SwitchName=s1 Nodes=a\nSwitchName=c Switches=s1\n"
     "SwitchName=d Switches=s1\n",
     "file:3: the switch s1 is under c already"},
    {"SwitchName=s1 Nodes=a\nSwitchName=c Switches=s[1-2]\n",
     "file:2: the switch s2 has no line of its own"},
    {"SwitchName=s1 Nodes=a\nSwitchName=c Switches=c\n",
     "file:2: more than 31 switches are above the switch c, or it is above"},
    {"SwitchName=s1 Nodes=a\nSwitchName=c Switches=d\n\\\nSwitchName=d "
     "Switches=c\n",
     "or it is above itself"},
    {"SwitchName=s1 \\\nNodes=a \\\nWhat=1\n", "file:1: \"What=1\" is not"},
};

static void test_what_is_wrong_is_told_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct topo_fabric f;

        assert_int_equal(parse(&f, bad[i].text), OV_EINVAL);
        if (strstr(why, bad[i].words) == NULL)
            fail_msg("%s: no \"%s\" in \"%s\"", bad[i].text, bad[i].words, why);
        assert_null(f.leaf);
        assert_null(f.above);
        assert_int_equal(f.hosts.count, 0);
    }
}

static void test_bytes_that_are_no_text_are_refused(void **state)
{
    struct topo_fabric f;

    (void)state;
    assert_int_equal(topo_fabric_parse(&f, "SwitchName=a\0b\n", 15, "x", why),
                     OV_EINVAL);
    assert_string_equal(why, "x:1: this is not a line of text");
    assert_int_equal(topo_fabric_read(&f, "/nowhere/at/all", why), OV_ENOENT);
    assert_non_null(strstr(why, "/nowhere/at/all cannot be opened"));
    assert_int_equal(topo_fabric_read(&f, "/", why), OV_ESYS);
    /* The file has no end, and no end of a line. */
    assert_int_equal(topo_fabric_read(&f, "/dev/zero", why), OV_EINVAL);
    assert_string_equal(why, "/dev/zero:1: this is not a line of text");
}

/* No more is read than the longest line may have. */
static void test_lines_have_a_bound(void **state)
{
    enum { TOO_LONG = (4 << 20) + 8 };
    char *text = malloc(TOO_LONG);
    struct topo_fabric f;

    (void)state;
    assert_non_null(text);
    memset(text, '#', TOO_LONG);
    assert_int_equal(topo_fabric_parse(&f, text, TOO_LONG, "x", why),
                     OV_EINVAL);
    memset(text, ' ', TOO_LONG);
    assert_int_equal(topo_fabric_parse(&f, text, TOO_LONG, "x", why),
                     OV_EINVAL);
    free(text);
}

static void test_hosts_of_a_job_come_under_their_switches(void **state)
{
    struct topo_fabric f;
    struct topo_hosts hosts;
    struct topo_under under;

    (void)state;
    assert_int_equal(parse(&f, "SwitchName=c Switches=s[1-2]\n"
                               "SwitchName=s1 Nodes=a[1-9]\n"
                               "SwitchName=s2 Nodes=b[1-9],login\n"),
                     0);
    assert_int_equal(topo_hosts_parse(&hosts, "b2,x,a1,y,a2", why), 0);
    assert_int_equal(topo_under_init(&under, &f, &hosts, 5, "login.site"), 0);
    assert_int_equal(under.switches, 4);
    assert_int_equal(under.unnamed, 2);
    assert_int_equal(under.launcher, under.under[0]);
    assert_int_equal(under.under[1], 3);
    assert_int_equal(under.under[3], 3);
    assert_int_equal(under.under[2], under.under[4]);
    assert_int_not_equal(under.under[0], under.under[2]);
    assert_int_equal(under.above[under.under[0]], 0);
    assert_int_equal(under.above[under.under[2]], 0);
    assert_int_equal(under.above[0], 0);
    assert_int_equal(under.above[3], 3);
    topo_under_fini(&under);
    assert_int_equal(topo_under_init(&under, &f, &hosts, 1, "else"), 0);
    assert_int_equal(under.launcher, TOPO_NONE);
    assert_int_equal(under.unnamed, 0);
    topo_under_fini(&under);
    topo_hosts_fini(&hosts);
    topo_fabric_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_syntax_of_slurm_is_read),
        cmocka_unit_test(test_what_scontrol_prints_is_read),
        cmocka_unit_test(test_hosts_are_found_by_what_people_write),
        cmocka_unit_test(test_what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(test_bytes_that_are_no_text_are_refused),
        cmocka_unit_test(test_lines_have_a_bound),
        cmocka_unit_test(test_hosts_of_a_job_come_under_their_switches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
