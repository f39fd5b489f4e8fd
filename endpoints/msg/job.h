/* What the launcher tells the nodes about a job, on stream 0.
 *
 * A job travels as text of endpoints/msg/text.h, cut into APP messages:
 *
 *     job NUMBER SIZE NODES     number, processes, nodes that host some
 *     ranks FIRST LAST COUNT RANK  nodes FIRST..LAST host COUNT each, from RANK
 *     stdin FIRST LAST          ranks that read stdin; none: nobody does
 *     stdin-slow spill BYTES | close MS    a slow reader is not waited for
 *     spill-dir DIR             where; none: the daemon's own TMPDIR
 *     raw | merge-stderr        present or not
 *     open-ms N                 an open line older than this is shown
 *     linger-ms N               channels are read so long past the exit
 *     cwd DIR
 *     cwd-optional              where DIR does not exist: the daemon's own
 *     arg WORD                  in order, the program first
 *     env NAME=VALUE
 *
 * Nodes and ranks ascend, and each rank from 0 to SIZE - 1 is on one node.
 */
#ifndef ENDPOINTS_MSG_JOB_H
#define ENDPOINTS_MSG_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/msg/text.h"
#include "overlay/control.h"
#include "topo/tree.h"

/* Messages of the driver on stream 0. */
enum ep_control_kind {
    EP_CONTROL_JOB = OV_CONTROL_APP, /* a piece of a job's text */
    EP_CONTROL_SIGNAL,               /* number 4: to every process */
    EP_CONTROL_KILL,                 /* end every process and all it started */
};

enum { EP_JOB_BYTES_MAX = 16 << 20, EP_STREAM_STDIN = 1 };

/* Bytes that a process may be behind with EP_SLOW_SPILL. */
#define EP_SPILL_BYTES_MIN (UINT64_C(1) << 20)
#define EP_SPILL_BYTES_MAX (UINT64_C(1) << 40)

/* What is done about a process that does not read its stdin. */
enum ep_slow_policy {
    EP_SLOW_WAIT,  /* everybody waits */
    EP_SLOW_SPILL, /* its bytes wait in a file */
    EP_SLOW_CLOSE, /* its stdin is closed */
};

struct ep_job_ranks {
    struct topo_range nodes;
    uint32_t each; /* processes on each node */
    uint32_t first_rank;
};

struct ep_job {
    uint32_t number;
    uint32_t size;
    uint32_t nodes;
    bool is_raw;
    bool merges_stderr;
    bool cwd_is_optional;
    uint32_t open_ms; /* 0: open lines wait for their end */
    uint32_t linger_ms;
    enum ep_slow_policy slow;
    uint64_t spill_bytes; /* of each process at most */
    uint32_t close_ms;
    char *spill_dir;            /* owned; NULL: the daemon's default */
    struct ep_job_ranks *ranks; /* owned, ascending */
    uint32_t ranks_count, ranks_cap;
    struct topo_range *readers; /* owned, ascending ranks */
    uint32_t readers_count, readers_cap;
    char *cwd;   /* owned; NULL: where the daemon is */
    char **argv; /* owned, NULL-terminated, as its strings */
    uint32_t argc, argv_cap;
    char **env;
    uint32_t env_count, env_cap;
};

/* Zeroed it is empty; fini frees it. */
void ep_job_fini(struct ep_job *job);

/* Builders; strings are copied. Return 0 or OV_ENOMEM. */
int ep_job_add_ranks(struct ep_job *job, struct ep_job_ranks ranks);
int ep_job_add_reader(struct ep_job *job, struct topo_range ranks);
int ep_job_add_arg(struct ep_job *job, const char *word);
int ep_job_add_env(struct ep_job *job, const char *name_value);
int ep_job_set_cwd(struct ep_job *job, const char *dir);
int ep_job_set_spill_dir(struct ep_job *job, const char *dir);

/* Adds the job's text; errors show in out->bad. */
void ep_job_encode(const struct ep_job *job, struct ep_text *out);

/* Reads the whole text, which is overwritten. Returns 0; OV_EPROTO when it is
 * no such text, places a rank nowhere or twice, or has a range that goes back;
 * or OV_ENOMEM. *job is then empty. O(len_bytes). */
int ep_job_decode(char *text, size_t len_bytes, struct ep_job *job);

/* The processes of a node: how many, and the first rank. O(ranks). */
uint32_t ep_job_on_node(const struct ep_job *job, uint32_t node,
                        uint32_t *first_rank);
/* The node of a rank, TOPO_NONE when there is no such rank. O(ranks). */
uint32_t ep_job_node_of(const struct ep_job *job, uint32_t rank);
/* Does this rank read stdin? O(log readers). */
bool ep_job_reads(const struct ep_job *job, uint32_t rank);
/* How many ranks do. O(readers). */
uint32_t ep_job_readers(const struct ep_job *job);

#endif
