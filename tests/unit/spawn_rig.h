/* A spawner under test: its event loop, what it reported, and short calls to
 * start things. There is one rig for each test, made and ended by the fixture
 * functions, so that a failing test leaves no process behind.
 */
#ifndef TESTS_UNIT_SPAWN_RIG_H
#define TESTS_UNIT_SPAWN_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/spawn/spawner.h"

struct event_base;

enum { RIG_PROCS_MAX = 400, RIG_FD_END = 900 };

/* What was reported about one process. */
struct rig_proc {
    int64_t pid; /* the pid; 0: the process was not started */
    const char *step;
    int err;
    bool has_exited;
    int status;
    uint64_t at_ns; /* when it exited */
};

struct rig {
    struct event_base *base;
    struct ep_spawner *sp;
    struct rig_proc procs[RIG_PROCS_MAX];
    unsigned started, failed, exited, ended, lost, elsewhere;
    int elsewhere_err; /* the errno that was reported last */
    char folder[256];  /* a new folder in TMPDIR or /tmp */
};

/* Fixtures for cmocka; *state is the rig. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* Makes and attaches a spawner as rig_setup does, for tests in which the owner
 * needs a certain state first. The rig's own spawner is closed. */
void rig_reopen(struct rig *rig, unsigned grace_ms);

/* Runs the loop until *count reaches wanted. Fails after a minute. */
void rig_wait(struct rig *rig, const unsigned *count, unsigned wanted);

/* rig_shell() announces job 1 as a shell command, rig_job() as a list of
 * arguments, with PATH and a few other variables. */
void rig_shell(struct rig *rig, const char *command);
void rig_job(struct rig *rig, const char *const *argv);

/* Starts process `proc` of job 1 with out_fd as its stdout (-1: /dev/null). */
void rig_start(struct rig *rig, uint32_t proc, int out_fd);

/* Starts process 0 of job 1, reads all its output and waits for its end. The
 * text is in a static buffer. */
const char *rig_capture(struct rig *rig);

/* Reads to the end of the pipe into a static buffer, and closes the pipe. */
const char *rig_read_all(int fd);

/* Writes a file into the rig's folder; the path is in a static buffer. */
const char *rig_file(struct rig *rig, const char *name, const char *text,
                     unsigned mode);

/* Returns how many descriptors below RIG_FD_END process `pid` has, plus 2 for
 * the folder's own entries. (valgrind keeps its own descriptors above.) */
unsigned rig_fd_count(int64_t pid);

#endif
