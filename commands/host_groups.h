/* Groups of hosts in lists, which ClusterShell expands. */
#ifndef COMMANDS_HOST_GROUPS_H
#define COMMANDS_HOST_GROUPS_H

/* Replaces each term of the list that begins with '@', or with "^@", by the
 * hosts that `nodeset -e' names for it. Returns the list itself where there is
 * no such term, else a text that is never freed; NULL for NULL. Waits for
 * nodeset. Where that is not installed or names no host, ends the program with
 * a message and exit code 1. */
const char *host_groups_expand(const char *list);

#endif
