/* Writes and removes the rendezvous file of a launcher. */
#include "config.h"

#include "pmix_api/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len;

    if (fd < 0)
        return -1;
    len = read(fd, mem, FILE_BYTES_MAX);
    close(fd);
    return len;
}

static int write_to(int fd, const char *mem, size_t len)
{
    ssize_t put = write(fd, mem, len);

    if (put == (ssize_t)len)
        return 0;
    if (put >= 0)
        errno = ENOSPC;
    return OV_ESYS;
}

int px_rendezvous_write(char *path, const char *mem, size_t len_bytes)
{
    int fd = mkostemp(path, O_CLOEXEC);
    int rc, err;

    if (fd < 0)
        return OV_ESYS;
    rc = write_to(fd, mem, len_bytes);
    err = errno;
    if (close(fd) != 0 && rc == 0) {
        err = errno;
        rc = OV_ESYS;
    }
    if (rc != 0)
        unlink(path);
    errno = err;
    return rc;
}

/* Returns the pid of the server that has written the file, which is the third
 * line; 0: this is no rendezvous file. */
static pid_t server_of(const char *path)
{
    char mem[FILE_BYTES_MAX + 1];
    ssize_t len = read_whole(path, mem);
    char *line = mem, *end;
    long pid;

    if (len <= 0)
        return 0;
    mem[len] = '\0';
    if (strstr(mem, ";tcp") == NULL)
        return 0;
    for (int i = 0; line != NULL && i < 2; i++) {
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    if (line == NULL)
        return 0;
    pid = strtol(line, &end, 10);
    return end > line && *end == '\n' && pid > 0 && pid <= INT_MAX ? (pid_t)pid
                                                                   : 0;
}

/* True when the process is dead, and its parent has not waited for it yet. */
static bool is_zombie(pid_t pid)
{
    char path[64], mem[FILE_BYTES_MAX + 1];
    const char *name_end; /* end of the program's name, in which any other
                             character may occur */
    ssize_t len;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    len = read_whole(path, mem);
    if (len <= 0)
        return false;
    mem[len] = '\0';
    name_end = strrchr(mem, ')');
    return name_end != NULL && (strncmp(name_end, ") Z", 3) == 0 ||
                                strncmp(name_end, ") X", 3) == 0);
}

static bool is_dead(pid_t pid)
{
    return (kill(pid, 0) != 0 && errno == ESRCH) || is_zombie(pid);
}

/* True when the file is a rendezvous file of a server that is dead. */
static bool is_stale(const char *path)
{
    struct stat st;
    pid_t pid;

    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    pid = server_of(path);
    return pid > 0 && is_dead(pid);
}

/* Removes the file of a dead server. When several processes try this, the one
 * that has the lock on the file does it (if the file system has locks), and
 * only if the name still belongs to the locked file. */
static void clear_stale(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat own, st;
    bool is_busy;

    if (fd < 0)
        return;
    is_busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_busy && fstat(fd, &own) == 0 && lstat(path, &st) == 0 &&
        st.st_dev == own.st_dev && st.st_ino == own.st_ino && is_stale(path))
        unlink(path);
    close(fd);
}

/* Gives the file its final name; fails when another file has that name. */
static int give_name(const char *temporary, const char *path)
{
    if (link(temporary, path) == 0)
        return 0;
    if (errno != EEXIST)
        return OV_ESYS;
    clear_stale(path);
    return link(temporary, path) == 0 ? 0 : OV_ESYS;
}

int px_rendezvous_put(const char *from, const char *path, struct stat *st)
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
    rc = px_rendezvous_write(temporary, mem, (size_t)len);
    if (rc != 0)
        return rc;
    rc = stat(temporary, st) == 0 ? give_name(temporary, path) : OV_ESYS;
    err = errno;
    unlink(temporary);
    errno = err;
    return rc;
}

void px_rendezvous_remove(const char *path, const struct stat *own)
{
    struct stat st;

    if (lstat(path, &st) == 0 && st.st_dev == own->st_dev &&
        st.st_ino == own->st_ino)
        unlink(path);
}
