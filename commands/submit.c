/* `xylem run --dvm`: libpmix can end or stall a process, so what is linked with
 * it is a program of its own. */
#include "commands/submit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/beside.h"

static char **kept; /* owned as long as the program runs, as its strings are */

void submit_keep(int argc, char **argv)
{
    kept = calloc((size_t)argc + 1, sizeof(*kept));
    for (int i = 0; kept != NULL && i < argc; i++)
        kept[i] = argv[i];
}

int submit_exec(void)
{
    char path[EP_BESIDE_MAX];

    if (ep_beside_find("xylem-submit", "XYLEM_SUBMIT", "commands/submit",
                       path) != 0) {
        fputs("xylem: --dvm needs the program xylem-submit, which is not here: "
              "this xylem was built without libpmix (install it, the package "
              "libpmix-dev of apt, pmix-devel of dnf, and build again), or "
              "only a part of it was installed\n",
              stderr);
        return 1;
    }
    if (kept != NULL)
        execv(path, kept);
    fprintf(stderr, "xylem: %s cannot be started: %s\n", path, strerror(errno));
    return 1;
}
