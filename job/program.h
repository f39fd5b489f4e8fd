/* Programs of a job: struct job_wish, as a command line or a tool requests one,
 * and struct job_app, as a job holds it.
 *
 * In a request, and for the spawner that starts a program, a program is a few
 * borrowed pointers that are valid for one call; job/wish.h says who owns the
 * arrays. A job owns copies.
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
    const char *cwd;         /* NULL: the current directory of the process that
                                starts it */
    bool cwd_is_optional;    /* if cwd does not exist, act as if it were NULL */
};

enum job_env_what {
    JOB_ENV_SET,   /* NAME=VALUE */
    JOB_ENV_ADD,   /* NAME=VALUE, unless NAME is set already */
    JOB_ENV_UNSET, /* NAME */
    JOB_ENV_PREPEND,
    JOB_ENV_APPEND, /* NAME=VALUE, put after the old value */
    JOB_ENV_CLEAR,  /* an empty text: unsets all that is set */
    JOB_ENV_OWN     /* NAME; the value is taken from the environment of the
                       command that the user runs */
};

/* A change of the environment. */
struct job_env {
    enum job_env_what what;
    char separator; /* the character to put between the old value and the added
                       text */
    const char *text;
};

/* How processes are distributed over nodes, always in blocks of ranks. */
enum job_map {
    JOB_MAP_SLOTS, /* one node after another is filled up to its slots; when the
                      host list gives no slots, the nodes share the processes
                      evenly */
    JOB_MAP_NODES, /* the nodes share the processes evenly */
    JOB_MAPS
};

/* A request for a program: the number of its processes and where they are to
 * run. All pointers are borrowed; zero and NULL mean that nothing was
 * requested. */
struct job_wish {
    struct job_program program;
    const struct job_env *env; /* changes to the environment that processes of
                                  the session's own job have, in order */
    uint32_t env_count;
    uint32_t procs;       /* how many processes; 0: one on each node, or
                             `ppn` */
    uint32_t ppn;         /* the most processes on a node; 0: as many as it has
                             slots */
    enum topo_object per; /* ppn counts processes on each object (core or
                             socket) of a node */
    enum job_map map;
    /* Lists of hosts and paths of host files, in the syntax of topo/hosts.h. A
     * relative path begins in the program's cwd. */
    const char *hosts, *hostfile;         /* run only on these hosts */
    const char *add_hosts, *add_hostfile; /* hosts to add to the tree */
};

/* In place of the number of the rank that reads stdin: all ranks read it. */
#define JOB_READERS_ALL UINT32_MAX
/* In place of a number of bytes of output to keep: the user gave none. */
#define JOB_CACHE_UNSAID UINT32_MAX

struct job_ranks {
    struct topo_range nodes; /* the places of the nodes (job/job.h), from 1 */
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
    struct job_strings env; /* NAME=VALUE, for this program only */
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
/* Copies argv and cwd into a program that has neither. */
int job_app_set(struct job_app *app, const struct job_program *program);

/* The program with borrowed pointers, as the spawner needs it; argv must not be
 * empty. */
struct job_program job_app_program(const struct job_app *app);

/* Makes room for one more item after `count` in an array of *cap items, by
 * doubling it. NULL when memory is out; nothing has changed then. */
void *job_grown(void *items, uint32_t *cap, uint32_t count, size_t each);

#endif
