/* Allocations: environments of resource managers and their meaning, and
 * environments that are not valid. The environments are those that the managers
 * make for a job; files are written into TMPDIR. */
#include "topo/allocation.h"

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

enum { TEXT_MAX = 4096, VARIABLES = 8 };

/* "NAME=VALUE", ended by NULL. */
struct environment {
    const char *entries[VARIABLES];
};

static const char *look_up(void *arg, const char *name)
{
    const struct environment *env = arg;
    size_t len = strlen(name);

    for (unsigned i = 0; i < VARIABLES && env->entries[i] != NULL; i++) {
        if (strncmp(env->entries[i], name, len) == 0 &&
            env->entries[i][len] == '=')
            return env->entries[i] + len + 1;
    }
    return NULL;
}

/* Returns the list as "name:slots ...", in a static buffer. */
static const char *written(const struct topo_hosts *hosts)
{
    static char out[TEXT_MAX];
    size_t len = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < hosts->count; i++)
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s:%u",
                                i == 0 ? "" : " ", topo_hosts_name(hosts, i),
                                hosts->items[i].slots);
    return out;
}

/* Returns "Manager host:slots ...", or the words of an error. */
static const char *read_as(const struct environment *env)
{
    static char out[TEXT_MAX];
    struct environment copy = *env;
    struct topo_hosts hosts;
    enum topo_manager manager;
    char why[TOPO_WHY_MAX] = "";

    if (topo_allocation_read(look_up, &copy, &hosts, &manager, why) != 0) {
        assert_int_equal(hosts.count, 0);
        assert_null(hosts.items);
        return strcpy(out, why);
    }
    snprintf(out, sizeof(out), "%s %.4000s", topo_manager_name(manager),
             written(&hosts));
    topo_hosts_fini(&hosts);
    return out;
}

/* Makes a file of this text; returns the environment entry that names it, in a
 * static buffer. */
static const char *file(const char *variable, const char *text)
{
    static char entry[512];
    const char *tmp = getenv("TMPDIR");
    char path[400];
    FILE *out;

    snprintf(path, sizeof(path), "%.300s/allocation", tmp ? tmp : "/tmp");
    out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    fclose(out);
    snprintf(entry, sizeof(entry), "%s=%s", variable, path);
    return entry;
}

static const struct {
    struct environment env;
    const char *want;
} plain[] = {
    {{{NULL}}, "none "},
    {{{"HOME=/root", "SLURM_JOB_NODELIST="}}, "none "},
    /* Made by salloc -N 4 of Slurm 22.05. */
    {{{"SLURM_TASKS_PER_NODE=1(x4)", "SLURM_JOB_CPUS_PER_NODE=2(x4)",
       "SLURM_JOB_NODELIST=h[1-4]", "SLURM_NODELIST=h[1-4]", "SLURM_JOB_ID=1"}},
     "Slurm h1:1 h2:1 h3:1 h4:1"},
    {{{"SLURM_JOB_NODELIST=n[08-10,12],login",
       "SLURM_TASKS_PER_NODE=2(x3),1,16"}},
     "Slurm n08:2 n09:2 n10:2 n12:1 login:16"},
    {{{"SLURM_JOB_NODELIST=a,b", "SLURM_JOB_CPUS_PER_NODE=72,36",
       "SLURM_CPUS_PER_TASK=8"}},
     "Slurm a:9 b:4"},
    {{{"SLURM_JOB_NODELIST=a", "SLURM_JOB_CPUS_PER_NODE=2",
       "SLURM_CPUS_PER_TASK=4"}},
     "Slurm a:1"},
    {{{"SLURM_NODELIST=a,b"}}, "Slurm a:0 b:0"},
    {{{"LSB_MCPU_HOSTS=hostA 4 hostB 2 hostC 0 ", "LSB_HOSTS=hostA hostA"}},
     "LSF hostA:4 hostB:2"},
    {{{"LSB_HOSTS=hostA hostA hostB"}}, "LSF hostA:2 hostB:1"},
};

static void environments_mean_hosts_with_slots(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        assert_string_equal(read_as(&plain[i].env), plain[i].want);
}

static void files_mean_hosts_with_slots(void **state)
{
    struct environment env = {
        {file("PBS_NODEFILE", "n1.site\nn1.site\n\nn2.site\nn1.site\n")}};

    (void)state;
    assert_string_equal(read_as(&env), "PBS n1.site:3 n2.site:1");
    env.entries[0] = file("PBS_NODEFILE", "n1\nn2\n");
    env.entries[1] = "PBS_NUM_PPN=4";
    assert_string_equal(read_as(&env), "PBS n1:4 n2:4");
    env.entries[0] = file("PBS_NODEFILE", "n1\nn2\nn1\n");
    assert_string_equal(read_as(&env), "PBS n1:2 n2:1");
    env.entries[0] = file("LSB_DJOB_HOSTFILE", "hostA\nhostA\nhostB");
    env.entries[1] = "LSB_MCPU_HOSTS=other 9";
    assert_string_equal(read_as(&env), "LSF hostA:2 hostB:1");
    env.entries[0] = file("PE_HOSTFILE", "a.site 4 all.q@a.site UNDEFINED\n"
                                         "b.site 0 all.q@b.site <NULL>\n"
                                         "c.site 2 all.q@c.site <NULL>\n");
    env.entries[1] = NULL;
    assert_string_equal(read_as(&env), "SGE a.site:4 c.site:2");
}

/* What the managers write for some jobs: the file, and the variables that are
 * also set. */
static const struct {
    const char *variable, *text;
    struct environment env;
    const char *want;
} written_files[] = {
    /* Torque, qsub -l nodes=2:ppn=3: processors in descending order, the first
     * host (mother superior) first */
    {"PBS_NODEFILE",
     "node02\nnode02\nnode02\nnode01\nnode01\nnode01\n",
     {{"PBS_NUM_NODES=2", "PBS_NUM_PPN=3", "PBS_NP=6"}},
     "PBS node02:3 node01:3"},
    /* Torque, -l nodes=1:ppn=4+2:ppn=1; PBS_NUM_PPN is the number of the first
     * part */
    {"PBS_NODEFILE",
     "big1\nbig1\nbig1\nbig1\nsmall7\nsmall8\n",
     {{"PBS_NUM_NODES=3", "PBS_NUM_PPN=4", "PBS_NP=6"}},
     "PBS big1:4 small7:1 small8:1"},
    /* PBS Professional, -l select=2:ncpus=8:mpiprocs=2+1:ncpus=4: two chunks on
     * one host, whose name comes again later */
    {"PBS_NODEFILE",
     "r1i0n3.ib0.site\nr1i0n3.ib0.site\nr1i0n4.ib0.site\n"
     "r1i0n4.ib0.site\nr1i0n3.ib0.site\n",
     {{"NCPUS=8", "OMP_NUM_THREADS=8", "PBS_ENVIRONMENT=PBS_BATCH"}},
     "PBS r1i0n3.ib0.site:3 r1i0n4.ib0.site:2"},
    /* The same selection without mpiprocs: one process for each chunk. */
    {"PBS_NODEFILE",
     "cn001\ncn002\ncn003\n",
     {{"NCPUS=16", "OMP_NUM_THREADS=16"}},
     "PBS cn001:1 cn002:1 cn003:1"},
    /* each host once, PBS_NUM_PPN, and no newline at the end */
    {"PBS_NODEFILE", "n2\nn10", {{"PBS_NUM_PPN=16"}}, "PBS n2:16 n10:16"},
    {"PBS_NODEFILE", "n2\nn10", {{"PBS_NUM_PPN="}}, "PBS n2:1 n10:1"},
    {"PBS_NODEFILE", "n2\nn10", {{"PBS_NUM_PPN=x"}}, "PBS n2:1 n10:1"},
    /* LSF, bsub -n 5 -R span[ptile=3]; the lists in the environment are the
     * same */
    {"LSB_DJOB_HOSTFILE",
     "hosta\nhosta\nhosta\nhostb\nhostb\n",
     {{"LSB_MCPU_HOSTS=hosta 3 hostb 2 ", "LSB_DJOB_NUMPROC=5",
       "LSB_HOSTS=hosta hosta hosta hostb hostb"}},
     "LSF hosta:3 hostb:2"},
    /* Grid Engine: qsub -pe mpi 7; one host comes by two queues, with one line
     * each */
    {"PE_HOSTFILE",
     "c1.site 4 all.q@c1.site UNDEFINED\n"
     "c2.site 2 all.q@c2.site UNDEFINED\n"
     "c1.site 1 long.q@c1.site UNDEFINED\n",
     {{"NSLOTS=7", "NHOSTS=2", "PE=mpi"}},
     "SGE c1.site:5 c2.site:2"},
    /* With -binding pe linear:2 the fourth field has sockets and cores. */
    {"PE_HOSTFILE",
     "c1 2 all.q@c1 0,0:0,1\nc2 2 all.q@c2 1,2:1,3\n",
     {{"NSLOTS=4"}},
     "SGE c1:2 c2:2"},
    /* Univa writes <NULL> in that field; one host of the list has given no
     * slot. */
    {"PE_HOSTFILE",
     "c1\t8\tall.q@c1\t<NULL>\r\nc2 0 all.q@c2 <NULL>\n",
     {{"NSLOTS=8"}},
     "SGE c1:8"},
};

static void files_are_read_as_managers_write_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(written_files) / sizeof(written_files[0]);
         i++) {
        struct environment env = written_files[i].env;
        unsigned free_entry = 0;

        while (env.entries[free_entry] != NULL)
            free_entry++;
        env.entries[free_entry] =
            file(written_files[i].variable, written_files[i].text);
        assert_string_equal(read_as(&env), written_files[i].want);
    }
}

static const struct {
    struct environment env;
    const char *words;
} bad[] = {
    {{{"SLURM_JOB_NODELIST=n[1-"}}, "SLURM_JOB_NODELIST: "},
    {{{"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2"}},
     "SLURM_TASKS_PER_NODE: there are counts for only 1 of the 3 hosts"},
    {{{"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x4)"}},
     "for more than the 3 hosts"},
    {{{"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x3),1"}},
     "for more than the 3 hosts"},
    {{{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2(x"}}, "2(x3),1"},
    {{{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=x"}}, "2(x3),1"},
    {{{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=1;"}}, "2(x3),1"},
    {{{"SLURM_JOB_NODELIST=n1", "SLURM_JOB_CPUS_PER_NODE=99999999999"}},
     "SLURM_JOB_CPUS_PER_NODE: "},
    {{{"LSB_MCPU_HOSTS=hostA"}}, "no number of processors follows \"hostA\""},
    {{{"LSB_MCPU_HOSTS=hostA hostB"}}, "follows \"hostA\""},
    {{{"LSB_MCPU_HOSTS=hostA 0"}}, "the allocation of LSF names no host"},
    {{{"LSB_MCPU_HOSTS=hostA 2 hostB -1"}}, "follows \"hostB\""},
    {{{"LSB_HOSTS=a;b"}}, "LSB_HOSTS: \"a;b\" is not a host name"},
    {{{"PBS_NODEFILE=/nonexistent/file"}},
     "PBS_NODEFILE names /nonexistent/file, which cannot be opened: No such"},
    {{{"PE_HOSTFILE=/"}}, "PE_HOSTFILE, /: cannot be read: Is a directory"},
};

static void bad_environments_are_explained(void **state)
{
    struct environment env = {{file("PE_HOSTFILE", "host\n")}};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (strstr(read_as(&bad[i].env), bad[i].words) == NULL)
            fail_msg("%s -> %s", bad[i].words, read_as(&bad[i].env));
    }
    assert_non_null(strstr(read_as(&env), "no number of slots follows"));
    env.entries[0] = file("PE_HOSTFILE", "a all.q@a 4 UNDEFINED\n");
    assert_non_null(strstr(read_as(&env), "no number of slots follows \"a\""));
    env.entries[0] = file("PE_HOSTFILE", "a 0 all.q@a UNDEFINED\n");
    assert_non_null(strstr(read_as(&env), "of SGE names no host"));
    env.entries[0] = file("LSB_DJOB_HOSTFILE", "");
    assert_non_null(strstr(read_as(&env), "of LSF names no host"));
    env.entries[0] = file("PBS_NODEFILE", "-rf\n");
    assert_non_null(strstr(read_as(&env), "\"-rf\" is not a host name"));
    env.entries[0] = file("PBS_NODEFILE", "\n\n");
    assert_non_null(strstr(read_as(&env), "of PBS names no host"));
}

/* Returns the part of an allocation that was chosen, or the words of an
 * error. */
static const char *chosen(const char *allocation, const char *wanted)
{
    static char out[TEXT_MAX];
    struct topo_hosts hosts, list;
    char why[TOPO_WHY_MAX] = "";
    int rc;

    assert_int_equal(topo_hosts_parse(&hosts, allocation, why), 0);
    assert_int_equal(topo_hosts_parse(&list, wanted, why), 0);
    rc = topo_allocation_choose(&hosts, &list, TOPO_MANAGER_SLURM, why);
    snprintf(out, sizeof(out), "%.4000s", rc == 0 ? written(&hosts) : why);
    topo_hosts_fini(&hosts);
    topo_hosts_fini(&list);
    return out;
}

static void users_choose_within_the_allocation(void **state)
{
    (void)state;
    assert_string_equal(chosen("n[1-4]:2", "n[3,1]"), "n3:2 n1:2");
    assert_string_equal(chosen("n[1-4]:2", "n2:1,n4"), "n2:1 n4:2");
    assert_string_equal(chosen("a,b", "b:8"), "b:8");
    assert_non_null(strstr(chosen("n[1-4]:2", "n[3-6],x"),
                           "n[5-6],x: not in the allocation that Slurm has"));
    assert_non_null(strstr(chosen("n[1-4]:2", "n2:3"),
                           "n2: 3 slots are asked for, the allocation has 2"));
}

static const char *without(const char *all, const char *excluded)
{
    static char out[TEXT_MAX];
    struct topo_hosts hosts, list;
    char why[TOPO_WHY_MAX] = "";
    int rc;

    assert_int_equal(topo_hosts_parse(&hosts, all, why), 0);
    assert_int_equal(topo_hosts_parse(&list, excluded, why), 0);
    rc = topo_hosts_exclude(&hosts, &list, "--exclude", why);
    snprintf(out, sizeof(out), "%.4000s", rc == 0 ? written(&hosts) : why);
    topo_hosts_fini(&hosts);
    topo_hosts_fini(&list);
    return out;
}

static void excluded_hosts_are_left_out(void **state)
{
    (void)state;
    assert_string_equal(without("n[1-5]:2", "n[2-3],n5"), "n1:2 n4:2");
    assert_string_equal(without("a,b,a", "b"), "a:2");
    assert_string_equal(without("a,b", "c"),
                        "--exclude: c is not among the hosts");
    assert_string_equal(without("a,b", "n[1-3],a"),
                        "--exclude: n[1-3] are not among the hosts");
    assert_string_equal(without("a,b", "b,a"), "--exclude leaves no host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environments_mean_hosts_with_slots),
        cmocka_unit_test(files_mean_hosts_with_slots),
        cmocka_unit_test(files_are_read_as_managers_write_them),
        cmocka_unit_test(bad_environments_are_explained),
        cmocka_unit_test(users_choose_within_the_allocation),
        cmocka_unit_test(excluded_hosts_are_left_out),
    };

    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
