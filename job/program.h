/* Programs of a job: as somebody wishes for them, and as a job has them.
 *
 * Who asks for a program (the command line, a tool) and who starts one (the
 * spawner) borrow: a program is a few pointers there, good for one call, and
 * whoever owns its arrays says so (job/wish.h). A job owns what its text says.
 */
#ifndef JOB_PROGRAM_H
#define JOB_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/object.h"
#include "topo/ranges.h"

/* What a process runs, and where. All is borrowed. */
struct job_program {
    const char *const *argv; /* NULL-terminated, the program first */
    const char *cwd;         /* NULL: where whoever starts it is */
    bool cwd_is_optional;    /* where it does not exist: the starter's own */
};

enum job_env_what {
    JOB_ENV_SET,   /* NAME=VALUE */
    JOB_ENV_ADD,   /* the same, unless there is NAME already */
    JOB_ENV_UNSET, /* NAME */
    JOB_ENV_PREPEND,
    JOB_ENV_APPEND, /* NAME=VALUE, to what there is */
    JOB_ENV_OWN     /* NAME, as the launcher has it: of its command line */
};

/* A change of the environment. */
struct job_env {
    enum job_env_what what;
    char separator; /* between what there is and what comes to it */
    const char *text;
};

/* How processes come to nodes, in blocks of ranks in any case. */
enum job_map {
    JOB_MAP_SLOTS, /* node after node is filled; where the list of hosts says
                      nothing about slots they share evenly */
    JOB_MAP_NODES, /* nodes share them evenly */
    JOB_MAPS
};

/* A program that is asked for, and how many processes of it where. All is
 * borrowed; zero and NULL: nothing is said. */
struct job_wish {
    struct job_program program;
    const struct job_env *env; /* of that of the run's processes, in order */
    uint32_t env_count;
    uint32_t procs;       /* 0: one on each node, or ppn */
    uint32_t ppn;         /* of these on a node at most; 0: by its slots */
    enum topo_object per; /* ppn is for each of these of the node */
    enum job_map map;
    /* Texts of hosts and paths of files of them, as topo/hosts.h has them. A
     * path begins in the program's cwd. */
    const char *hosts, *hostfile;         /* these alone */
    const char *add_hosts, *add_hostfile; /* that the tree is to have */
};

/* All ranks read stdin, in the place of the number of one. */
#define JOB_READERS_ALL UINT32_MAX
/* How much is kept of its output, where it is not said. */
#define JOB_CACHE_UNSAID UINT32_MAX

struct job_ranks {
    struct topo_range nodes; /* by place, from 1 */
    uint32_t each;           /* processes on each node */
    uint32_t first_rank;
};

/* Strings, NULL-terminated where there is one. */
struct job_strings {
    char **at; /* owned, as its strings */
    uint32_t count, cap;
};

/* A program of a job. */
struct job_app {
    struct job_ranks *ranks; /* owned, ascending */
    uint32_t ranks_count, ranks_cap;
    bool cwd_is_optional;
    char *cwd; /* owned; NULL: where the daemon is */
    struct job_strings argv;
    struct job_strings env; /* its own, NAME=VALUE */
};

/* Zeroed it is empty; fini frees it. */
void job_app_fini(struct job_app *app);
void job_strings_fini(struct job_strings *strings);

/* Builders; strings are copied. Return 0 or OV_ENOMEM. */
int job_strings_add(struct job_strings *strings, const char *string);
int job_app_add_ranks(struct job_app *app, struct job_ranks ranks);
/* Puts a copy in the place of *at, which is owned or NULL; a string that is
 * NULL empties it. */
int job_set_string(char **at, const char *string);
/* What the program is, of one that has no words and no directory yet. */
int job_app_set(struct job_app *app, const struct job_program *program);

/* The program as it is started, once it has a word. */
struct job_program job_app_program(const struct job_app *app);

/* Room for one more item of an array of `cap` items after `count`: it doubles.
 * NULL, with nothing changed, when memory is out. */
void *job_grown(void *items, uint32_t *cap, uint32_t count, size_t each);

#endif
