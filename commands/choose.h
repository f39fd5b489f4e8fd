/* Which session is meant: by the doors at which they can be found. */
#ifndef COMMANDS_CHOOSE_H
#define COMMANDS_CHOOSE_H

#include <sys/types.h>

#include "endpoints/client/sessions.h"

/* How a session is named on the command line: at most one of these is given. */
struct choose_by {
    pid_t pid;
    const char *nspace; /* of its job, or of one that was started in it */
    const char *uri;    /* where its tools connect */
};

/* The session that is named so, or, where nothing is, the only one that the
 * user has on this machine. One that is named by its process number and is just
 * coming up is waited for. Returns 0 with the connection to it; or 1 after
 * saying what is wrong. */
int choose_launcher(const struct choose_by *by, struct ep_session *out);

/* How a dvm is named on the command line, and what for. */
struct dvm_use {
    const char *option; /* as "dvm --stop": the word follows a '=' */
    const char *verb;   /* as in "you may stop", or "use" */
};

/* The dvm with this process number, name or tools' address, or with NULL the
 * only one that the user has here. Returns 0 with the connection to it; or 1
 * after saying what is wrong. */
int choose_dvm(const char *word, const struct dvm_use *use,
               struct ep_session *out);

#endif
