/* Launchers: what has to run on this machine so that daemons start.
 *
 *   local   xylemd itself, on this machine
 *   ssh     a remote shell for each daemon
 *   slurm   one srun for all of them
 *
 * Each is a file of its own and a row of EP_LAUNCHER_MAP (boot_config.h). No
 * other code asks which launcher it is: what differs between them is a trait
 * here. starter.h drives them.
 */
#ifndef ENDPOINTS_BOOT_LAUNCHER_H
#define ENDPOINTS_BOOT_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "text/fields.h"

struct ep_spawner;

/* A command that is to be announced to the spawner; all borrowed. */
struct ep_launch {
    struct ep_spawner *spawner;
    uint32_t job; /* the spawner's number for it */
    const char *xylemd;
    const char *const *words;    /* local: the words of xylemd, then NULL */
    const char *rsh;             /* ssh */
    const char *hosts;           /* slurm: separated by commas */
    uint32_t hosts_count;        /* slurm */
    const struct text_buf *text; /* slurm: the start-up text */
};

struct ep_launcher_ops {
    const char *name;
    bool is_here; /* daemons run on this machine: nodes are virtual */
    /* One remote shell for each daemon, which starts those beneath it in the
     * same way unless no_tree_spawn is set. */
    bool is_shell;
    bool is_for_all;      /* one command starts all daemons */
    bool has_text_in_env; /* nothing goes over stdin */
    /* `xylemd --sweep', started in the same way, ends what a lost daemon has
     * left there; otherwise the resource manager does that. */
    bool is_swept;
    /* What the user can do when the command cannot be executed, and when a
     * daemon was not ready in time; NULL: nothing special. */
    const char *exec_hint, *late_hint;
    /* Says why the launcher cannot be used; NULL: it can. The pointer may be
     * NULL, too. */
    const char *(*unfit)(bool has_hosts, bool is_in_slurm);
    /* Tells the spawner what to run. Returns 0, OV_EINVAL (the start-up text is
     * too long) or what ep_spawner_job returns. */
    int (*announce)(const struct ep_launch *launch);
    /* Adds the command line that a host is to run: xylemd with these words. The
     * host's name and this line become the last arguments of each process.
     * NULL: the processes have no arguments of their own. */
    void (*put_line)(struct text_buf *out, const char *xylemd,
                     const char *const *words);
    /* Adds the name of the command for messages. */
    void (*put_program)(struct text_buf *out, const char *xylemd,
                        const char *rsh);
};

/* The words for a daemon, then NULL. */
extern const char *const ep_launcher_boot[2];

#define EP_LAUNCHER_DECLARED(NAME, row)                                        \
    extern const struct ep_launcher_ops ep_launcher_##row;
EP_LAUNCHER_MAP(EP_LAUNCHER_DECLARED)
#undef EP_LAUNCHER_DECLARED

/* O(1). */
const struct ep_launcher_ops *ep_launcher_ops(enum ep_launcher launcher);
/* Finds a launcher by its name; EP_LAUNCHERS: there is none of that name. */
enum ep_launcher ep_launcher_find(const char *name);

/* What `auto` means: slurm inside an allocation of Slurm when there is an srun,
 * ssh when hosts are given, else local. `path` lists the folders of programs,
 * which are searched; NULL: none. */
enum ep_launcher ep_launcher_auto(bool is_in_slurm, bool has_hosts,
                                  const char *path);

#endif
