/* Controls how libpmix uses the tool's socket, by replacing functions of libc.
 *
 * Three functions of libc are replaced in this program. accept() returns the
 * tool's socket in place of the connection that this process makes to libpmix's
 * port, and closes any other connection. read() returns the head of a message
 * whole or not at all (head.h says why). writev() reports what was written to
 * the tool, and begins each message with a segment of its own. All other
 * descriptors are left alone.
 */
#ifndef PMIX_API_HELPER_LIB_STREAM_H
#define PMIX_API_HELPER_LIB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Called in the thread of the library that reads or writes. */
struct px_stream_events {
    /* libpmix tries to write these bytes to the tool. Return false to leave
     * them out; libpmix is then told that they were written. */
    bool (*on_try)(const struct iovec *parts, int count);
    void (*on_wrote)(size_t bytes);
    /* The tool has closed its end of the socket, and all that the tool sent was
     * read. is_clean: the tool closed it after it had read all that had come to
     * it, or after a shutdown of reading. */
    void (*on_closed)(bool is_clean);
};

/* Begins to replace the functions; to be called before libpmix is started.
 * Until px_stream_listen() every connection that libpmix accepts is closed.
 * False: libc lacks a function. */
bool px_stream_open(const struct px_stream_events *events);

/* Notes that libpmix listens at this IPv4 address, given as text, and port. */
void px_stream_listen(const char *host, uint16_t port);

/* Connects to libpmix, whose accept() then returns this descriptor. Returns 0,
 * or OV_ESYS. */
int px_stream_dial(int fd);

/* True when libpmix has something left to write to the tool: it then has the
 * kernel watch the socket for room. Also true when that cannot be found out. To
 * be called in libpmix's thread. */
bool px_stream_is_eager(void);

#endif
