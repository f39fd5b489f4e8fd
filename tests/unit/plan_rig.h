/* A plan of a run, for tests that start nothing. */
#ifndef TESTS_UNIT_PLAN_RIG_H
#define TESTS_UNIT_PLAN_RIG_H

#include <stdio.h>

#include "endpoints/run/plan.h"

enum { CAPTURE_MAX = 4096 };

/* A plan, and what it borrows. */
struct fixture {
    struct ep_run_options options;
    struct run_relaunch again;
    struct run_voice voice;
    struct job job;
    struct run_plan plan;
    uint32_t most; /* the most processes of one node */
};

/* Opens a plan for one program without options on these hosts, by ssh. Nothing
 * is planned yet. */
void open_fixture(struct fixture *f, const char *hosts);
void close_fixture(struct fixture *f);

/* Captures everything that is written to stderr between capture_begin() and
 * capture_end(). */
struct capture {
    FILE *file;
    int saved;
    char text[CAPTURE_MAX];
};

void capture_begin(struct capture *c);
void capture_end(struct capture *c);

#endif
