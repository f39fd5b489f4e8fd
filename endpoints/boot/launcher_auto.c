/* Chooses the launcher for the name `auto`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"

bool ep_launcher_has_program(const char *path, const char *name)
{
    char file[4096];

    while (path != NULL && *path != '\0') {
        size_t len = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, name);
        if (access(file, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}

enum ep_launcher ep_launcher_auto(bool is_in_slurm, bool has_others,
                                  const char *path)
{
    if (is_in_slurm && ep_launcher_has_program(path, "srun"))
        return EP_LAUNCHER_SLURM;
    return has_others ? EP_LAUNCHER_SSH : EP_LAUNCHER_LOCAL;
}
