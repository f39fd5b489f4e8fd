/* The launchers on this machine that tools can connect to, by the files that
 * their PMIx servers leave: below TMPDIR, or /tmp without one. */
#ifndef COMMANDS_ATTACH_SERVERS_H
#define COMMANDS_ATTACH_SERVERS_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    SERVER_NAME_MAX = 256,
    SERVER_URI_MAX = 512,
    SERVER_JOBS_MAX = 16,
    SERVERS_MAX = 64,
};

struct server {
    pid_t pid; /* of the launcher, which runs */
    uid_t uid;
    unsigned jobs;
    char nspace[SERVER_JOBS_MAX][SERVER_NAME_MAX];
    char uri[SERVER_URI_MAX];
};

/* Writes those that may be looked at to `out` (SERVERS_MAX); returns how many.
 * Cost: a look at everything in that folder. */
unsigned servers_list(struct server *out);

/* Is it the name of a job of it, or of one that was started in its tree, which
 * is that name with a dot and a number? */
bool server_has(const struct server *server, const char *nspace);

#endif
