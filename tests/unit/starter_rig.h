/* What the tests of the starter share: a real spawner, an event loop, small
 * shell scripts that replace xylemd and the remote shell, and a record of
 * everything that the starter reports. */
#ifndef TESTS_UNIT_STARTER_RIG_H
#define TESTS_UNIT_STARTER_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/starter.h"

#define NONCE "404142434445464748494a4b4c4d4e4f"

/* UNTIL_GO, in a script, reads stdin up to the line `go`. TEXT is a text that
 * ends with that line. */
#define UNTIL_GO "while read -r l && [ \"$l\" != go ]; do :; done\n"
#define TEXT     "hello\ngo\n"
/* Keeps a script running until its stdin ends. */
#define UNTIL_EOF "cat >/dev/null\n"

/* Forks the spawner and makes the folder; to be called first in main. Returns 0
 * or -1. */
int rig_open(void);
int rig_close(void);

/* Fixtures for cmocka: before a test the record is clean and there is no
 * starter; after it everything has ended. */
int rig_enter(void **state);
int rig_leave(void **state);

/* The path of a file in the folder of this run, in one of a few static
 * buffers. */
const char *rig_path(const char *name);

/* Writes a script (the body after #!/bin/sh) and returns its path. @READY in
 * the body is replaced by a command that prints a ready line of node 5. */
const char *rig_script(const char *name, const char *body);

/* The content of the file, in a static buffer; "": there is no such file. */
const char *rig_read(const char *name);

/* Opens a starter; timeout_ms 0: 60 s, max_parallel 0: the default. */
struct ep_starter *rig_start(const char *xylemd, const char *rsh,
                             uint32_t timeout_ms, uint32_t max_parallel);
extern struct ep_starter *rig_st;

/* Adds a daemon with TEXT as its text. host NULL: local, else ssh. */
void rig_add(uint32_t index, const char *host);

/* All reports so far, as lines like "ready 0 5 a:1". */
extern char rig_told[65536];
bool rig_has(const char *words);

/* Returns how many of the lines begin with this text. */
unsigned rig_count(const char *begin);

/* Runs the loop until `times` lines begin with `begin`; fails the test when
 * that takes far too long. */
void rig_wait_count(const char *begin, unsigned times);
void rig_wait(const char *begin);

/* Runs the loop until the spawner has reported this many ends of any processes
 * since rig_enter(). */
void rig_wait_exits(unsigned times);

/* Runs the loop until something happens. */
void rig_turn(void);

/* Called for each line, for tests that act in between. May be NULL. */
extern void (*rig_hook)(const char *line);

#endif
