/* Packets that wait: rings of bytes in memory and in a file. */
#include "config.h"

#include "pmix_api/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum {
    HEAD_BYTES = 4, /* the length before each packet, of this machine */
    AHEAD_BYTES = 16 << 10,
};

/* --- the file */

static int make_file(const char *dir)
{
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    if ((size_t)snprintf(path, sizeof(path), "%s/spool-XXXXXX", dir) >=
        sizeof(path))
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool file_write(int fd, const uint8_t *mem, uint64_t len, uint64_t at)
{
    while (len > 0) {
        ssize_t put = pwrite(fd, mem, len, (off_t)at);

        if (put <= 0)
            return false;
        mem += put;
        at += (uint64_t)put;
        len -= (uint64_t)put;
    }
    return true;
}

static bool file_read(int fd, uint8_t *mem, uint64_t len, uint64_t at)
{
    while (len > 0) {
        ssize_t got = pread(fd, mem, len, (off_t)at);

        if (got <= 0)
            return false;
        mem += got;
        at += (uint64_t)got;
        len -= (uint64_t)got;
    }
    return true;
}

/* --- bytes at a position of one of the rings */

static void forget_ahead(struct px_spool *spool, uint64_t at, uint64_t len)
{
    if (at < spool->ahead_at + spool->ahead_bytes && spool->ahead_at < at + len)
        spool->ahead_bytes = 0;
}

/* As much as is there from that position on, to the end of the file. */
static bool read_ahead(struct px_spool *spool, uint64_t at, uint64_t there)
{
    uint64_t left = spool->far.cap_bytes - at;
    uint64_t len = there < left ? there : left;

    if (spool->ahead == NULL)
        spool->ahead = malloc(AHEAD_BYTES);
    if (spool->ahead == NULL)
        return false;
    spool->ahead_at = at;
    spool->ahead_bytes = len < AHEAD_BYTES ? len : AHEAD_BYTES;
    if (!file_read(spool->fd, spool->ahead, spool->ahead_bytes, at))
        spool->ahead_bytes = 0;
    return spool->ahead_bytes > 0;
}

static bool is_ahead(const struct px_spool *spool, uint64_t at, uint64_t len)
{
    return at >= spool->ahead_at &&
           at + len <= spool->ahead_at + spool->ahead_bytes;
}

static bool peek_far(struct px_spool *spool, uint64_t at, uint8_t *mem,
                     uint64_t len, uint64_t there)
{
    if (len > AHEAD_BYTES ||
        (!is_ahead(spool, at, len) && !read_ahead(spool, at, there)))
        return file_read(spool->fd, mem, len, at);
    memcpy(mem, spool->ahead + (at - spool->ahead_at), len);
    return true;
}

static bool poke(struct px_spool *spool, bool is_near, uint64_t at,
                 const uint8_t *mem, uint64_t len)
{
    if (!is_near) {
        forget_ahead(spool, at, len);
        return file_write(spool->fd, mem, len, at);
    }
    memcpy(spool->mem + at, mem, len);
    return true;
}

/* `there`: so much was put from this position on. */
static bool peek(struct px_spool *spool, bool is_near, uint64_t at,
                 uint8_t *mem, uint64_t len, uint64_t there)
{
    if (!is_near)
        return len == 0 || peek_far(spool, at, mem, len, there);
    memcpy(mem, spool->mem + at, len);
    return true;
}

static struct px_ring *ring_of(struct px_spool *spool, bool is_near)
{
    return is_near ? &spool->near : &spool->far;
}

/* How much of len lies before the ring's end, from offset bytes past its
 * first. */
static uint64_t straight(const struct px_ring *ring, uint64_t offset,
                         uint64_t len, uint64_t *at)
{
    *at = (ring->first + offset) % ring->cap_bytes;
    return len < ring->cap_bytes - *at ? len : ring->cap_bytes - *at;
}

static bool append(struct px_spool *spool, bool is_near, const void *mem,
                   uint64_t len)
{
    struct px_ring *ring = ring_of(spool, is_near);
    uint64_t at;
    uint64_t part = straight(ring, ring->used_bytes, len, &at);

    if (len == 0)
        return true;
    if (!poke(spool, is_near, at, mem, part) ||
        (part < len &&
         !poke(spool, is_near, 0, (const uint8_t *)mem + part, len - part)))
        return false;
    ring->used_bytes += len;
    return true;
}

/* So many bytes, from offset bytes past the first on. */
static bool look(struct px_spool *spool, bool is_near, uint64_t offset,
                 void *mem, uint64_t len)
{
    struct px_ring *ring = ring_of(spool, is_near);
    uint64_t at;
    uint64_t part = straight(ring, offset, len, &at);
    uint64_t there = ring->used_bytes - offset;

    return offset + len <= ring->used_bytes &&
           peek(spool, is_near, at, mem, part, there) &&
           (part == len || peek(spool, is_near, 0, (uint8_t *)mem + part,
                                len - part, there - part));
}

static void drop(struct px_ring *ring, uint64_t len)
{
    ring->first = (ring->first + len) % ring->cap_bytes;
    ring->used_bytes -= len;
}

/* --- packets */

int px_spool_open(struct px_spool *spool, uint64_t mem_bytes,
                  uint64_t file_bytes, const char *dir)
{
    *spool = (struct px_spool){.near = {.cap_bytes = mem_bytes},
                               .far = {.cap_bytes = file_bytes},
                               .dir = dir,
                               .fd = -1};
    spool->mem = malloc(mem_bytes);
    return spool->mem == NULL ? OV_ENOMEM : 0;
}

void px_spool_close(struct px_spool *spool)
{
    free(spool->mem);
    free(spool->ahead);
    if (spool->fd >= 0)
        close(spool->fd);
    *spool = (struct px_spool){.fd = -1};
}

static bool fits(const struct px_ring *ring, uint64_t len)
{
    return len <= ring->cap_bytes - ring->used_bytes;
}

static bool have_file(struct px_spool *spool)
{
    if (spool->fd < 0 && !spool->is_broken) {
        spool->fd = make_file(spool->dir);
        spool->is_broken = spool->fd < 0 && errno != EMFILE && errno != ENFILE;
    }
    return spool->fd >= 0 && !spool->is_broken;
}

int px_spool_put(struct px_spool *spool, const void *head, uint32_t head_bytes,
                 const void *mem, uint32_t len_bytes)
{
    uint32_t packet_bytes = head_bytes + len_bytes;
    uint64_t len = (uint64_t)packet_bytes + HEAD_BYTES;
    bool is_near = spool->far.used_bytes == 0 && fits(&spool->near, len);
    uint64_t used = spool->far.used_bytes;

    if (!is_near && (!fits(&spool->far, len) || !have_file(spool)))
        return OV_EFULL;
    if (append(spool, is_near, &packet_bytes, HEAD_BYTES) &&
        append(spool, is_near, head, head_bytes) &&
        append(spool, is_near, mem, len_bytes))
        return 0;
    spool->far.used_bytes = used; /* the disk is full: what is there stays */
    return OV_EFULL;
}

/* The file has been read to its end. */
static void shrink(struct px_spool *spool)
{
    spool->far.first = 0;
    spool->ahead_bytes = 0;
    if (ftruncate(spool->fd, 0) != 0)
        spool->is_broken = true;
}

/* The first packet is no more; the ring that had it begins anew when it is
 * empty: the same memory again, and no more of it. */
static void drop_first(struct px_spool *spool, bool is_near, uint32_t len)
{
    drop(ring_of(spool, is_near), (uint64_t)HEAD_BYTES + len);
    if (spool->near.used_bytes == 0)
        spool->near.first = 0;
    if (!is_near && spool->far.used_bytes == 0)
        shrink(spool);
}

static int fail(struct px_spool *spool)
{
    spool->near.used_bytes = spool->far.used_bytes = 0;
    return OV_ESYS;
}

int px_spool_get(struct px_spool *spool, void *out, uint32_t size_bytes)
{
    bool is_near = spool->near.used_bytes > 0;
    uint32_t len;

    if (px_spool_is_empty(spool))
        return 0;
    if (!look(spool, is_near, 0, &len, HEAD_BYTES) || len > size_bytes ||
        !look(spool, is_near, HEAD_BYTES, out, len))
        return fail(spool);
    drop_first(spool, is_near, len);
    return (int)len;
}

int px_spool_peek(struct px_spool *spool, void *out, uint32_t size_bytes)
{
    bool is_near = spool->near.used_bytes > 0;
    uint32_t len;

    if (px_spool_is_empty(spool))
        return 0;
    if (!look(spool, is_near, 0, &len, HEAD_BYTES))
        return fail(spool);
    if (len < size_bytes)
        return 0;
    return look(spool, is_near, HEAD_BYTES, out, size_bytes) ? (int)len
                                                             : fail(spool);
}

void px_spool_skip(struct px_spool *spool)
{
    bool is_near = spool->near.used_bytes > 0;
    uint32_t len;

    if (px_spool_is_empty(spool))
        return;
    if (look(spool, is_near, 0, &len, HEAD_BYTES))
        drop_first(spool, is_near, len);
    else
        fail(spool);
}
