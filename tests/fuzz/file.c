/* Makes files for decoders, in memory where possible, because a disk is too
 * slow. */
#include "config.h"

#include "tests/fuzz/file.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static char folder[64];

static int file_new(void)
{
#ifdef HAVE_MEMFD_CREATE
    return memfd_create("fuzz", MFD_CLOEXEC);
#else
    FILE *file = tmpfile();

    return file == NULL ? -1 : fileno(file);
#endif
}

static void fill(int fd, const char *mem, size_t len_bytes)
{
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    FUZZ_CHECK(pwrite(fd, mem, len_bytes, 0) == (ssize_t)len_bytes);
}

const char *fuzz_file(const char *mem, size_t len_bytes)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0)
        fd = file_new();
    fill(fd, mem, len_bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    if (folder[0] != '\0')
        return folder;
    strcpy(folder, "/dev/shm/xylem-fuzz-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        strcpy(folder, "/tmp/xylem-fuzz-XXXXXX");
        FUZZ_CHECK(mkdtemp(folder) != NULL);
    }
    FUZZ_CHECK(atexit(remove_folder) == 0);
    return folder;
}

void fuzz_folder_put(const char *name, const char *mem, size_t len_bytes)
{
    char path[PATH_MAX];
    int fd, len = snprintf(path, sizeof(path), "%s/", fuzz_folder());

    FUZZ_CHECK((size_t)len + strlen(name) < sizeof(path));
    strcpy(path + len, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (char *end = strchr(path + len, '/'); fd < 0 && end != NULL;
         end = strchr(end + 1, '/')) {
        *end = '\0';
        (void)mkdir(path, 0700);
        *end = '/';
    }
    if (fd < 0)
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    fill(fd, mem, len_bytes);
    close(fd);
}
