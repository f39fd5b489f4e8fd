/* Messages about requests of the user that a command cannot carry out. */
#ifndef COMMANDS_REFUSE_H
#define COMMANDS_REFUSE_H

#include <sys/types.h>

/* Prints the sentence on stderr, after `xylem: '. Returns 1, the exit code of
 * such a command. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints that the process belongs to user `uid`; `deed` says what only that
 * user may do, for example `stop it'. Returns 1. */
int refuse_owner(pid_t pid, uid_t uid, const char *deed);

/* Reports wrong usage on stderr, names the command whose --help tells more, and
 * exits with 2. */
_Noreturn void usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The name of the command that usage() mentions; at first `run'. */
extern const char *usage_command;
/* The environment variable whose words are being read, which usage() mentions
 * first; NULL: the words are arguments. */
extern const char *usage_variable;
/* A line that usage() prints after the sentence; NULL: there is none. */
extern const char *usage_more;

#endif
