/* Heads of messages of tools, which may come in parts.
 *
 * libpmix (4.2.2, pmix_ptl_base_recv_handler) reads the head of a message into
 * memory of that one call. If a part is not there yet, it forgets what it had,
 * and takes the next bytes for a head: the tool's messages are lost. So a read
 * of such a small piece gets it whole, or not at all; the part that is there is
 * kept here meanwhile.
 *
 * In the library's thread alone, except px_head_forget(). O(1).
 */
#ifndef PMIX_API_HELPER_LIB_HEAD_H
#define PMIX_API_HELPER_LIB_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    HEAD_BYTES_MAX = 32,        /* 16 in 4.2 */
    HEAD_DESCRIPTORS_MAX = 512, /* the most that the helper opens */
};

typedef ssize_t (*px_head_reader)(int fd, void *mem, size_t bytes);

/* True when a read of this many bytes is to be made by px_head_read(). It is
 * then repeated with the same count until all has come. */
bool px_head_is_one(int fd, size_t bytes);

/* Like read(), but gives all of `bytes` or none: -1 with EAGAIN when some are
 * still to come. */
ssize_t px_head_read(int fd, void *mem, size_t bytes, px_head_reader reader);

/* Says that the descriptor is another connection now. Any thread. */
void px_head_forget(int fd);

#endif
