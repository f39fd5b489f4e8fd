/* Values that go between a tool and the one who serves it: what libpmix calls
 * infos, with types of ours.
 *
 * All pointers are borrowed. Who is given a value may read it as long as the
 * comment of what has it says; who gives one keeps it until the call returns.
 */
#ifndef PMIX_API_HELPER_LIB_VALUE_H
#define PMIX_API_HELPER_LIB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PX_LIB_NAME_BYTES = 256 };

/* A rank that means all of them. */
#define PX_LIB_ALL ((uint32_t)-2)
/* One that means none. */
#define PX_LIB_UNDEFINED ((uint32_t)-1)
/* Ranks of a target that are no ranks: processes of a node. */
#define PX_LIB_LOCAL_NODE  ((uint32_t)-3)
#define PX_LIB_LOCAL_PEERS ((uint32_t)-5)

struct px_lib_name {
    char nspace[PX_LIB_NAME_BYTES];
    uint32_t rank;
};

enum px_lib_type {
    PX_LIB_OTHER,  /* one that is none of these; never given to the library */
    PX_LIB_FLAG,   /* also where there is no value: true */
    PX_LIB_NUMBER, /* 0 or more */
    PX_LIB_TEXT,
    PX_LIB_NAME,
    PX_LIB_RANK,
    /* To the tool only; from it they are of another type: */
    PX_LIB_TIME,
    PX_LIB_STATUS,
    PX_LIB_NAMES,
    PX_LIB_TABLE,
    PX_LIB_INFOS
};

/* How wide a number is for the tool. */
enum px_lib_width {
    PX_LIB_U32,
    PX_LIB_U16,
    PX_LIB_U64,
    PX_LIB_SIZE, /* size_t */
    PX_LIB_INT
};

/* What has become of a job, also as an event. */
enum px_lib_status {
    PX_LIB_SUCCESS,
    PX_LIB_JOB_START,
    PX_LIB_LAUNCH_COMPLETE,
    PX_LIB_JOB_END,
    PX_LIB_IOF_FAILURE,
    PX_LIB_JOB_ABORTED,
    PX_LIB_JOB_NON_ZERO,
    PX_LIB_JOB_SIGNALLED,
    PX_LIB_STATUSES
};

enum px_lib_state {
    PX_LIB_STARTING,
    PX_LIB_RUNNING,
    PX_LIB_ENDED,
    PX_LIB_KILLED, /* by a signal */
    PX_LIB_STATES
};

/* A row of a table of processes. */
struct px_lib_process {
    const char *nspace;
    uint32_t rank;
    const char *host, *program;
    int32_t pid; /* 0: unknown */
    enum px_lib_state state;
    int exit_code; /* that libpmix 4.2 does not send */
};

struct px_lib_info;

struct px_lib_value {
    enum px_lib_type type;
    enum px_lib_width width; /* of a number */
    size_t count;            /* of names, a table, infos */
    union {
        bool flag;
        uint64_t number;
        const char *text;                /* not NULL */
        const struct px_lib_name *names; /* NAME: one */
        uint32_t rank;
        int64_t time_s;
        enum px_lib_status status;
        const struct px_lib_process *table;
        const struct px_lib_info *infos;
    } as;
};

struct px_lib_info {
    const char *key;
    bool is_required;
    struct px_lib_value value;
};

#endif
