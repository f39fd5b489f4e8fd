/* Which dvm is meant: by the rendezvous files that they leave for tools. */
#ifndef COMMANDS_DVM_CHOOSE_H
#define COMMANDS_DVM_CHOOSE_H

#include "commands/attach/servers.h"

/* How one is named on the command line, and what for. */
struct dvm_use {
    const char *option; /* as "dvm --stop": the word follows a '=' */
    const char *verb;   /* as in "you may stop", or "use" */
};

/* The dvm with this process number or name, or with NULL the only one that the
 * user has here. NULL after saying what is wrong: there is none, or several.
 * Borrowed until the next call. Cost: that of servers_list(). */
const struct server *dvm_choose(const char *word, const struct dvm_use *use);

#endif
