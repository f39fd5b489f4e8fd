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
    uid_t uid; /* whose it is */
    unsigned jobs;
    char nspace[SERVER_JOBS_MAX][SERVER_NAME_MAX];
    char uri[SERVER_URI_MAX];
};

/* How one is named: whatever is not 0 has to be so. Borrowed. */
struct server_name {
    pid_t pid;
    const char *nspace; /* as for server_has() */
    const char *uri;
};

/* Writes those of the effective user that are named so, NULL: all of these, to
 * `out` (SERVERS_MAX); returns how many. Root who names one and has none of
 * that name gets those of other users, who may claim any name but that of a
 * process which is not theirs. Cost: a look at everything in that folder. */
unsigned servers_list(const struct server_name *by, struct server *out);
/* They are of more than one user. */
bool servers_differ(const struct server *servers, unsigned count);
/* Where the files lie with this TMPDIR; NULL: without one. Borrowed. */
const char *servers_top(const char *tmpdir);

/* Who owns the process; false when there is none. */
bool server_owner(pid_t pid, uid_t *uid);
/* A descriptor that is readable when the process has ended; -1 where the system
 * has none, and of process 0. */
int server_watch(pid_t pid);

/* Is it the name of a job of it, or of one that was started in its tree, which
 * is that name with a dot and a number? */
bool server_has(const struct server *server, const char *nspace);

#endif
