/* Finding the programs that hold libpmix. */
#include "config.h"

#include "pmix_api/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"

static bool try_path(const char *dir, const char *below, const char *file,
                     char *path)
{
    int len = snprintf(path, PX_PROGRAM_MAX, "%s%s/%s", dir, below, file);

    return len > 0 && len < PX_PROGRAM_MAX && access(path, X_OK) == 0;
}

/* The folder of the running program with its last slash; "" when unknown. */
static void find_own(char *dir, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", dir, size - 1);
    char *slash;

    dir[len > 0 ? len : 0] = '\0';
    slash = strrchr(dir, '/');
    if (slash != NULL)
        slash[1] = '\0';
    else
        dir[0] = '\0';
}

int px_program_find(const char *file, const char *variable, const char *below,
                    char *path)
{
    const char *given = getenv(variable);
    char dir[PX_PROGRAM_MAX / 2], build[2][PX_PROGRAM_MAX / 4];
    const char *beside[] = {".", build[0], build[1], "../libexec/xylem"};

    if (given != NULL && given[0] != '\0') {
        snprintf(path, PX_PROGRAM_MAX, "%s", given);
        return access(path, X_OK) == 0 ? 0 : OV_ENOENT;
    }
    /* libtool runs a program from a folder below that of its build tree. */
    snprintf(build[0], sizeof(build[0]), "../%s", below);
    snprintf(build[1], sizeof(build[1]), "../../%s", below);
    find_own(dir, sizeof(dir));
    for (size_t i = 0; dir[0] != '\0' && i < sizeof(beside) / sizeof(beside[0]);
         i++) {
        if (try_path(dir, beside[i], file, path))
            return 0;
    }
    return try_path(XYLEM_PKGLIBEXECDIR, "", file, path) ? 0 : OV_ENOENT;
}
