/* Reads the heads of messages of tools as a whole, even when they come in
 * parts.
 *
 * libpmix (4.2.2, pmix_ptl_base_recv_handler) reads the head of a message into
 * memory of that one call. If a part has not come yet, libpmix forgets the part
 * that it has read, and takes the next bytes for a head: then the tool's
 * messages are lost. So this module lets libpmix read a head whole or not at
 * all, and keeps the part that has come meanwhile.
 *
 * All functions except px_head_forget() are for libpmix's thread. O(1).
 */
#ifndef PMIX_API_HELPER_LIB_HEAD_H
#define PMIX_API_HELPER_LIB_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    HEAD_BYTES_MAX = 32,        /* the longest head; 16 bytes in libpmix 4.2 */
    HEAD_DESCRIPTORS_MAX = 512, /* the most descriptors that the helper opens */
};

typedef ssize_t (*px_head_reader)(int fd, void *mem, size_t bytes);

/* True when a read of this many bytes from `fd` is for a head, or for the rest
 * of one, and must be made by px_head_read(). libpmix then repeats the read,
 * with the same count, until it gets all bytes. */
bool px_head_is_one(int fd, size_t bytes);

/* Like read(), but returns either all `bytes`, or -1 with EAGAIN when some of
 * them have not come yet. */
ssize_t px_head_read(int fd, void *mem, size_t bytes, px_head_reader reader);

/* Forgets the part that was read from this descriptor, which now belongs to
 * another connection. May be called from any thread. */
void px_head_forget(int fd);

#endif
