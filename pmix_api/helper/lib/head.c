/* Reads the heads of messages of tools as a whole. */
#include "pmix_api/helper/lib/head.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* The part of a head that has come. */
struct part {
    char mem[HEAD_BYTES_MAX];
    atomic_uchar bytes;
};

static struct part parts[HEAD_DESCRIPTORS_MAX];

bool px_head_is_one(int fd, size_t bytes)
{
    return fd >= 0 && fd < HEAD_DESCRIPTORS_MAX && bytes > 0 &&
           bytes <= HEAD_BYTES_MAX;
}

ssize_t px_head_read(int fd, void *mem, size_t bytes, px_head_reader reader)
{
    struct part *part = &parts[fd];
    size_t had = part->bytes < bytes ? part->bytes : 0;
    ssize_t got = reader(fd, part->mem + had, bytes - had);

    if (got <= 0)
        return got;
    had += (size_t)got;
    part->bytes = had < bytes ? (unsigned char)had : 0;
    if (had < bytes) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(mem, part->mem, bytes);
    return (ssize_t)bytes;
}

void px_head_forget(int fd)
{
    if (px_head_is_one(fd, 1))
        parts[fd].bytes = 0;
}
