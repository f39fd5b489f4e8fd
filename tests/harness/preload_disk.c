/* For LD_PRELOAD: a disk that fails. The file $TEST_DISK contains two error
 * numbers, one for writes and one for reads of files without a name, which
 * apply from now on; 0 means no error. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Returns the error with which writes, or reads, fail now. */
static int error_now(int fd, int of_reads)
{
    const char *path = getenv("TEST_DISK");
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    int errs[2] = {0, 0};
    struct stat st;

    if (file != NULL) {
        if (fscanf(file, "%d %d", &errs[0], &errs[1]) != 2)
            abort();
        fclose(file);
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink > 0)
        return 0;
    return errs[of_reads];
}

ssize_t pwrite(int fd, const void *mem, size_t len, off_t off)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    const int err = error_now(fd, 0);

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    if (err == 0)
        return real(fd, mem, len, off);
    errno = err;
    return -1;
}

ssize_t pread(int fd, void *mem, size_t len, off_t off)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    const int err = error_now(fd, 1);

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pread");
    if (err == 0)
        return real(fd, mem, len, off);
    errno = err;
    return -1;
}
