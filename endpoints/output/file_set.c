/* Opens, writes and closes files; the file that was not used for the longest
 * time is closed first. */
#include "config.h"

#include "endpoints/output/file_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum { IOV_COUNT = 64 };

static void path_of(const struct ep_file_set *set, const struct ep_file *file,
                    char path[PATH_MAX])
{
    if (file->path != NULL)
        snprintf(path, PATH_MAX, "%s", file->path);
    else if (ep_names_path(&set->names, &file->origin, path, PATH_MAX))
        path[PATH_MAX - 1] = '\0';
}

static const char *words_of(int err)
{
    switch (err) {
    case ELOOP:
        return "it is a symbolic link, which is not followed";
    case EISDIR:
        return "it is a directory";
    case EEXIST:
        return "it exists already and is not overwritten";
    case ENXIO:
        return "it is not a regular file";
    default:
        return strerror(err);
    }
}

static bool file_fail(struct ep_file_set *set, const struct ep_file *file,
                      int err)
{
    char path[PATH_MAX];

    if (set->err != 0)
        return false;
    path_of(set, file, path);
    set->err = err;
    snprintf(set->why, sizeof(set->why), "cannot write to '%s': %s", path,
             words_of(err));
    return false;
}

/* ---- which are open ---- */

static void open_remove(struct ep_file_set *set, struct ep_file *file)
{
    if (file->newer != NULL)
        file->newer->older = file->older;
    else
        set->newest = file->older;
    if (file->older != NULL)
        file->older->newer = file->newer;
    else
        set->oldest = file->newer;
    file->newer = file->older = NULL;
}

static void open_add(struct ep_file_set *set, struct ep_file *file)
{
    file->older = set->newest;
    if (set->newest != NULL)
        set->newest->newer = file;
    else
        set->oldest = file;
    set->newest = file;
}

/* Closes a file. A file system may report only now that it has lost bytes that
 * it took before. */
static bool file_close(struct ep_file_set *set, struct ep_file *file)
{
    int rc;

    if (file->fd < 0)
        return true;
    open_remove(set, file);
    set->open_count--;
    rc = close(file->fd);
    file->fd = -1;
    return rc == 0 || errno == EINTR || file_fail(set, file, errno);
}

int ep_file_make_dirs(const char *path)
{
    char dir[PATH_MAX];
    char *slash;

    snprintf(dir, sizeof(dir), "%s", path);
    for (slash = strchr(dir + (dir[0] == '/'), '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(dir, 0777) != 0 && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    return 0;
}

/* Returns a descriptor, or -1 with errno. */
static int open_path(const char *path, bool is_made, bool is_new)
{
    const int begin = is_new ? O_EXCL : O_TRUNC;
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                      O_NONBLOCK | (is_made ? 0 : begin);
    struct stat st;
    int fd = open(path, flags, 0666);
    int err;

    if (fd < 0 && errno == ENOENT) {
        err = ep_file_make_dirs(path);
        fd = open(path, flags, 0666);
        if (fd < 0 && err != 0)
            errno = err;
    }
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    errno = ENXIO;
    return -1;
}

/* True for a file to which stdout or stderr of this process goes. */
static bool is_own(const struct stat *st)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat own;

        if (fstat(fd, &own) == 0 && own.st_dev == st->st_dev &&
            own.st_ino == st->st_ino)
            return true;
    }
    return false;
}

/* Opens what is no regular file. Without O_NONBLOCK opening a pipe would wait
 * for a reader; writing to it may wait. */
static int open_special(const char *path)
{
    int fd =
        open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 && errno == ENXIO)
        errno = EPIPE;
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_APPEND);
    return fd;
}

/* Opens a file by its exact name. What is in a file already is dropped, unless
 * it is one that this process writes to as well. */
static int open_exact(const char *path, bool is_made, bool is_new)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY |
                      (is_new && !is_made ? O_EXCL : 0);
    struct stat st;
    int fd, err;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return open_special(path);
    fd = open(path, flags, 0666);
    if (fd < 0 && errno == ENOENT) {
        err = ep_file_make_dirs(path);
        fd = open(path, flags, 0666);
        if (fd < 0 && err != 0)
            errno = err;
    }
    if (fd < 0 || is_made || fstat(fd, &st) != 0 || st.st_size == 0 ||
        is_own(&st) || ftruncate(fd, 0) == 0)
        return fd;
    err = errno;
    close(fd);
    errno = err;
    return -1;
}

static int open_any(const struct ep_file_set *set, const char *path,
                    bool is_made)
{
    return set->names.kind == EP_NAMES_EXACT
               ? open_exact(path, is_made, set->names.is_new)
               : open_path(path, is_made, set->names.is_new);
}

static bool file_open(struct ep_file_set *set, struct ep_file *file)
{
    char path[PATH_MAX];

    if (file->fd >= 0) {
        open_remove(set, file);
        open_add(set, file);
        return true;
    }
    while (set->open_count >= set->open_max) {
        if (!file_close(set, set->oldest))
            return false;
    }
    if (file->path == NULL &&
        ep_names_path(&set->names, &file->origin, path, PATH_MAX))
        return file_fail(set, file, ENAMETOOLONG);
    path_of(set, file, path);
    while ((file->fd = open_any(set, path, file->is_made)) < 0) {
        if ((errno != EMFILE && errno != ENFILE) || set->oldest == NULL)
            return file_fail(set, file, errno);
        if (!file_close(set, set->oldest))
            return false;
    }
    set->open_count++;
    open_add(set, file);
    file->is_made = true;
    return true;
}

/* ---- writing ---- */

static bool write_all(struct ep_file_set *set, struct ep_file *file,
                      struct iovec *iov, int n)
{
    while (n > 0) {
        ssize_t got;

        if (atomic_load(&set->is_given_up))
            return file_fail(set, file, ECANCELED);
        got = writev(file->fd, iov, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return file_fail(set, file, errno);
        atomic_fetch_add_explicit(&set->progress, 1, memory_order_relaxed);
        while (n > 0 && (size_t)got >= iov->iov_len) {
            got -= (ssize_t)iov->iov_len;
            iov++;
            n--;
        }
        if (n > 0) {
            iov->iov_base = (uint8_t *)iov->iov_base + got;
            iov->iov_len -= (size_t)got;
        }
    }
    return true;
}

/* True when the unfinished line belongs to another source than the item's. */
static bool is_torn(const struct ep_file *file, const struct ep_file_item *item)
{
    return file->mid_line && (file->line_proc != item->proc ||
                              file->line_channel != item->origin.channel);
}

static void line_take(struct ep_file *file, const struct ep_file_item *item)
{
    file->line_proc = item->proc;
    file->line_channel = item->origin.channel;
}

/* Writes records unchanged, as many as one call takes. Returns the first record
 * that is left, also after an error (set->err); or NULL. */
static struct ep_file_item *write_plain(struct ep_file_set *set,
                                        struct ep_file *file,
                                        struct ep_file_item *first)
{
    static uint8_t newline[] = "\n";
    struct iovec iov[IOV_COUNT + 2];
    struct ep_file_item *item;
    int n = 0;

    for (item = first; item != NULL && n < IOV_COUNT; item = item->next) {
        if (item->len_bytes == 0)
            continue;
        if (!set->is_raw && is_torn(file, item))
            iov[n++] = (struct iovec){.iov_base = newline, .iov_len = 1};
        iov[n++] = (struct iovec){.iov_base = (void *)(uintptr_t)item->mem,
                                  .iov_len = item->len_bytes};
        file->mid_line = item->mem[item->len_bytes - 1] != '\n';
        line_take(file, item);
    }
    if (!write_all(set, file, iov, n))
        return NULL;
    for (; first != item; first = first->next)
        first->is_written = true;
    return item;
}

static bool block_flush(struct ep_file_set *set, struct ep_file *file)
{
    struct iovec iov = {.iov_base = set->block, .iov_len = set->block_bytes};

    set->block_bytes = 0;
    return write_all(set, file, &iov, iov.iov_len > 0);
}

static bool block_newline(struct ep_file_set *set, struct ep_file *file)
{
    if (set->block_bytes == EP_FILE_BLOCK_BYTES && !block_flush(set, file))
        return false;
    set->block[set->block_bytes++] = '\n';
    file->mid_line = false;
    return true;
}

static bool format_item(struct ep_file_set *set, struct ep_file *file,
                        const struct ep_file_item *item)
{
    const uint8_t *src = item->mem;
    const uint8_t *end = src + item->len_bytes;

    if (item->len_bytes > 0 && is_torn(file, item) && !block_newline(set, file))
        return false;
    while (src < end || text_format_is_open(&set->format)) {
        const size_t room = EP_FILE_BLOCK_BYTES - set->block_bytes;
        const size_t len =
            text_format_lines(&set->format, &item->origin, &file->mid_line,
                              &src, end, set->block + set->block_bytes, room);

        set->block_bytes += (uint32_t)len;
        if ((src < end || text_format_is_open(&set->format)) &&
            !block_flush(set, file))
            return false;
    }
    if (item->len_bytes > 0)
        line_take(file, item);
    if (item->is_eof && file->mid_line && !is_torn(file, item))
        return block_newline(set, file);
    return true;
}

static bool write_formatted(struct ep_file_set *set, struct ep_file *file)
{
    struct ep_file_item *item;

    set->block_bytes = 0;
    for (item = file->work.first; item != NULL; item = item->next) {
        if (!format_item(set, file, item))
            return false;
    }
    if (!block_flush(set, file))
        return false;
    for (item = file->work.first; item != NULL; item = item->next)
        item->is_written = true;
    return true;
}

bool ep_file_write(struct ep_file_set *set, struct ep_file *file)
{
    struct ep_file_item *item = file->work.first;
    const bool is_last = file->work.last->is_eof && file->path == NULL;
    const bool is_plain = text_style_is_plain(item->origin.style);

    if (!file_open(set, file))
        return false;
    while (is_plain && item != NULL)
        item = write_plain(set, file, item);
    if (set->err != 0 || (!is_plain && !write_formatted(set, file)))
        return false;
    atomic_fetch_add_explicit(&set->progress, 1, memory_order_relaxed);
    return !is_last || file_close(set, file);
}

bool ep_file_finish(struct ep_file_set *set, struct ep_file *file)
{
    if (file->mid_line && !text_style_is_plain(file->origin.style)) {
        set->block_bytes = 0;
        if (!file_open(set, file) || !block_newline(set, file) ||
            !block_flush(set, file))
            return false;
    }
    return file_close(set, file);
}

int ep_file_set_init(struct ep_file_set *set, const struct ep_names *names,
                     bool is_raw, uint32_t open_max)
{
    memset(set, 0, sizeof(*set));
    set->names = *names;
    set->is_raw = is_raw;
    set->open_max = open_max;
    set->block = malloc(EP_FILE_BLOCK_BYTES);
    return set->block == NULL ? OV_ENOMEM : 0;
}

void ep_file_set_fini(struct ep_file_set *set)
{
    while (set->oldest != NULL)
        (void)file_close(set, set->oldest);
    free(set->block);
    set->block = NULL;
}
