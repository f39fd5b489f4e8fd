/* `xylem attach`: libpmix can end or stall a process, so what is linked with it
 * is a program of its own. */
#include "commands/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/beside.h"

int attach_main(int argc, char **argv)
{
    static char name[] = "xylem attach";
    char path[EP_BESIDE_MAX];

    (void)argc;
    if (ep_beside_find("xylem-attach", "XYLEM_ATTACH", "commands/attach",
                       path) != 0) {
        fputs("xylem: attach needs the program xylem-attach, which is not "
              "here: this xylem was built without libpmix (install it, the "
              "package libpmix-dev of apt, pmix-devel of dnf, and build "
              "again), or only a part of it was installed\n",
              stderr);
        return 1;
    }
    argv[1] = name;
    execv(path, argv + 1);
    fprintf(stderr, "xylem: %s cannot be started: %s\n", path, strerror(errno));
    return 1;
}
