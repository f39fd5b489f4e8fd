/* The spool's file: it is on a disk, and has no name, so it ends with its
 * descriptor. */
#include "config.h"

#include "endpoints/sys/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "overlay/base/err.h"

int ep_spool_file_init(struct ep_spool_file *file, const char *dir)
{
    const char *tmp = getenv("TMPDIR");

    *file = (struct ep_spool_file){.fd = -1, .memory_ok = dir != NULL};
    if (dir == NULL && tmp != NULL && tmp[0] == '/')
        dir = tmp;
    if (dir != NULL) {
        file->dirs[0] = strdup(dir);
        if (file->dirs[0] == NULL)
            return OV_ENOMEM;
    }
    if (!file->memory_ok) {
        file->dirs[1] = strdup("/var/tmp");
        if (file->dirs[1] == NULL) {
            ep_spool_file_fini(file);
            return OV_ENOMEM;
        }
    }
    return 0;
}

void ep_spool_file_fini(struct ep_spool_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->dirs[0]);
    free(file->dirs[1]);
    *file = (struct ep_spool_file){.fd = -1};
}

static int open_in(const char *dir)
{
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int len;

    if (fd >= 0)
        return fd;
    /* Older kernels and some file systems do not know O_TMPFILE. */
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return -1;
    len = snprintf(path, sizeof(path), "%s/xylem-spool-XXXXXX", dir);
    if (len < 0 || (size_t)len >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool is_in_memory(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 &&
           (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static int file_open(struct ep_spool_file *file)
{
    int err = ENOTSUP;

    for (int i = 0; i < 2 && file->fd < 0; i++) {
        int fd;

        if (file->dirs[i] == NULL)
            continue;
        fd = open_in(file->dirs[i]);
        if (fd < 0) {
            err = errno;
        } else if (!file->memory_ok && is_in_memory(fd)) {
            close(fd);
            err = ENOTSUP;
        } else {
            file->fd = fd;
        }
    }
    return file->fd >= 0 ? 0 : err;
}

int ep_spool_file_probe(const char *dir)
{
    struct ep_spool_file file;
    int err = ENOMEM;

    if (ep_spool_file_init(&file, dir) == 0) {
        err = file_open(&file);
        ep_spool_file_fini(&file);
    }
    return err;
}

int ep_spool_file_write(struct ep_spool_file *file, const uint8_t *mem,
                        uint32_t len_bytes, uint64_t off_bytes)
{
    int err = file_open(file);

    while (err == 0 && len_bytes > 0) {
        ssize_t got = pwrite(file->fd, mem, len_bytes, (off_t)off_bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        mem += got;
        len_bytes -= (uint32_t)got;
        off_bytes += (uint64_t)got;
    }
    return err;
}

int ep_spool_file_read(struct ep_spool_file *file, uint8_t *mem,
                       uint32_t len_bytes, uint64_t off_bytes)
{
    while (len_bytes > 0) {
        ssize_t got = pread(file->fd, mem, len_bytes, (off_t)off_bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        mem += got;
        len_bytes -= (uint32_t)got;
        off_bytes += (uint64_t)got;
    }
    return 0;
}

int ep_spool_file_shrink(struct ep_spool_file *file)
{
    if (file->fd >= 0 && ftruncate(file->fd, 0) < 0)
        return errno;
    return 0;
}
