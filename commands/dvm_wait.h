/* Dvms that run, and that tools cannot find yet. */
#ifndef COMMANDS_DVM_WAIT_H
#define COMMANDS_DVM_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

/* Waits until each dvm of this user on this machine, with this TMPDIR, has the
 * files by which servers_list() finds it: those that come up, and those whose
 * helper has died, have none for a time. At most 20 s; one that is waited for
 * longer than a second is told on stderr. Where /proc does not tell of
 * processes it does not wait. */
void dvm_wait(void);

/* Is this process `xylem dvm ...`, and not one that is to end another? By its
 * words, in /proc. */
bool dvm_is_one(pid_t pid);

#endif
