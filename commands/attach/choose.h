/* Which launcher to attach to. */
#ifndef COMMANDS_ATTACH_CHOOSE_H
#define COMMANDS_ATTACH_CHOOSE_H

#include "commands/attach/options.h"
#include "commands/attach/servers.h"

/* Finds it by what the options say, or the one that the user runs on this
 * machine. One that is named by process number and is just coming up is waited
 * for. Returns 0, or 1 after saying what is wrong. out->pid is 0 for an address
 * that no launcher here is known by. */
int choose_server(const struct attach_options *options, struct server *out);

#endif
