/* Starts daemons as the tasks of one step of Slurm: a single srun, one task a
 * node.
 *
 * The step shares the allocation with other steps, may use all of each node
 * that the allocation has, and goes on when nodes and tasks are lost: xylem
 * decides what a loss means. srun carries only the start-up text, in the
 * environment, and what daemons print before they have connected to their
 * parents.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/boot_env.h"
#include "endpoints/boot/launcher.h"
#include "endpoints/boot/task_env.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"

/* True for the variables of Slurm that tell srun in which allocation it is.
 * Other variables of Slurm are settings for the user's own steps (a layout, a
 * binding, labels) or describe a task in which the launcher runs. */
static bool is_for_srun(const char *entry)
{
    static const char *const kept[] = {
        "SLURM_CLUSTERS=",    "SLURM_CLUSTER_NAME=",   "SLURM_CONF=",
        "SLURM_DEBUG",        "SLURM_JOBID=",          "SLURM_JOB_ID=",
        "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES",   "SLURM_JWT=",
        "SLURM_NODELIST=",    "SLURM_WORKING_CLUSTER",
    };

    if (strncmp(entry, "SRUN_", 5) == 0)
        return false;
    if (strncmp(entry, "SLURM_", 6) != 0)
        return !ep_task_env_has(entry);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (strncmp(entry, kept[i], strlen(kept[i])) == 0)
            return true;
    }
    return false;
}

/* Makes the environment for srun: a new array of borrowed strings. */
static const char **make_env(char *const *boot)
{
    size_t count = EP_BOOT_ENV_PIECES_MAX + 1, at = 0;
    const char **env;

    for (char **e = environ; *e != NULL; e++)
        count++;
    env = calloc(count, sizeof(*env));
    if (env == NULL)
        return NULL;
    for (char **e = environ; *e != NULL; e++) {
        if (is_for_srun(*e))
            env[at++] = *e;
    }
    for (; *boot != NULL; boot++)
        env[at++] = *boot;
    return env;
}

static int run(const struct ep_launch *launch, const char **env)
{
    char ntasks[32], nodes[32];
    struct text_buf list = {0};
    int rc = OV_ENOMEM;

    snprintf(ntasks, sizeof(ntasks), "--ntasks=%u", launch->hosts_count);
    snprintf(nodes, sizeof(nodes), "--nodes=%u", launch->hosts_count);
    text_buf_puts(&list, "--nodelist=");
    text_buf_puts(&list, launch->hosts);
    if (!list.bad) {
        const char *argv[] = {
            "srun", nodes, ntasks, "--ntasks-per-node=1", list.at,
            /* Runs beside other steps, with everything the allocation has. */
            "--overlap", "--mem=0", "--cpu-bind=none",
            /* Runs a plain program, whose stdin and output do not go through
             * srun. */
            "--mpi=none", "--input=none", "--export=ALL",
            /* The directory of the job is for its processes only. When a host
             * lacks it, Slurm would complain and use /tmp. */
            "--chdir=/tmp",
            /* Puts the task's number before each line; the last line of a task
             * tells why it has ended. */
            "--label",
            /* The end of a task or node does not end the other tasks. */
            "--no-kill", "--kill-on-bad-exit=0", "--wait=0", launch->xylemd,
            "--boot-env", NULL};
        struct ep_spawn_job job = {
            .program.argv = argv, .env = env, .new_session = true};

        rc = ep_spawner_job(launch->spawner, launch->job, &job);
    }
    text_buf_fini(&list);
    return rc;
}

static int announce(const struct ep_launch *launch)
{
    char **boot;
    const char **env = NULL;
    int rc = ep_boot_env_make(launch->text, &boot);

    if (rc == 0) {
        env = make_env(boot);
        rc = env == NULL ? OV_ENOMEM : run(launch, env);
    }
    free(env);
    ep_boot_env_free(boot);
    return rc;
}

static void put_program(struct text_buf *out, const char *xylemd,
                        const char *rsh)
{
    (void)xylemd;
    (void)rsh;
    text_buf_puts(out, "srun");
}

static const char *unfit(bool has_hosts, bool is_in_slurm)
{
    (void)has_hosts;
    return is_in_slurm ? NULL
                       : "works only in an allocation of Slurm: get one with "
                         "salloc or sbatch";
}

const struct ep_launcher_ops ep_launcher_slurm = {
    .name = "slurm",
    .is_for_all = true,
    .has_text_in_env = true,
    .late_hint = " (scontrol ping and sinfo say whether Slurm answers; "
                 "--launch-timeout gives it more time)",
    .unfit = unfit,
    .announce = announce,
    .put_program = put_program,
};
