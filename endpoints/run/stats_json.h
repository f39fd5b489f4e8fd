/* The report of --stats: one JSON object, written when a job has ended.
 *
 * Members, in this order: nodes, procs, arity, depth, provider, wall_s,
 * launch_s, stdin_bytes, stdout_bytes, stderr_bytes, stddiag_bytes, exit_code,
 * launcher {rss_peak_bytes, rss_bound_bytes, cpu_s}, daemons {count,
 * rss_peak_bytes_max, rss_bound_bytes, cpu_s_sum, lines_in_pieces},
 * left_out {at_least, limited_lines, reasons {progress {lines, bytes}, grep,
 * grep_v, rate, lines, budget, room}, ranks [{rank, reason, lines, bytes}
 * ...]}, frames {up, down}, repairs {count, longest_s}, lost_nodes [...],
 * refused_peers, proof {channels, complete, given_up, bytes, gaps [{rank,
 * channel, expected_bytes, delivered_bytes, reason} ...]}, first_failures
 * [{rank, host, exit_code, signal} ...], first_failures_s, last_lines [...],
 * ends [{by, exit_code, signal, count, ranks, hosts} ...].
 */
#ifndef ENDPOINTS_RUN_STATS_JSON_H
#define ENDPOINTS_RUN_STATS_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "endpoints/run/left_out.h"
#include "endpoints/run/proof.h"

/* A process that failed first, or may have. */
struct ep_stats_first {
    uint32_t rank;
    const char *host; /* borrowed */
    int status;       /* the status as from waitpid() */
};

/* Processes that ended in the same way, and did not return 0. */
struct ep_stats_end {
    const char *by; /* a literal: who has ended them */
    int status;     /* as from waitpid(); 0: the processes have several
                     * statuses, or none is known */
    uint32_t count;
    char *ranks, *hosts; /* owned by whoever fills this; hosts may be NULL */
};

/* How processes ended. */
struct ep_stats_ends {
    const struct ep_stats_first *firsts; /* borrowed */
    uint32_t firsts_count;
    double firsts_s; /* how far apart the failures may be, when there are
                      * several */
    char **lines;    /* owned by whoever fills this: the last lines of the first
                      * process in `firsts` */
    uint32_t lines_count;
    const struct ep_stats_end *at; /* borrowed */
    uint32_t count;
};

struct ep_stats {
    uint32_t nodes, procs, arity, depth;
    const char *provider; /* borrowed; NULL is written as null */
    double wall_s;        /* from the start of the launcher to its end */
    double launch_s;      /* from start until every process was started */
    uint64_t stdin_bytes, stdout_bytes, stderr_bytes, stddiag_bytes;
    int exit_code;
    struct {
        uint64_t rss_peak_bytes;
        /* the most memory that the launcher should need */
        uint64_t rss_bound_bytes;
        double cpu_s;
    } launcher;
    struct {
        uint32_t count;
        uint64_t rss_peak_bytes_max;
        /* the most memory that any daemon should need */
        uint64_t rss_bound_bytes;
        double cpu_s_sum;
        /* Lines of output that were cut, as there was no room for the whole
         * line. */
        uint64_t lines_in_pieces;
    } daemons;
    const struct run_left *left; /* borrowed; NULL: nothing was left out */
    struct {
        uint64_t up, down;
    } frames;
    struct {
        uint64_t count;   /* nodes that have found a new parent */
        double longest_s; /* the longest time that a node had no parent */
    } repairs;
    const uint32_t *lost_nodes; /* borrowed; has lost_count numbers */
    size_t lost_count;
    uint64_t refused_peers;
    const struct ep_proof_verdict *proof; /* borrowed */
    struct ep_stats_ends ends;
};

/* Finds out whether `path` names a descriptor that this process was started
 * with: `-`, /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N, or any name
 * of the file behind stdout or stderr. The report is written to such a
 * descriptor at its current offset, because replacing or reopening the file
 * would destroy what the job wrote there. Call it before anything else is
 * opened, or N may be one of our own descriptors.
 *
 * Returns 0 with a copy in *fd (owned by the caller); -1 when path is just the
 * name of a file; OV_EINVAL when that descriptor is not open for writing, or
 * OV_ESYS when no descriptor is left, with `why` (EP_WHY_MAX bytes).
 */
int ep_stats_fd(const char *path, int *fd, char *why);

/* Writes the report to a descriptor of ep_stats_fd(), after what was written
 * there before, and closes it. Gives up when a reader accepts nothing for three
 * seconds. Returns the same as ep_stats_write().
 */
int ep_stats_write_fd(int fd, const struct ep_stats *stats, char *why);

/* Writes the report to `path`. A regular file, or one that does not exist yet,
 * is replaced as a whole by a rename, so that a reader never sees half of it; a
 * symbolic link is followed first. Anything else (a terminal, a pipe) is
 * written to directly. The call blocks, so it should be made at the end.
 *
 * Returns 0; OV_EINVAL (a time is not a finite number), OV_ENOMEM or OV_ESYS,
 * with what failed in `why` (EP_WHY_MAX bytes). After an error `path` is
 * unchanged, and no other file is left behind.
 */
int ep_stats_write(const char *path, const struct ep_stats *stats, char *why);

#endif
