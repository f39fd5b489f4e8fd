/* Between libpmix and the kernel: the one socket that is a tool's.
 *
 * Three functions of libc are replaced in this program: accept() gives the
 * library the tool's socket in the place of this process's own dial to the
 * library's port, and closes whoever else comes; read() gives it the head of a
 * message whole or not at all (head.h says why); writev() tells what was
 * written to the tool, and begins each message with a segment of its own. All
 * other descriptors go by untouched.
 */
#ifndef PMIX_API_HELPER_LIB_STREAM_H
#define PMIX_API_HELPER_LIB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* In the thread of the library that does it. */
struct px_stream_events {
    /* It is about to write these to the tool, or to try. False: it is told
     * that it has, and they are not. */
    bool (*on_try)(const struct iovec *parts, int count);
    void (*on_wrote)(size_t bytes);
    /* The tool's end is closed, and all that came from it is read. Clean: it
     * was closed by the tool's process when that had read all that had come to
     * it, or after the process had said that it reads no more. */
    void (*on_closed)(bool is_clean);
};

/* Before the library is started. Until px_stream_listen() nobody gets in by
 * whatever port. False: libc lacks something. */
bool px_stream_open(const struct px_stream_events *events);

/* The library listens at this IPv4 address, as text. */
void px_stream_listen(const char *host, uint16_t port);

/* Dials there; the library gets this descriptor. Returns 0, or OV_ESYS. */
int px_stream_dial(int fd);

/* True when the library has something to write to the tool, as it then has the
 * kernel tell when that can be. Also true where that cannot be found out. In
 * the library's thread. */
bool px_stream_is_eager(void);

#endif
