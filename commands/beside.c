/* The programs beside xylem. */
#include "commands/beside.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "endpoints/sys/beside.h"

static const struct {
    const char *file, *variable, *below; /* as of ep_beside_find() */
    const char *user;
} programs[BESIDE_PROGRAMS] = {
    [BESIDE_SUBMIT] = {"xylem-submit", "XYLEM_SUBMIT", "commands/submit",
                       "--dvm"},
    [BESIDE_SERVER] = {"xylem-pmix", "XYLEM_PMIX", "pmix_api", "dvm"},
};

int beside_find(enum beside which, char *path)
{
    return ep_beside_find(programs[which].file, programs[which].variable,
                          programs[which].below, path);
}

int beside_need(enum beside which, char *path)
{
    int rc = beside_find(which, path);

    if (rc != 0)
        refuse("%s needs the program %s, which is not here: this xylem was "
               "built without libpmix (install it, the package libpmix-dev of "
               "apt, pmix-devel of dnf, and build again), or only a part of it "
               "was installed",
               programs[which].user, programs[which].file);
    return rc;
}

int beside_exec(enum beside which, char **argv)
{
    char path[EP_BESIDE_MAX];

    if (beside_need(which, path) != 0)
        return 1;
    execv(path, argv);
    return refuse("%s cannot be started: %s", path, strerror(errno));
}
