/* Finds the session that the user means, by the doors of running sessions. */
#ifndef COMMANDS_CHOOSE_H
#define COMMANDS_CHOOSE_H

#include <sys/types.h>

#include "endpoints/client/sessions.h"

/* How the session is named on the command line: at most one of these is
 * given. */
struct choose_by {
    pid_t pid;
    const char *nspace; /* of its own job, or of one started in it */
    const char *uri;    /* address at which its tools connect */
};

/* Connects to the session that is named so or, where nothing is given, to the
 * only one that the user has on this machine. A session that is named by its
 * process number and has just been started is waited for. Returns 0 with the
 * connection; or 1 after saying what is wrong. */
int choose_launcher(const struct choose_by *by, struct ep_session *out);

/* How a dvm is named on the command line, and what it is for. */
struct dvm_use {
    const char *option; /* such as "dvm --stop": the word follows a '=' */
    const char *verb;   /* for "you may stop" or "you may use" */
};

/* Connects to the dvm with this process number, name or tools' address; with
 * NULL to the only one that the user has here. Returns 0 with the connection;
 * or 1 after saying what is wrong. */
int choose_dvm(const char *word, const struct dvm_use *use,
               struct ep_session *out);

#endif
