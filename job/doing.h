/* What a running process is doing, together with all processes that it has
 * started. */
#ifndef JOB_DOING_H
#define JOB_DOING_H

enum job_doing {
    JOB_DOING_UNKNOWN,
    JOB_DOING_COMPUTES,
    JOB_DOING_READS, /* the process waits for its stdin */
    JOB_DOING_WAITS, /* the process waits for anything else in the kernel */
    JOB_DOING_STOPPED,
    JOB_DOING_LEFT,    /* the process has ended, but a process that it has
                        * started holds its output open */
    JOB_DOING_GOES_ON, /* the process made no progress for some time
                        * (job/stall.h), and has gone on */
    JOB_DOINGS
};

#endif
