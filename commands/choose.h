/* Which launcher or dvm is meant: by the rendezvous files that they leave for
 * tools. */
#ifndef COMMANDS_CHOOSE_H
#define COMMANDS_CHOOSE_H

#include "commands/attach/servers.h"

/* The launcher that is named so, or, where nothing is, the only one that the
 * user runs on this machine. One that is named by process number and is just
 * coming up is waited for. Returns 0, or 1 after saying what is wrong. out->pid
 * is 0 for an address that no launcher here is known by. */
int choose_launcher(const struct server_name *by, struct server *out);

/* How a dvm is named on the command line, and what for. */
struct dvm_use {
    const char *option; /* as "dvm --stop": the word follows a '=' */
    const char *verb;   /* as in "you may stop", or "use" */
};

/* The dvm with this process number or name, or with NULL the only one that the
 * user has here. NULL after saying what is wrong: there is none, or several.
 * Borrowed until the next call. Cost: that of servers_list(). */
const struct server *choose_dvm(const char *word, const struct dvm_use *use);

/* Waits until each dvm of this user on this machine, with this TMPDIR, has the
 * files by which servers_list() finds it: those that come up, and those whose
 * helper has died, have none for a time. At most 20 s; one that is waited for
 * longer than a second is told on stderr. Where /proc does not tell of
 * processes it does not wait. */
void choose_wait_dvms(void);

#endif
