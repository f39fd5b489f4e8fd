/* Words for what cannot be done. */
#include "commands/refuse.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>

int refuse(const char *format, ...)
{
    va_list args;

    fputs("xylem: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return 1;
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
