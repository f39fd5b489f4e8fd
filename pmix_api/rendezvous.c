/* Writing the rendezvous file of a launcher. */
#include "config.h"

#include "pmix_api/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/folder.h"

enum { FILE_BYTES_MAX = 4096 };

const char *px_rendezvous_path(void)
{
    static const char *const names[] = {"PMIX_LAUNCHER_RNDZ_FILE",
                                        "PMIX_LAUNCHER_RENDEZVOUS_FILE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *path = getenv(names[i]);

        if (path != NULL && path[0] != '\0')
            return path;
    }
    return NULL;
}

static ssize_t read_whole(const char *from, char *mem)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t len;

    if (fd < 0)
        return -1;
    len = read(fd, mem, FILE_BYTES_MAX);
    close(fd);
    return len;
}

/* A new file of another name; its name is replaced in `temporary`. */
static int write_whole(char *temporary, const char *mem, size_t len)
{
    int fd = mkostemp(temporary, O_CLOEXEC);
    int rc = 0;

    if (fd < 0)
        return OV_ESYS;
    if (write(fd, mem, len) != (ssize_t)len)
        rc = OV_ESYS;
    if (close(fd) != 0)
        rc = OV_ESYS;
    return rc;
}

int px_rendezvous_put(const char *from, const char *path)
{
    char mem[FILE_BYTES_MAX], temporary[PX_PATH_MAX];
    ssize_t len = read_whole(from, mem);
    int rc, err;

    if (len < 0)
        return OV_ESYS;
    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >=
        (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return OV_ESYS;
    }
    rc = write_whole(temporary, mem, (size_t)len);
    if (rc == 0 && link(temporary, path) != 0)
        rc = OV_ESYS;
    err = errno;
    unlink(temporary);
    errno = err;
    return rc;
}
