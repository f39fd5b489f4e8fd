/* The life of a job and of its processes, as nodes report it to the launcher.
 * One step decides what a message of a node, or the loss of a node, changes.
 *
 *     process   event                  next
 *     TOLD      it ended               ENDED
 *     TOLD      it cannot be started   UNSTARTED
 *     TOLD      its node is lost       LOST
 *
 *     job       event                                next
 *     STARTING  all its nodes have started, or are   RUNNING
 *               lost
 *     STARTING  a process cannot be started          FAILED
 *     RUNNING   a process cannot be started          FAILED
 *     any       the last process is over             OVER
 *
 * All other events change nothing: messages of nodes may come twice, and after
 * the node is lost. A lost node counts as started, so that the start waits for
 * the other nodes only.
 */
#ifndef JOB_LIFE_H
#define JOB_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "job/census.h"
#include "job/failure.h"
#include "job/job.h"

enum job_process_state {
    JOB_PROCESS_TOLD, /* the launcher has told the process's node to start it */
    JOB_PROCESS_ENDED,
    JOB_PROCESS_UNSTARTED,
    JOB_PROCESS_LOST,
    JOB_PROCESS_STATES
};

enum job_life_state {
    JOB_LIFE_STARTING,
    JOB_LIFE_RUNNING,
    JOB_LIFE_FAILED,
    JOB_LIFE_OVER,
    JOB_LIFE_STATES
};

enum job_life_kind {
    JOB_LIFE_NODE_STARTED,      /* `node`: each of its processes runs, or cannot
                                   be started */
    JOB_LIFE_NODE_LOST,         /* the node `node` is lost */
    JOB_LIFE_PROCESS_ENDED,     /* the process `rank` has ended with `status` */
    JOB_LIFE_PROCESS_UNSTARTED, /* the process `rank` cannot be started */
    JOB_LIFE_PROCESS_LOST,      /* the process `rank` is lost with its node; to
                                 * be reported before NODE_LOST of that node */
    JOB_LIFE_KINDS
};

struct job_life_event {
    enum job_life_kind kind;
    uint32_t node; /* number in the tree; ignored when the node runs nothing of
                      the job */
    uint32_t rank; /* number in the job; ignored when the job has no such
                      rank */
    int status;    /* the status as from waitpid() */
    struct job_span at; /* PROCESS_ENDED: when it ended, by the clock here */
};

/* What has become true by a step. */
struct job_life_news {
    bool is_process; /* the process of the event has ended or is lost */
    bool is_started; /* the job is RUNNING */
    bool is_failed;  /* the job is FAILED; is_over may be true, too */
    bool is_over;
};

struct job_life {
    const struct job *job; /* borrowed */
    enum job_life_state state;
    /* Owned: the state of each process, by rank: an enum job_process_state, or
     * JOB_PROCESS_STATES plus the number of its group in the census for one
     * that ended and did not return 0. */
    uint8_t *processes;
    bool *nodes;          /* owned, by place: started or lost */
    uint32_t nodes_count; /* how many nodes have started or are lost */
    uint32_t nodes_unheard;
    uint32_t processes_over;
    bool is_killed;     /* the processes were ordered to be killed, at */
    uint64_t killed_ns; /* xylem killed the job at this time: how processes end
                         * later is no failure */
    struct job_failure failure; /* the failures before killed_ns */
    struct job_census census;   /* how processes ended */
    /* set by the caller: bit N for a signal N that the user has sent to the
     * processes */
    uint64_t signals;
};

/* Begins the life of a job: all of its processes are TOLD. The job must not
 * change, and must outlive *life. Memory: one byte for each process and for
 * each node. Returns 0 or OV_ENOMEM, and *life can be closed in both cases. */
int job_life_open(struct job_life *life, const struct job *job);
/* *life may be zeroed. */
void job_life_close(struct job_life *life);

/* O(log places) for events about nodes, else O(1). */
struct job_life_news job_life_step(struct job_life *life,
                                   const struct job_life_event *event);

/* The state of the process of this rank, which the job must have. */
enum job_process_state job_life_process(const struct job_life *life,
                                        uint32_t rank);

/* Notes that the processes are killed from now on. A second call changes
 * nothing. */
void job_life_kill(struct job_life *life, uint64_t now_ns);

/* Notes that the user has sent a signal to the processes. */
void job_life_signalled(struct job_life *life, int signo);

/* The exit code of a command for this job: the code of the process that failed
 * first; 1 when a process was lost before; else 0. A node that is lost when all
 * its processes have ended counts as a loss, too: some of their output may be
 * gone. O(1). */
int job_life_code(const struct job_life *life);

#endif
