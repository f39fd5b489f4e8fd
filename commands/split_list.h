/* Detects a list of hosts of which a shell has made several words. */
#ifndef COMMANDS_SPLIT_LIST_H
#define COMMANDS_SPLIT_LIST_H

/* Ends the program with wrong usage when the program is likely to be the second
 * host of a list that was not in quotes: a shell makes `-w n1 n2' of
 * `-w n{1,2}', and of `-w n[1-2]' where files have these names. `hosts' may be
 * NULL. A program that is found here is one. */
void split_list_check(const char *hosts, const char *program);

#endif
