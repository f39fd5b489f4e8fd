/* Launchers: what is to be run on this machine so that daemons come up.
 *
 *   local   xylemd itself, on this machine
 *   ssh     a remote shell for each daemon
 *   slurm   one srun for all of them
 *
 * Each is a file of its own and a row of EP_LAUNCHER_MAP (boot_config.h).
 * Nobody else compares launchers: what differs between them is a trait here.
 * starter.h drives them.
 */
#ifndef ENDPOINTS_BOOT_LAUNCHER_H
#define ENDPOINTS_BOOT_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "text/fields.h"

struct ep_spawner;

/* One command to be announced to the spawner; all borrowed. */
struct ep_launch {
    struct ep_spawner *spawner;
    uint32_t job; /* the spawner's number for it */
    const char *xylemd;
    const char *const *words; /* local: what xylemd is called with, and NULL */
    const char *rsh;          /* ssh */
    const char *hosts;        /* slurm: with commas between them */
    uint32_t hosts_count;     /* slurm */
    const struct text_buf *text; /* slurm: the start-up text */
};

struct ep_launcher_ops {
    const char *name;
    bool is_here;         /* daemons are on this machine: nodes are virtual */
    bool is_shell;        /* one remote shell a daemon, which starts those
                             beneath it in the same way, unless no_tree_spawn */
    bool is_for_all;      /* one command starts all daemons */
    bool has_text_in_env; /* nothing goes over stdin */
    bool is_swept; /* what a lost daemon has left there is ended by `xylemd
                      --sweep', started in the same way; else whoever manages
                      the resource does that */
    /* What the user may do where the command cannot be executed, and where a
     * daemon was not ready in time; NULL: nothing special. */
    const char *exec_hint, *late_hint;
    /* Why it cannot be used; NULL: it can. May be NULL itself. */
    const char *(*unfit)(bool has_hosts, bool is_in_slurm);
    /* Tells the spawner what to run. Returns 0, OV_EINVAL (the start-up text
     * is too long) or what ep_spawner_job returns. */
    int (*announce)(const struct ep_launch *launch);
    /* Adds the command line that a host is to run, xylemd with these words: its
     * name and this are the last arguments of each process. NULL: they have
     * none of their own. */
    void (*put_line)(struct text_buf *out, const char *xylemd,
                     const char *const *words);
    /* Adds what a message calls the command. */
    void (*put_program)(struct text_buf *out, const char *xylemd,
                        const char *rsh);
};

/* What a daemon is called with, and NULL. */
extern const char *const ep_launcher_boot[2];

#define EP_LAUNCHER_DECLARED(NAME, row)                                        \
    extern const struct ep_launcher_ops ep_launcher_##row;
EP_LAUNCHER_MAP(EP_LAUNCHER_DECLARED)
#undef EP_LAUNCHER_DECLARED

/* O(1). */
const struct ep_launcher_ops *ep_launcher_ops(enum ep_launcher launcher);
/* By its name; EP_LAUNCHERS: there is none of that name. */
enum ep_launcher ep_launcher_find(const char *name);

/* What is meant by `auto`: slurm inside an allocation of Slurm when there is
 * an srun, ssh where hosts are given, else local. `path` is that of programs,
 * NULL: none. Looks into the folders of `path`. */
enum ep_launcher ep_launcher_auto(bool is_in_slurm, bool has_hosts,
                                  const char *path);

#endif
