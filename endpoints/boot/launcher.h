/* Launchers: the commands that run on this machine so that daemons start.
 *
 *   local   xylemd itself, on this machine
 *   ssh     a remote shell for each daemon
 *   slurm   one srun for all of them
 *
 * Each is a file of its own and a row of EP_LAUNCHER_MAP (boot_config.h). No
 * other code asks which launcher is used: what differs between them is a member
 * of struct ep_launcher_ops. starter.h drives them.
 */
#ifndef ENDPOINTS_BOOT_LAUNCHER_H
#define ENDPOINTS_BOOT_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "text/fields.h"

struct ep_spawner;

/* A command that the spawner is to know; all pointers are borrowed. */
struct ep_launch {
    struct ep_spawner *spawner;
    uint32_t job; /* the spawner's number for the command */
    const char *xylemd;
    /* local: the arguments of xylemd, NULL-terminated */
    const char *const *words;
    const char *rsh;             /* ssh: the remote shell */
    const char *hosts;           /* slurm: hosts, separated by commas */
    uint32_t hosts_count;        /* slurm: number of hosts */
    const struct text_buf *text; /* slurm: the start-up text */
};

struct ep_launcher_ops {
    const char *name;
    bool is_here; /* daemons run on this machine, so nodes are virtual */
    /* There is a remote shell for each daemon, and unless no_tree_spawn is set
     * the daemon starts the daemons beneath it in the same way. */
    bool is_shell;
    bool is_for_all; /* one command starts all daemons */
    /* the text is in the environment, and stdin is not used */
    bool has_text_in_env;
    /* Whatever a lost daemon has left on its host is ended by `xylemd --sweep',
     * which is started in the same way; false: the resource manager ends it. */
    bool is_swept;
    /* What the user can do when the command cannot be executed, and when a
     * daemon was not ready in time; NULL: there is no hint. */
    const char *exec_hint, *late_hint;
    /* Returns why the launcher cannot be used; NULL: it can. `unfit` may be
     * NULL: the launcher can always be used. */
    const char *(*unfit)(bool has_hosts, bool is_in_slurm);
    /* Makes the command known to the spawner. Returns 0, OV_EINVAL (the
     * start-up text is too long) or what ep_spawner_job returns. */
    int (*announce)(const struct ep_launch *launch);
    /* Adds the command line that a host is to run: xylemd with these arguments.
     * The host's name and this line become the last arguments of each process.
     * `put_line` is NULL when the processes have no arguments of their own. */
    void (*put_line)(struct text_buf *out, const char *xylemd,
                     const char *const *words);
    /* Adds the name of the command, for messages. */
    void (*put_program)(struct text_buf *out, const char *xylemd,
                        const char *rsh);
};

/* The arguments of xylemd for a daemon, NULL-terminated. */
extern const char *const ep_launcher_boot[2];

#define EP_LAUNCHER_DECLARED(NAME, row)                                        \
    extern const struct ep_launcher_ops ep_launcher_##row;
EP_LAUNCHER_MAP(EP_LAUNCHER_DECLARED)
#undef EP_LAUNCHER_DECLARED

/* Returns the table of a launcher. O(1). */
const struct ep_launcher_ops *ep_launcher_ops(enum ep_launcher launcher);
/* Finds a launcher by its name; returns EP_LAUNCHERS when none has that
 * name. */
enum ep_launcher ep_launcher_find(const char *name);

/* Returns whether one of these folders, listed as in PATH, has a program of
 * this name. `path` may be NULL. */
bool ep_launcher_has_program(const char *path, const char *name);

/* Chooses the launcher for the name `auto`: slurm inside an allocation of Slurm
 * when there is an srun, ssh when other hosts are given, else local. `path`
 * lists the folders in which srun is searched, as PATH does; NULL: none. */
enum ep_launcher ep_launcher_auto(bool is_in_slurm, bool has_others,
                                  const char *path);

#endif
