/* What the tests of the starter share: a real spawner, an event loop, small
 * shell scripts in the place of xylemd and of the remote shell, and a record
 * of everything the starter tells.
 */
#ifndef TESTS_UNIT_STARTER_RIG_H
#define TESTS_UNIT_STARTER_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/starter.h"

#define NONCE "404142434445464748494a4b4c4d4e4f"

/* In a script: takes stdin up to `go`. In the text: what it takes. */
#define UNTIL_GO "while read -r l && [ \"$l\" != go ]; do :; done\n"
#define TEXT     "hello\ngo\n"
/* Stays until its stdin ends. */
#define UNTIL_EOF "cat >/dev/null\n"

/* Forks the spawner and makes the folder; first thing in main. 0 or -1. */
int rig_open(void);
int rig_close(void);

/* For cmocka: a clean record and no starter; everything ended. */
int rig_enter(void **state);
int rig_leave(void **state);

/* The path of a file in the folder of this run; a static buffer each of a
 * few. */
const char *rig_path(const char *name);

/* Writes a script (the body after #!/bin/sh) and gives its path. @READY in
 * the body is replaced by a command that prints a ready line of node 5. */
const char *rig_script(const char *name, const char *body);

/* The file's content, in a static buffer; "" when there is none. */
const char *rig_read(const char *name);

/* Opens a starter; timeout_ms 0: 60 s, max_parallel 0: the default. */
struct ep_starter *rig_start(const char *xylemd, const char *rsh,
                             uint32_t timeout_ms, uint32_t max_parallel);
extern struct ep_starter *rig_st;

/* Adds one with TEXT as its text. host NULL: local, else ssh. */
void rig_add(uint32_t index, const char *host);

/* What was told so far: lines like "ready 0 5 a:1". */
extern char rig_told[65536];
bool rig_has(const char *words);

/* How often the line begins like this. */
unsigned rig_count(const char *begin);

/* Runs the loop until `words` were told `times` times as the begin of a
 * line; fails the test when that takes too long to come at all. */
void rig_wait_count(const char *begin, unsigned times);
void rig_wait(const char *begin);

/* Runs the loop until the spawner told so many ends since rig_enter, whoever
 * they are of. */
void rig_wait_exits(unsigned times);

/* Runs the loop until something happened. */
void rig_turn(void);

/* Called for each record; for tests that act in the middle. May be NULL. */
extern void (*rig_hook)(const char *line);

#endif
