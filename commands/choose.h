/* Finds the session that the user means, by the doors of running sessions. */
#ifndef COMMANDS_CHOOSE_H
#define COMMANDS_CHOOSE_H

#include <stdbool.h>
#include <sys/types.h>

#include "endpoints/client/sessions.h"

/* How the session is named on the command line: at most one of these is
 * given. */
struct choose_by {
    pid_t pid;
    const char *nspace; /* the namespace of the session's own job, or of a job
                           started in it */
    const char *uri;    /* the address to which PMIx tools of the session
                           connect */
};

/* Connects to the session that *by names or, when *by is all zero, to the only
 * session that the user has on this machine. When *by names a launcher that is
 * just starting by its pid, waits until it has a door. Returns 0 and the
 * connection; or 1 after reporting what is wrong. */
int choose_launcher(const struct choose_by *by, struct ep_session *out);

/* Connects once more to a session that was found above. Returns false when it
 * has ended or does not answer; *out is then closed. */
bool choose_again(const struct ep_session *session, struct ep_session *out);

/* The option that names a dvm on the command line, for messages. */
struct dvm_use {
    const char *option; /* for example "dvm --stop"; the name of the dvm follows
                         * a '=' */
    const char *verb;   /* "stop" or "use": what the user wants to do with the
                           dvm */
};

/* Connects to the dvm whose pid, name or address for PMIx tools is `word`; with
 * NULL to the only dvm that the user has on this machine. Returns 0 and the
 * connection; or 1 after reporting what is wrong. */
int choose_dvm(const char *word, const struct dvm_use *use,
               struct ep_session *out);

/* Connects to all sessions of the user on this machine or, when `pid` is not 0,
 * to the one of this launcher, which for root may be any user's. Waits most_ms
 * at most for their answers; one that has not answered is in the list, too.
 * Returns 0 and the list; or 1 after reporting what is wrong with the pid. */
int choose_all(pid_t pid, int most_ms, struct ep_sessions *out);

#endif
