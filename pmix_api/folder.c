/* Makes and removes the private folder of a PMIx server. */
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

#define PREFIX "xylem-pmix-"

enum { DEPTH_MAX = 4, FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

const char *px_folder_top(void)
{
    const char *top = getenv("TMPDIR");

    return top != NULL && top[0] == '/' ? top : "/tmp";
}

int px_folder_name(const char *mark, char *path)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return OV_ESYS;
    if (snprintf(path, PX_PATH_MAX, "%s/" PREFIX "%s%s%016" PRIx64,
                 px_folder_top(), mark, mark[0] != '\0' ? "-" : "",
                 number) >= PX_PATH_MAX) {
        errno = ENAMETOOLONG;
        return OV_ESYS;
    }
    return access(px_folder_top(), W_OK | X_OK) == 0 ? 0 : OV_ESYS;
}

bool px_folder_is_one(const char *path)
{
    const char *name = strrchr(path, '/');

    return name != NULL && strncmp(name + 1, PREFIX, strlen(PREFIX)) == 0;
}

int px_folder_make(const char *path)
{
    return mkdir(path, 0700) == 0 ? 0 : OV_ESYS;
}

/* Returns the next name in a folder; NULL: there is no further name. */
static const char *next_name(DIR *dir)
{
    const struct dirent *entry;

    do
        entry = readdir(dir);
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 ||
                             strcmp(entry->d_name, "..") == 0));
    return entry != NULL ? entry->d_name : NULL;
}

/* Opens the folder for reading; the descriptor is closed with the result, or at
 * once on failure. NULL: the folder cannot be read. */
static DIR *read_folder(int at)
{
    DIR *dir = at >= 0 ? fdopendir(at) : NULL;

    if (dir == NULL && at >= 0)
        close(at);
    return dir;
}

static void empty(int at, int depth);

/* Removes a file, or a folder with its files. */
static void remove_entry(int at, const char *name, int depth)
{
    if (unlinkat(at, name, 0) == 0 || depth == DEPTH_MAX)
        return;
    empty(openat(at, name, FOLDER_FLAGS | O_NOFOLLOW), depth + 1);
    unlinkat(at, name, AT_REMOVEDIR);
}

/* Removes everything in the folder, and closes the descriptor. */
static void empty(int at, int depth)
{
    DIR *dir = read_folder(at);
    const char *name;

    if (dir == NULL)
        return;
    while ((name = next_name(dir)) != NULL)
        remove_entry(at, name, depth);
    closedir(dir);
}

void px_folder_remove(const char *path)
{
    empty(open(path, FOLDER_FLAGS | O_NOFOLLOW), 0);
    rmdir(path);
}

/* True when this is a folder as px_folder_make() makes it: ours, and private.
 */
static bool is_own(int at)
{
    struct stat st;

    return fstat(at, &st) == 0 && st.st_uid == geteuid() &&
           (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Removes a folder in `top` if it is one of ours. It is opened only once, so
 * that the folder that is checked is the folder that is emptied. */
static void sweep_entry(int top, const char *name)
{
    int at = openat(top, name, FOLDER_FLAGS | O_NOFOLLOW | O_NONBLOCK);

    if (at < 0)
        return;
    if (!is_own(at)) {
        close(at);
        return;
    }
    empty(at, 0);
    unlinkat(top, name, AT_REMOVEDIR);
}

void px_folder_sweep(const char *top, bool (*is_gone)(const char *mark))
{
    DIR *dir = read_folder(open(top, FOLDER_FLAGS));
    const char *name;

    if (dir == NULL)
        return;
    while ((name = next_name(dir)) != NULL) {
        if (strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
            is_gone(name + strlen(PREFIX)))
            sweep_entry(dirfd(dir), name);
    }
    closedir(dir);
}
