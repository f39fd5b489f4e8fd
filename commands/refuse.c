/* Prints why a command cannot do what the user asked for. */
#include "commands/refuse.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *usage_command = "run";
const char *usage_variable, *usage_more;

static void say(const char *format, va_list args)
{
    fputs("xylem: ", stderr);
    if (usage_variable != NULL)
        fprintf(stderr, "%s: ", usage_variable);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int refuse(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return 1;
}

void usage(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    if (usage_more != NULL)
        fprintf(stderr, "%s\n", usage_more);
    fprintf(stderr, "Try `xylem %s --help' for the options.\n", usage_command);
    exit(2);
}

int refuse_owner(pid_t pid, uid_t uid, const char *deed)
{
    const struct passwd *user = getpwuid(uid);

    if (uid == 0)
        return refuse("process %d belongs to root, who alone can %s", (int)pid,
                      deed);
    return refuse("process %d belongs to %s: only %s and root can %s", (int)pid,
                  user != NULL ? user->pw_name : "another user",
                  user != NULL ? user->pw_name : "that user", deed);
}
