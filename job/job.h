/* The description of a job that the launcher sends to the nodes, on stream 0.
 *
 * A job travels as text of text/fields.h, cut into JOB messages. The table of
 * its lines is in job_text.c; docs/protocol.md explains each line.
 *
 * The nodes that run processes of the job are its places: place 1 is the first
 * such node. Users see places numbered from 0. Each rank from 0 to SIZE - 1 is
 * on one node. The ranks of a job ascend from program to program, and within a
 * program from place to place. A node that runs several programs starts them in
 * their order. The process number of a rank is base + rank: it names the
 * process among those of all jobs of a tree.
 */
#ifndef JOB_JOB_H
#define JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "job/filter.h"
#include "job/manners.h"
#include "job/program.h"
#include "text/fields.h"
#include "topo/object.h"
#include "topo/ranges.h"

enum {
    JOB_CACHE_MAX = 16 << 20, /* limit of cache_bytes */
    JOB_CACHE_ALL = 0xe,      /* all bits of cache_channels */
    JOB_BYTES_MAX = 16 << 20,
    JOB_APPS_MAX = 64, /* programs of a job at most */
    JOB_STREAM_STDIN = 1,
    JOB_STREAM_PUSHED = 2, /* for pushes to all jobs except the run's own job */
};

/* The stream for pushes to the job with this base. */
static inline uint32_t job_stream_of(uint32_t base)
{
    return base == 0 ? JOB_STREAM_STDIN : JOB_STREAM_PUSHED;
}

/* Limits of spill_bytes: how many unread bytes of stdin a file may hold for a
 * process, with JOB_SLOW_SPILL. */
#define JOB_SPILL_BYTES_MIN (UINT64_C(1) << 20)
#define JOB_SPILL_BYTES_MAX (UINT64_C(1) << 40)

/* What is done about a process that does not read its stdin. */
enum job_slow_policy {
    JOB_SLOW_WAIT,  /* all processes that read stdin wait */
    JOB_SLOW_SPILL, /* the bytes that it has not read wait in a file */
    JOB_SLOW_CLOSE, /* the stdin of the slow process is closed */
};

/* A range of places whose nodes have consecutive numbers, too. */
struct job_places {
    struct topo_range places; /* numbered from 1 */
    uint32_t node;            /* the node of the first place */
};

/* When a process counts as one that makes no progress (job/stall.h). */
struct job_watch {
    uint32_t ms; /* after that time; 0: never */
    bool all;    /* also report a process that only computes */
};

struct job_line;

struct job {
    uint32_t number;
    uint32_t base; /* process number of rank 0 */
    uint32_t size;
    uint32_t nodes;
    bool is_raw;
    bool merges_stderr;
    bool has_stddiag; /* a third channel of output */
    uint32_t open_ms; /* how long an unfinished line waits for its end; 0:
                         without a limit */
    uint32_t linger_ms;
    uint32_t cache_bytes, cache_channels; /* cache_bytes of output are kept for
                                             late clients, of each channel whose
                                             bit is set in cache_channels */
    enum job_slow_policy slow;
    uint64_t spill_bytes; /* limit of the bytes in the file of each process */
    uint32_t close_ms;
    char *spill_dir;            /* owned; NULL: the daemon's default */
    struct topo_range *readers; /* owned, ascending ranks */
    uint32_t readers_count, readers_cap;
    struct job_places *places; /* owned; ranges from place 1 on, without a gap.
                                  When there are no ranges, a node's number is
                                  its place */
    uint32_t places_count, places_cap;
    /* The kind of object (core or socket) that each process is bound to. When
     * `cpus` is not empty, all nodes are on one machine, whose objects `cpus`
     * lists: rank r is bound to object number r, modulo their count. Otherwise
     * each node is a machine of its own, and its processes are bound to its
     * objects in turn. */
    enum topo_object bind;
    struct job_strings cpus;
    struct job_filter filter; /* what is left out of the output */
    struct job_watch watch;
    struct job_manners manners; /* limits and umask of the launcher, for the
                                   processes */
    struct job_strings env;     /* settings for all programs */
    struct job_app *apps;       /* owned, ascending ranks */
    uint32_t apps_count, apps_cap;
};

/* A zeroed job is empty; job_fini() frees what it owns. */
void job_fini(struct job *job);

/* Functions that build a job. They copy strings and return 0 or OV_ENOMEM. */
int job_add_reader(struct job *job, struct topo_range ranks);
int job_add_places(struct job *job, struct job_places places);
/* Adds a program; get it by job_app_last() and fill it by job_app_*. Returns
 * OV_EFULL, too, when there are JOB_APPS_MAX programs. */
int job_add_app(struct job *job);

/* The program that was added last; there must be one. */
struct job_app *job_app_last(struct job *job);

/* Adds the job's text; errors show in out->bad. */
void job_encode(const struct job *job, struct text_buf *out);

/* Reads the whole text, which is overwritten. Returns 0; OV_EPROTO when the
 * text is not valid, has a rank in no place or in two, or has a range that goes
 * backwards; or OV_ENOMEM. *job is then empty. O(len_bytes * programs). */
int job_decode(char *text, size_t len_bytes, struct job *job);
/* The table of the lines of the text. */
const struct job_line *job_text_lines(void);

/* The whole environment of a program: a NULL-terminated array for the caller to
 * free, with pointers into the job; NULL when memory is out. A setting of the
 * program replaces a setting of the job with the same name, and a later setting
 * an earlier one. */
const char **job_app_env(const struct job *job, uint32_t app);

/* Processes of one program on one node. */
struct job_part {
    uint32_t app;
    uint32_t first_rank;
    uint32_t count; /* 0 before the first part */
};

/* Moves *part on to the next program that runs on the node; a zeroed part moves
 * to the first. False when the node runs no further program. O(job_ranks of the
 * programs up to the one found). */
bool job_next_on_node(const struct job *job, uint32_t node,
                      struct job_part *part);
/* How many processes a node has. O(ranks). */
uint32_t job_on_node(const struct job *job, uint32_t node);
/* The node of a rank, or TOPO_NONE when there is no such rank. *app, where app
 * is not NULL, becomes its program. O(ranks). */
uint32_t job_node_of(const struct job *job, uint32_t rank, uint32_t *app);
/* The place of a node, from 1; TOPO_NONE when it has none. O(places). */
uint32_t job_place(const struct job *job, uint32_t node);
/* The node of a place, which must exist. O(log places). */
uint32_t job_node_at(const struct job *job, uint32_t place);
/* Adds the nodes of all ranks that read stdin to *nodes, which needs room for
 * as many further ranges as the job has items in `readers`, `apps` and `places`
 * together. */
void job_reader_nodes(const struct job *job, struct topo_ranges *nodes);
/* The channels of output that each process has: bits, 1 << enum ov_channel. */
uint32_t job_channels(const struct job *job);
/* True when this rank reads stdin. O(log readers). */
bool job_reads(const struct job *job, uint32_t rank);
/* How many ranks read stdin. O(readers). */
uint32_t job_readers(const struct job *job);

#endif
