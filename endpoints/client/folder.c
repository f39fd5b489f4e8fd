/* The folder with the doors of a user's sessions. */
#include "endpoints/client/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoints/sys/process.h"
#include "endpoints/sys/why.h"

/* Where such a folder is: the folder above it, and its name there. */
struct place {
    char top[PATH_MAX];
    char name[32];
};

static bool is_owned(const char *path, uid_t uid, struct stat *of)
{
    return stat(path, of) == 0 && S_ISDIR(of->st_mode) && of->st_uid == uid;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Finds the place below the user's own runtime folder. Returns false when there
 * is none. *is_chosen: the user has chosen this folder, so doors are looked for
 * in no other one. */
static bool own_place(uid_t uid, struct place *out, bool *is_chosen)
{
    const char *given = uid == geteuid() ? getenv("XDG_RUNTIME_DIR") : NULL;
    size_t room = sizeof(out->top);
    struct stat usual, own;
    bool has_usual;

    snprintf(out->name, sizeof(out->name), "xylem");
    snprintf(out->top, room, "/run/user/%u", (unsigned)uid);
    has_usual = is_owned(out->top, uid, &usual);
    *is_chosen = given != NULL && given[0] == '/' && strlen(given) < room &&
                 is_owned(given, uid, &own) &&
                 !(has_usual && is_same(&own, &usual));
    if (*is_chosen)
        snprintf(out->top, room, "%s", given);
    return has_usual || *is_chosen;
}

static void common_place(uid_t uid, struct place *out)
{
    snprintf(out->top, sizeof(out->top), "/tmp");
    snprintf(out->name, sizeof(out->name), "xylem-%u", (unsigned)uid);
}

static int open_folder(int at, const char *path)
{
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Takes the descriptor over. Returns it if nobody but this user can have put
 * anything into the folder; otherwise closes it and returns -1. */
static int only_private(int folder, uid_t uid)
{
    struct stat of;

    if (folder < 0 || (fstat(folder, &of) == 0 && of.st_uid == uid &&
                       (of.st_mode & 0777) == 0700))
        return folder;
    close(folder);
    errno = EPERM;
    return -1;
}

static int open_top(const struct place *place)
{
    return open(place->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int ep_door_folder_open(uid_t uid, unsigned nth)
{
    struct place place;
    int top, folder;
    bool is_chosen, has_own = own_place(uid, &place, &is_chosen);

    if (nth > 0 ? is_chosen : !has_own)
        return -1;
    if (nth > 0)
        common_place(uid, &place);
    top = open_top(&place);
    if (top < 0)
        return -1;
    folder = only_private(open_folder(top, place.name), uid);
    close(top);
    return folder;
}

/* Makes the folder. Returns true also when another session has made it
 * meanwhile. */
static bool make_folder(int top, const char *name)
{
    if (mkdirat(top, name, 0700) == 0) {
        /* sets the full mode, as mkdirat() obeys the umask */
        (void)fchmodat(top, name, 0700, 0);
        return true;
    }
    return errno == EEXIST;
}

/* Tries to open first, as the folder usually exists. */
static int open_or_make(const struct place *place)
{
    int top = open_top(place), folder, err;

    if (top < 0)
        return -1;
    folder = open_folder(top, place->name);
    if (folder < 0 && errno == ENOENT && make_folder(top, place->name))
        folder = open_folder(top, place->name);
    err = errno;
    close(top);
    errno = err;
    return only_private(folder, geteuid());
}

static bool is_not_private(int err)
{
    return err == EPERM || err == ENOTDIR || err == ELOOP;
}

int ep_door_folder_make(char *why)
{
    struct place place;
    bool is_chosen;
    int folder;

    if (getenv("XDG_RUNTIME_DIR") == NULL ||
        !own_place(geteuid(), &place, &is_chosen))
        common_place(geteuid(), &place);
    folder = open_or_make(&place);
    if (folder < 0)
        snprintf(why, EP_WHY_MAX, "%.120s/%s: %s", place.top, place.name,
                 is_not_private(errno)
                     ? "it must be a directory of this user with mode 0700"
                     : strerror(errno));
    return folder;
}

struct sockaddr_un ep_door_address(int folder, const char *name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/%.32s", folder,
             name);
    return to;
}

/* Reads with a descriptor of its own, because reading changes the descriptor's
 * offset. */
void ep_door_each(int folder, void (*see)(void *arg, int folder, pid_t pid),
                  void *arg)
{
    int own = open_folder(folder, ".");
    DIR *dir = own >= 0 ? fdopendir(own) : NULL;
    struct dirent *entry;

    if (dir == NULL && own >= 0)
        close(own);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (ep_process_number(entry->d_name) != 0)
            see(arg, folder, ep_process_number(entry->d_name));
    }
    if (dir != NULL)
        closedir(dir);
}

int ep_door_dial(int folder, pid_t pid)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un to;
    char name[16];
    int err;

    snprintf(name, sizeof(name), "%d", (int)pid);
    to = ep_door_address(folder, name);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    err = errno;
    close(fd);
    if (err == ECONNREFUSED)
        (void)unlinkat(folder, name, 0);
    errno = err;
    return -1;
}

/* Removes the door if nobody listens there. A session whose process lives is
 * not disturbed. */
static void sweep_door(void *arg, int folder, pid_t pid)
{
    int fd;

    (void)arg;
    if (kill(pid, 0) == 0 || errno != ESRCH)
        return;
    fd = ep_door_dial(folder, pid);
    if (fd >= 0)
        close(fd);
}

void ep_door_sweep(int folder)
{
    ep_door_each(folder, sweep_door, NULL);
}
