/* What the launcher tells the nodes about a job, on stream 0.
 *
 * A job travels as text of text/fields.h, cut into JOB messages. Its lines are
 * in job_text.c; docs/protocol.md explains each.
 *
 * Ranks ascend, each from 0 to SIZE - 1 is on one node, and the places of one
 * program ascend. A node may run several programs, and does so in their order.
 * The process number of a rank is base + rank: it names the process among those
 * of all jobs of a tree. Places count from 1 here, but from 0 in everything
 * that the user sees.
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
    JOB_APPS_MAX = 64, /* programs of a job at most */
    JOB_STREAM_STDIN = 1,
    JOB_STREAM_PUSHED = 2, /* pushes to all jobs but the run's own */
};

/* The stream for pushes to the job with this base. */
static inline uint32_t job_stream_of(uint32_t base)
{
    return base == 0 ? JOB_STREAM_STDIN : JOB_STREAM_PUSHED;
}

/* How many bytes a process may lag behind with JOB_SLOW_SPILL. */
#define JOB_SPILL_BYTES_MIN (UINT64_C(1) << 20)
#define JOB_SPILL_BYTES_MAX (UINT64_C(1) << 40)

/* What is done about a process that does not read its stdin. */
enum job_slow_policy {
    JOB_SLOW_WAIT,  /* everybody waits */
    JOB_SLOW_SPILL, /* its bytes are saved in a file */
    JOB_SLOW_CLOSE, /* its stdin is closed */
};

/* A range of places whose nodes are consecutive, too. */
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
    bool has_stddiag; /* a third channel of output */
    uint32_t open_ms; /* 0: unfinished lines wait for their end */
    uint32_t linger_ms;
    uint32_t cache_bytes, cache_channels; /* kept of each of these channels
                                             (bits) */
    enum job_slow_policy slow;
    uint64_t spill_bytes; /* of each process, at most */
    uint32_t close_ms;
    char *spill_dir;            /* owned; NULL: the daemon's default */
    struct topo_range *readers; /* owned, ascending ranks */
    uint32_t readers_count, readers_cap;
    struct job_places *places; /* owned, from place 1 on without a gap; none:
                                  place and node are the same number */
    uint32_t places_count, places_cap;
    /* What each process is bound to: these objects in turn. With cpus, all
     * nodes are on one machine, whose objects these are, and ranks count
     * through them. Otherwise each node has a machine of its own, whose own
     * processes count. */
    enum topo_object bind;
    struct job_strings cpus;
    struct job_manners manners; /* taken over from the launcher */
    struct job_strings env;     /* of all programs */
    struct job_app *apps;       /* owned, ascending ranks */
    uint32_t apps_count, apps_cap;
};

/* A zeroed job is empty; job_fini() frees what it owns. */
void job_fini(struct job *job);

/* Functions that build a job. They copy strings and return 0 or OV_ENOMEM. */
int job_add_reader(struct job *job, struct topo_range ranks);
int job_add_places(struct job *job, struct job_places places);
/* Adds a program, to which job_app_* apply from here on. Also OV_EFULL. */
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
 * free, with pointers into the job; NULL when memory is out. Settings of the
 * program replace those of the job, and later ones earlier ones of the same
 * name. */
const char **job_app_env(const struct job *job, uint32_t app);

/* Processes of one program on one node. */
struct job_part {
    uint32_t app;
    uint32_t first_rank;
    uint32_t count; /* 0 before the first part */
};

/* Moves a part (zeroed at the start) on to the next program that runs on the
 * node. False when there is none. O(ranks of the programs between). */
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
/* Adds the nodes of all ranks that read stdin to *nodes. It needs room for as
 * many further ranges as the job has readers, programs and places together. */
void job_reader_nodes(const struct job *job, struct topo_ranges *nodes);
/* The channels of output that each process has: bits, 1 << enum ov_channel. */
uint32_t job_channels(const struct job *job);
/* True when this rank reads stdin. O(log readers). */
bool job_reads(const struct job *job, uint32_t rank);
/* How many ranks read stdin. O(readers). */
uint32_t job_readers(const struct job *job);

#endif
