/* What a command says when it cannot do what the user asked for. */
#ifndef COMMANDS_REFUSE_H
#define COMMANDS_REFUSE_H

#include <sys/types.h>

/* Says the sentence on stderr, after `xylem: '. Returns 1, the exit code for
 * this. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that the process belongs to another user; `deed` ends the sentence, for
 * example `stop it'. Returns 1. */
int refuse_owner(pid_t pid, uid_t uid, const char *deed);

/* Reports wrong usage on stderr, names the command whose --help tells more, and
 * exits with 2. */
_Noreturn void usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The name of that command; at first `run'. */
extern const char *usage_command;

#endif
