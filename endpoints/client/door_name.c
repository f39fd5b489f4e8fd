/* The name under which clients find a door. */
#include "endpoints/client/door_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoints/client/door.h"
#include "endpoints/client/folder.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum { BACKLOG = 2 * EP_DOOR_CLIENTS_MAX };

/* Tells whether another session has this name. Sessions in containers that
 * share the folder may have the same process number. */
static bool is_taken(const struct ep_door_name *name)
{
    struct stat of;
    int fd;

    if (fstatat(name->folder, name->text, &of, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    fd = ep_door_dial(name->folder, getpid());
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EAGAIN;
}

/* Binds the socket to the name `early`, listens, and renames it to its final
 * name, so that every client that finds the final name can connect. */
static int bind_early(struct ep_door_name *name, const char *early)
{
    const struct sockaddr_un at = ep_door_address(name->folder, early);
    struct stat of;

    if (bind(name->fd, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(name->fd, BACKLOG) != 0 ||
        fstatat(name->folder, early, &of, AT_SYMLINK_NOFOLLOW) != 0 ||
        renameat(name->folder, early, name->folder, name->text) != 0)
        return OV_ESYS;
    name->inode = of.st_ino;
    return 0;
}

static int listen_at(struct ep_door_name *name, char *why)
{
    char early[EP_DOOR_NAME_BYTES + 1];

    snprintf(name->text, sizeof(name->text), "%d", (int)getpid());
    snprintf(early, sizeof(early), ".%s", name->text);
    ep_door_sweep(name->folder);
    if (is_taken(name)) {
        snprintf(why, EP_WHY_MAX,
                 "a session with the same process number %s, in another "
                 "container, uses the same directory: give each container its "
                 "own XDG_RUNTIME_DIR",
                 name->text);
        return OV_ESYS;
    }
    if (bind_early(name, early) == 0)
        return 0;
    if (errno == EADDRINUSE && unlinkat(name->folder, early, 0) == 0 &&
        bind_early(name, early) == 0)
        return 0; /* The name belonged to a session that was killed. */
    snprintf(why, EP_WHY_MAX, "%s", strerror(errno));
    (void)unlinkat(name->folder, early, 0);
    return OV_ESYS;
}

int ep_door_name_open(struct ep_door_name *name, char *why)
{
    name->folder = ep_door_folder_make(why);
    if (name->folder < 0)
        return OV_ESYS;
    name->fd =
        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (name->fd >= 0)
        return listen_at(name, why);
    snprintf(why, EP_WHY_MAX, "cannot create a socket: %s", strerror(errno));
    return OV_ESYS;
}

bool ep_door_name_is_there(const struct ep_door_name *name)
{
    struct stat of;

    return name->inode != 0 &&
           fstatat(name->folder, name->text, &of, AT_SYMLINK_NOFOLLOW) == 0 &&
           of.st_ino == name->inode;
}

void ep_door_name_close(struct ep_door_name *name)
{
    if (ep_door_name_is_there(name))
        (void)unlinkat(name->folder, name->text, 0);
    if (name->fd >= 0)
        close(name->fd);
    if (name->folder >= 0)
        close(name->folder);
    name->fd = name->folder = -1;
    name->inode = 0;
}
