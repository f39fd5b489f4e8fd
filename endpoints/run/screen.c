/* Looks at stdout and stderr. */
#include "endpoints/run/screen.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/style.h"

enum { BOTH = 1u << TEXT_CHANNEL_STDOUT | 1u << TEXT_CHANNEL_STDERR };

static bool can_draw(void)
{
    const char *term = getenv("TERM");
    struct sigaction action;

    return term != NULL && strcmp(term, "dumb") != 0 &&
           sigaction(SIGINT, NULL, &action) == 0 &&
           action.sa_handler != SIG_IGN;
}

/* True when nobody else writes to a terminal because of what is written here:
 * to a file, or to a device such as /dev/null. */
static bool is_silent(const struct stat *file, bool is_terminal)
{
    return S_ISREG(file->st_mode) || (S_ISCHR(file->st_mode) && !is_terminal);
}

unsigned ep_run_screen(void)
{
    const bool is_out = isatty(STDOUT_FILENO), is_err = isatty(STDERR_FILENO);
    struct stat out, err;

    if (!can_draw() || fstat(STDOUT_FILENO, &out) != 0 ||
        fstat(STDERR_FILENO, &err) != 0)
        return 0;
    if (is_out && is_err)
        return out.st_dev == err.st_dev && out.st_ino == err.st_ino ? BOTH : 0;
    if (is_err && is_silent(&out, is_out))
        return 1u << TEXT_CHANNEL_STDERR;
    if (is_out && is_silent(&err, is_err))
        return 1u << TEXT_CHANNEL_STDOUT;
    return 0;
}
