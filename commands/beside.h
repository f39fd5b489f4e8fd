/* The programs with libpmix in them, which a part of the installations has:
 * that library can end or stall a process, so they are programs of their own.
 */
#ifndef COMMANDS_BESIDE_H
#define COMMANDS_BESIDE_H

enum beside {
    BESIDE_SUBMIT, /* `xylem run --dvm' */
    BESIDE_SERVER, /* lets tools in, for a launcher */
    BESIDE_PROGRAMS
};

/* Finds one, as ep_beside_find() says; `path` has EP_BESIDE_MAX bytes. Returns
 * 0 or OV_ENOENT: built without PMIx. */
int beside_find(enum beside which, char *path);

/* The same, with words on stderr where it is not there. */
int beside_need(enum beside which, char *path);

/* Becomes one with these words. Returns an exit code, after saying on stderr
 * why it cannot. */
int beside_exec(enum beside which, char **argv);

#endif
