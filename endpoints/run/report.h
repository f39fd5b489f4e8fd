/* The file of --report-uri: the address for tools, in one line.
 *
 * It takes the place of nothing but an empty file or what a former dvm has
 * left; that of one that lives is locked. A pipe, a terminal and the like are
 * written to, and so are stdout and stderr by any name; they stay.
 */
#ifndef ENDPOINTS_RUN_REPORT_H
#define ENDPOINTS_RUN_REPORT_H

#include <stdbool.h>

struct event;
struct run;

/* The line. */
enum { RUN_REPORT_BYTES_MAX = 1024 };

struct run_report {
    int fd;      /* owned: stdout and the like; -1: a path */
    int file;    /* owned, and locked: the file there that we made; -1: none */
    bool is_put; /* once; what follows may fail: */
    bool is_missed;      /* it has, and the user knows */
    struct event *again; /* owned: for a pipe that nobody reads yet */
    char line[RUN_REPORT_BYTES_MAX];
};

/* Before any other descriptor is opened: can it be written there? What a former
 * dvm has left goes, so that nobody who waits for the address reads it. 0; or
 * the exit code, and the user knows why. */
int ep_run_report_open(struct run *r);
/* Writes the address, whole or not at all; again when it has changed. A pipe
 * without a reader gets it when there is one. Where it cannot be written what
 * is there is as it was, and the user knows why, once. Returns 0, or -1 when it
 * never was written. */
int ep_run_report_put(struct run *r, const char *uri);
/* Removes the file, if it is still the one that was written. */
void ep_run_report_close(struct run *r);

#endif
