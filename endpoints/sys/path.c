/* Checks the kind of files that the user names, and opens them. */
#include "config.h"

#include "endpoints/sys/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "endpoints/sys/clock.h"
#include "endpoints/sys/prelude.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum { LOOK_MS = 20, SHOWN_MAX = 120 };

/* Returns why a file of this mode is refused; NULL: it can be opened, or does
 * not exist. */
static const char *fault_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "it is a directory";
    if (S_ISSOCK(mode))
        return "it is a socket, which cannot be opened";
    return NULL;
}

static int refuse_path(const char *option, const char *path, const char *fault,
                       char *why)
{
    snprintf(why, EP_WHY_MAX, "%s: '%.*s': %s", option, SHOWN_MAX, path, fault);
    return OV_EINVAL;
}

/* Writes the text for errno to `why`. */
static int fail_path(const char *option, const char *path, char *why)
{
    refuse_path(option, path, strerror(errno), why);
    return OV_ESYS;
}

static void announce(const char *option, const char *path, const char *whom)
{
    char text[EP_WHY_MAX];

    snprintf(text, sizeof(text), "%s: waiting for a program that %s '%.*s'",
             option, whom, SHOWN_MAX, path);
    ep_prelude_wait(text);
}

int ep_path_look(const char *option, const char *path, char *why)
{
    struct stat st;
    const char *fault;

    if (stat(path, &st) != 0)
        return 0;
    fault = fault_of(st.st_mode);
    if (fault != NULL)
        return refuse_path(option, path, fault, why);
    if (S_ISFIFO(st.st_mode))
        announce(option, path, "writes to");
    return 0;
}

int ep_path_read(const char *option, const char *path, int *fd, char *why)
{
    int rc = ep_path_look(option, path, why);

    if (rc != 0)
        return rc;
    *fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        rc = fail_path(option, path, why);
    ep_prelude_go_on();
    return rc;
}

/* Opens a FIFO for writing, trying again while it has no reader: until then
 * open() fails with ENXIO. */
static int open_fifo(const char *path, int flags)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};
    int64_t end_ms = ep_clock_ms() + EP_PATH_READER_MS;
    int fd = open(path, flags);

    while (fd < 0 && errno == ENXIO && ep_clock_ms() < end_ms) {
        nanosleep(&look, NULL);
        fd = open(path, flags);
    }
    return fd;
}

int ep_path_write(const char *option, const char *path, int *fd, char *why)
{
    const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat st;
    const char *fault;

    *fd = -1;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return 0;
    fault = fault_of(st.st_mode);
    if (fault != NULL)
        return refuse_path(option, path, fault, why);
    if (S_ISFIFO(st.st_mode))
        announce(option, path, "reads");
    *fd = S_ISFIFO(st.st_mode) ? open_fifo(path, flags) : open(path, flags);
    ep_prelude_go_on();
    if (*fd < 0 && errno == ENXIO && S_ISFIFO(st.st_mode))
        return refuse_path(
            option, path,
            "nobody opened it for reading within 5 s: start its reader first",
            why);
    return *fd < 0 ? fail_path(option, path, why) : 0;
}
