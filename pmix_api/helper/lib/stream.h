/* The tool's socket, between libpmix and the kernel.
 *
 * Three functions of libc are replaced in this program. accept() gives the
 * library the tool's socket in place of this process's own dial to the
 * library's port, and closes any other connection. read() gives it the head of
 * a message whole or not at all (head.h says why). writev() reports what was
 * written to the tool, and begins each message with a segment of its own. All
 * other descriptors are left alone.
 */
#ifndef PMIX_API_HELPER_LIB_STREAM_H
#define PMIX_API_HELPER_LIB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Called in the thread of the library that reads or writes. */
struct px_stream_events {
    /* The library is about to write these to the tool, or to try. Return false
     * to have them left out; the library is told that they were written. */
    bool (*on_try)(const struct iovec *parts, int count);
    void (*on_wrote)(size_t bytes);
    /* The tool's end is closed, and all that came from it is read. It is clean
     * when the tool's process closed it after reading all that had come to it,
     * or after saying that it reads nothing more. */
    void (*on_closed)(bool is_clean);
};

/* Replaces the functions, before the library is started. Until
 * px_stream_listen() no connection gets in by any port. False: libc lacks a
 * function. */
bool px_stream_open(const struct px_stream_events *events);

/* Says that the library listens at this IPv4 address, as text. */
void px_stream_listen(const char *host, uint16_t port);

/* Dials the library, which gets this descriptor. Returns 0, or OV_ESYS. */
int px_stream_dial(int fd);

/* True when the library has something to write to the tool: it then has the
 * kernel report when there is room. Also true when that cannot be found out. In
 * the library's thread. */
bool px_stream_is_eager(void);

#endif
