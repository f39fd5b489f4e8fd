/* What the launcher tells the nodes about a job, on stream 0.
 *
 * A job travels as text of text/fields.h, cut into JOB messages. Its lines are
 * in job_text.c, and with what each says in docs/protocol.md.
 *
 * Ranks ascend, each from 0 to SIZE - 1 is on one node, and the places of one
 * program ascend. A node may run several programs, and does so in their order.
 * The process number of a rank is base + rank: it names the process among those
 * of all jobs of a tree. Places count from 1 here; for the user, who sees no
 * other number of a node, from 0.
 */
#ifndef JOB_JOB_H
#define JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "job/manners.h"
#include "job/program.h"
#include "text/fields.h"
#include "topo/object.h"
#include "topo/ranges.h"

enum {
    JOB_CACHE_MAX = 16 << 20, /* cache_bytes */
    JOB_CACHE_ALL = 0xe,      /* cache_channels */
    JOB_BYTES_MAX = 16 << 20,
    JOB_APPS_MAX = 64, /* programs of a job */
    JOB_STREAM_STDIN = 1,
    JOB_STREAM_PUSHED = 2, /* what is pushed to jobs beside the run's own */
};

/* The stream of what is pushed to the job with this base. */
static inline uint32_t job_stream_of(uint32_t base)
{
    return base == 0 ? JOB_STREAM_STDIN : JOB_STREAM_PUSHED;
}

/* Bytes that a process may be behind with JOB_SLOW_SPILL. */
#define JOB_SPILL_BYTES_MIN (UINT64_C(1) << 20)
#define JOB_SPILL_BYTES_MAX (UINT64_C(1) << 40)

/* What is done about a process that does not read its stdin. */
enum job_slow_policy {
    JOB_SLOW_WAIT,  /* everybody waits */
    JOB_SLOW_SPILL, /* its bytes wait in a file */
    JOB_SLOW_CLOSE, /* its stdin is closed */
};

/* Places that are nodes one after the other, too. */
struct job_places {
    struct topo_range places; /* from 1 */
    uint32_t node;            /* of the first one */
};

struct job_line;

struct job {
    uint32_t number;
    uint32_t base; /* process number of rank 0 */
    uint32_t size;
    uint32_t nodes;
    bool is_raw;
    bool merges_stderr;
    bool has_stddiag; /* a third channel of output, see job_channels() */
    uint32_t open_ms; /* 0: open lines wait for their end */
    uint32_t linger_ms;
    uint32_t cache_bytes, cache_channels; /* kept of each of these (bits) */
    enum job_slow_policy slow;
    uint64_t spill_bytes; /* of each process at most */
    uint32_t close_ms;
    char *spill_dir;            /* owned; NULL: the daemon's default */
    struct topo_range *readers; /* owned, ascending ranks */
    uint32_t readers_count, readers_cap;
    struct job_places *places; /* owned, from place 1 on without a gap;
                                     none: place and node are the same */
    uint32_t places_count, places_cap;
    /* What each process is bound to: one of these after the other. With cpus
     * all nodes are on one machine, which has these, and ranks count; else
     * each node has a machine, and its own processes count. */
    enum topo_object bind;
    struct job_strings cpus;
    struct job_manners manners; /* of the launcher */
    struct job_strings env;     /* of all programs */
    struct job_app *apps;       /* owned, ascending ranks */
    uint32_t apps_count, apps_cap;
};

/* Zeroed it is empty; fini frees it. */
void job_fini(struct job *job);

/* Builders; strings are copied. Return 0 or OV_ENOMEM. */
int job_add_reader(struct job *job, struct topo_range ranks);
int job_add_places(struct job *job, struct job_places places);
/* The program that job_app_* mean from here on; also OV_EFULL. */
int job_add_app(struct job *job);

/* Of the program added last; there is one. */
struct job_app *job_app_last(struct job *job);

/* Adds the job's text; errors show in out->bad. */
void job_encode(const struct job *job, struct text_buf *out);

/* Reads the whole text, which is overwritten. Returns 0; OV_EPROTO when it is
 * no such text, places a rank nowhere or twice, or has a range that goes back;
 * or OV_ENOMEM. *job is then empty. O(len_bytes * programs). */
int job_decode(char *text, size_t len_bytes, struct job *job);
/* The lines of the text. */
const struct job_line *job_text_lines(void);

/* The whole environment of a program: pointers into the job, NULL-terminated,
 * in an array for the caller to free; NULL when memory is out. Its own
 * settings replace the job's, a later one an earlier one of the same name. */
const char **job_app_env(const struct job *job, uint32_t app);

/* Processes of one program on one node. */
struct job_part {
    uint32_t app;
    uint32_t first_rank;
    uint32_t count; /* 0 before the first part */
};

/* Moves a part (zeroed at the start) on to the next program that runs on the
 * node, false when there is none. O(ranks of the programs between). */
bool job_next_on_node(const struct job *job, uint32_t node,
                      struct job_part *part);
/* How many processes a node has. O(ranks). */
uint32_t job_on_node(const struct job *job, uint32_t node);
/* The node of a rank, TOPO_NONE when there is no such rank; *app, where not
 * NULL, becomes its program. O(ranks). */
uint32_t job_node_of(const struct job *job, uint32_t rank, uint32_t *app);
/* The place of a node, from 1; TOPO_NONE when it has none. O(places). */
uint32_t job_place(const struct job *job, uint32_t node);
/* The node of a place that there is. O(log places). */
uint32_t job_node_at(const struct job *job, uint32_t place);
/* The nodes of those ranks that read stdin are added to *nodes; as many further
 * ranges as the job has of readers, programs and places are enough. */
void job_reader_nodes(const struct job *job, struct topo_ranges *nodes);
/* The channels of output that a process has: bits 1 << enum ov_channel. */
uint32_t job_channels(const struct job *job);
/* Does this rank read stdin? O(log readers). */
bool job_reads(const struct job *job, uint32_t rank);
/* How many ranks do. O(readers). */
uint32_t job_readers(const struct job *job);

#endif
