/* Programs of a job, as somebody requests them and as a job holds them.
 *
 * Both who requests a program (the command line, a tool) and who starts it (the
 * spawner) borrow: there a program is a few pointers, valid for one call;
 * job/wish.h says who owns its arrays. A job owns copies.
 */
#ifndef JOB_PROGRAM_H
#define JOB_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/object.h"
#include "topo/ranges.h"

/* What a process runs, and where. All pointers are borrowed. */
struct job_program {
    const char *const *argv; /* NULL-terminated, the program first */
    const char *cwd;         /* NULL: the directory of whoever starts it */
    bool cwd_is_optional;    /* where cwd does not exist, use the starter's */
};

enum job_env_what {
    JOB_ENV_SET,   /* NAME=VALUE */
    JOB_ENV_ADD,   /* NAME=VALUE, unless NAME is set already */
    JOB_ENV_UNSET, /* NAME */
    JOB_ENV_PREPEND,
    JOB_ENV_APPEND, /* NAME=VALUE, added to the value there is */
    JOB_ENV_OWN     /* NAME, with the value from the launcher's command line */
};

/* A change of the environment. */
struct job_env {
    enum job_env_what what;
    char separator; /* between the old value and what is added to it */
    const char *text;
};

/* How processes are distributed over nodes, always in blocks of ranks. */
enum job_map {
    JOB_MAP_SLOTS, /* fills node after node; where the list of hosts names no
                      slots, nodes share them evenly */
    JOB_MAP_NODES, /* nodes share them evenly */
    JOB_MAPS
};

/* A program that is requested, with the number of its processes and where they
 * go. All pointers are borrowed; zero and NULL: not given. */
struct job_wish {
    struct job_program program;
    const struct job_env *env; /* changes to the environment of the run's
                                  processes, in order */
    uint32_t env_count;
    uint32_t procs;       /* 0: one on each node, or ppn */
    uint32_t ppn;         /* most processes on a node; 0: by its slots */
    enum topo_object per; /* ppn is for each object of this kind */
    enum job_map map;
    /* Lists of hosts and paths of host files, in the syntax of topo/hosts.h. A
     * relative path begins in the program's cwd. */
    const char *hosts, *hostfile;         /* run on these hosts only */
    const char *add_hosts, *add_hostfile; /* hosts to add to the tree */
};

/* All ranks read stdin; used instead of the number of one rank. */
#define JOB_READERS_ALL UINT32_MAX
/* The number of bytes of output to keep was not given. */
#define JOB_CACHE_UNSAID UINT32_MAX

struct job_ranks {
    struct topo_range nodes; /* by place, from 1 */
    uint32_t each;           /* processes on each node */
    uint32_t first_rank;
};

/* An array of strings, NULL-terminated unless it is empty. */
struct job_strings {
    char **at; /* owned, with its strings */
    uint32_t count, cap;
};

/* A program of a job. */
struct job_app {
    struct job_ranks *ranks; /* owned, in ascending order */
    uint32_t ranks_count, ranks_cap;
    bool cwd_is_optional;
    char *cwd; /* owned; NULL: the directory of the daemon */
    struct job_strings argv;
    struct job_strings env; /* its own, NAME=VALUE */
};

/* A zeroed program is empty; job_app_fini() frees what it owns. */
void job_app_fini(struct job_app *app);
void job_strings_fini(struct job_strings *strings);

/* Functions that build a program. They copy strings and return 0 or
 * OV_ENOMEM. */
int job_strings_add(struct job_strings *strings, const char *string);
int job_app_add_ranks(struct job_app *app, struct job_ranks ranks);
/* Replaces *at, which is owned or NULL, by a copy of the string, or by NULL. */
int job_set_string(char **at, const char *string);
/* Copies words and directory into a program that has none yet. */
int job_app_set(struct job_app *app, const struct job_program *program);

/* The program as it is started; it must have a word. */
struct job_program job_app_program(const struct job_app *app);

/* Makes room for one more item after `count` in an array of *cap items, by
 * doubling it. NULL when memory is out; nothing has changed then. */
void *job_grown(void *items, uint32_t *cap, uint32_t count, size_t each);

#endif
