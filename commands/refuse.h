/* What a command says when it cannot do what it was asked for. */
#ifndef COMMANDS_REFUSE_H
#define COMMANDS_REFUSE_H

#include <sys/types.h>

/* Says the sentence on stderr, behind `xylem: '. Returns 1, the exit code that
 * goes with it. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The process belongs to somebody else; `deed` ends the sentence, as in `stop
 * it'. Returns 1. */
int refuse_owner(pid_t pid, uid_t uid, const char *deed);

/* Wrong usage: says so on stderr, with the command whose --help tells more;
 * exits with 2. */
_Noreturn void usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* That command; `run' at the start. */
extern const char *usage_command;

#endif
