/* What --help prints about a command. */
#ifndef COMMANDS_HELP_H
#define COMMANDS_HELP_H

#include "commands/options.h"

/* Prints on stdout how the command is called, what it does, and its options.
 * Lines fit into the terminal; where stdout is no terminal, they have 80
 * characters at most. */
void help_print(const struct option_command *command);

#endif
