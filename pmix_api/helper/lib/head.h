/* Heads of messages of tools, which may come in parts.
 *
 * libpmix (4.2.2, pmix_ptl_base_recv_handler) reads the head of a message into
 * memory of that one call. Where a part of it is not there yet it forgets what
 * it had, and takes the next bytes for a head: the tool's messages are lost. So
 * what it reads in so small a piece is given to it whole, or not at all; the
 * part that is there is kept here meanwhile.
 *
 * In the library's thread alone, but px_head_forget(). O(1).
 */
#ifndef PMIX_API_HELPER_LIB_HEAD_H
#define PMIX_API_HELPER_LIB_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    HEAD_BYTES_MAX = 32,        /* 16 in 4.2 */
    HEAD_DESCRIPTORS_MAX = 512, /* the helper has no more */
};

typedef ssize_t (*px_head_reader)(int fd, void *mem, size_t bytes);

/* Is a read of so many bytes one to be made here? Each descriptor is read so
 * with the same number until that has come. */
bool px_head_is_one(int fd, size_t bytes);

/* As read(), but all of `bytes` or none: -1 with EAGAIN where some are still to
 * come. */
ssize_t px_head_read(int fd, void *mem, size_t bytes, px_head_reader reader);

/* The descriptor is another connection now. Any thread. */
void px_head_forget(int fd);

#endif
