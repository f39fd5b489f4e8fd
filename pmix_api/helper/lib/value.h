/* Values that a tool and its helper exchange: what libpmix calls infos, in
 * types that do not need the headers of libpmix.
 *
 * All pointers are borrowed. The receiver of a value may read it for as long as
 * the comment of the struct or function says that passes it; a caller that
 * passes a value must keep it until the call returns.
 */
#ifndef PMIX_API_HELPER_LIB_VALUE_H
#define PMIX_API_HELPER_LIB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PX_LIB_NAME_BYTES = 256 };

/* A rank that means all ranks. */
#define PX_LIB_ALL ((uint32_t)-2)
/* A rank that means no rank. */
#define PX_LIB_UNDEFINED ((uint32_t)-1)
/* Instead of the rank of a target: the processes on the tool's node. */
#define PX_LIB_LOCAL_NODE  ((uint32_t)-3)
#define PX_LIB_LOCAL_PEERS ((uint32_t)-5)

struct px_lib_name {
    char nspace[PX_LIB_NAME_BYTES];
    uint32_t rank;
};

enum px_lib_type {
    PX_LIB_OTHER,  /* a value of another type than those below; never passed to
                      libpmix */
    PX_LIB_FLAG,   /* a bool; a missing value counts as true */
    PX_LIB_NUMBER, /* 0 or more */
    PX_LIB_TEXT,
    PX_LIB_NAME,
    PX_LIB_RANK,
    /* Types of values to the tool only; from the tool they become PX_LIB_OTHER:
     */
    PX_LIB_TIME,
    PX_LIB_STATUS,
    PX_LIB_NAMES,
    PX_LIB_TABLE,
    PX_LIB_INFOS
};

/* The type in which the tool gets a number. */
enum px_lib_width {
    PX_LIB_U32,
    PX_LIB_U16,
    PX_LIB_U64,
    PX_LIB_SIZE, /* The number goes out as a size_t. */
    PX_LIB_INT
};

/* How a job or process has ended; also the codes of events. */
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
    PX_LIB_KILLED, /* a signal has ended the process */
    PX_LIB_STATES
};

/* A row of a table of processes. */
struct px_lib_process {
    const char *nspace;
    uint32_t rank;
    const char *host, *program;
    int32_t pid; /* the pid; 0: it is unknown */
    enum px_lib_state state;
    int exit_code; /* not sent by libpmix 4.2 */
};

struct px_lib_info;

struct px_lib_value {
    enum px_lib_type type;
    enum px_lib_width width; /* PX_LIB_NUMBER: the type in which the tool gets
                                it */
    size_t count;            /* how many names, rows of a table, or infos the
                                value has */
    union {
        bool flag;
        uint64_t number;
        const char *text;                /* never NULL */
        const struct px_lib_name *names; /* PX_LIB_NAME: one name */
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
