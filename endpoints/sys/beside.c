/* Finds programs by their place relative to the running program's file, so that
 * a copied or moved installation works. */
#include "config.h"

#include "endpoints/sys/beside.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"

int ep_beside_folder(char *dir, size_t size_bytes)
{
    ssize_t len = readlink("/proc/self/exe", dir, size_bytes);
    char *slash;

    if (len < 0 || (size_t)len >= size_bytes) {
        dir[0] = '\0';
        return len < 0 ? OV_ESYS : OV_EINVAL;
    }
    dir[len] = '\0';
    slash = strrchr(dir, '/');
    if (slash == NULL) {
        dir[0] = '\0';
        return OV_ESYS;
    }
    slash[1] = '\0';
    return 0;
}

int ep_beside_path(const char *name, char *path, size_t size_bytes)
{
    int rc = ep_beside_folder(path, size_bytes);
    size_t len = strlen(path);

    if (rc != 0)
        return rc;
    if (strlen(name) >= size_bytes - len)
        return OV_EINVAL;
    strcpy(path + len, name);
    return 0;
}

static bool try_path(const char *dir, const char *below, const char *file,
                     char *path)
{
    int len = snprintf(path, EP_BESIDE_MAX, "%s%s/%s", dir, below, file);

    return len > 0 && len < EP_BESIDE_MAX && access(path, X_OK) == 0;
}

int ep_beside_find(const char *file, const char *variable, const char *below,
                   char *path)
{
    const char *given = getenv(variable);
    char dir[EP_BESIDE_MAX / 2], build[2][EP_BESIDE_MAX / 4];
    const char *beside[] = {".", build[0], build[1], "../libexec/xylem"};

    if (given != NULL && given[0] != '\0') {
        snprintf(path, EP_BESIDE_MAX, "%s", given);
        return access(path, X_OK) == 0 ? 0 : OV_ENOENT;
    }
    /* libtool runs a program from a folder inside that of its build tree. */
    snprintf(build[0], sizeof(build[0]), "../%s", below);
    snprintf(build[1], sizeof(build[1]), "../../%s", below);
    ep_beside_folder(dir, sizeof(dir));
    for (size_t i = 0; dir[0] != '\0' && i < sizeof(beside) / sizeof(beside[0]);
         i++) {
        if (try_path(dir, beside[i], file, path))
            return 0;
    }
    return try_path(XYLEM_PKGLIBEXECDIR, "", file, path) ? 0 : OV_ENOENT;
}
