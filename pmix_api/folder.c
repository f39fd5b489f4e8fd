/* Making and removing the private folder of a PMIx server. */
#include "pmix_api/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum { DEPTH_MAX = 4 };

const char *px_folder_top(void)
{
    const char *top = getenv("TMPDIR");

    return top != NULL && top[0] == '/' ? top : "/tmp";
}

int px_folder_name(char *path)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return OV_ESYS;
    if (snprintf(path, PX_PATH_MAX, "%s/xylem-pmix-%016" PRIx64,
                 px_folder_top(), number) >= PX_PATH_MAX) {
        errno = ENAMETOOLONG;
        return OV_ESYS;
    }
    return access(px_folder_top(), W_OK | X_OK) == 0 ? 0 : OV_ESYS;
}

int px_folder_make(const char *path)
{
    return mkdir(path, 0700) == 0 ? 0 : OV_ESYS;
}

static void empty(int at, int depth);

/* A file, or a folder with files. */
static void remove_entry(int at, const char *name, int depth)
{
    int sub;

    if (unlinkat(at, name, 0) == 0 || depth == DEPTH_MAX)
        return;
    sub = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sub >= 0)
        empty(sub, depth + 1);
    unlinkat(at, name, AT_REMOVEDIR);
}

/* Takes over the descriptor. */
static void empty(int at, int depth)
{
    DIR *dir = fdopendir(at);
    const struct dirent *entry;

    if (dir == NULL) {
        close(at);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(at, entry->d_name, depth);
    }
    closedir(dir);
}

void px_folder_remove(const char *path)
{
    int at = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (at < 0)
        return;
    empty(at, 0);
    rmdir(path);
}
