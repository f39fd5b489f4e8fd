/* A relay tree of plain epoll sockets: the practical limit that xylem is
 * measured against. It does the same work (stdin to every process, whole
 * lines back) with nothing else: no authentication, no acknowledgement, no
 * repair, no heartbeat, nodes that are forked and not launched.
 *
 * Bytes travel down as they are. Up they travel in frames of a header of
 * RELAY_HEADER bytes (source, length with two flags; in the byte order of the
 * machine, as all ends are on it) and at most RELAY_CHUNK bytes of whole lines.
 */
#ifndef BENCH_RELAY_H
#define BENCH_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
    RELAY_CHUNK = 64 * 1024,           /* bytes moved by one call */
    RELAY_DOWN_RING = 4 * RELAY_CHUNK, /* each node has one ring of this size */
    RELAY_UP_RING = 2 * RELAY_CHUNK,   /* each child and each process has one
                                        * ring of this size */
    RELAY_HEADER = 8,
    RELAY_ARITY_MAX = 64,
    RELAY_NODES_MAX = 4096,
    RELAY_IOV_MAX = 3 * (RELAY_ARITY_MAX + 1),
};

/* Flags in the upper bits of a frame's length. */
#define RELAY_MORE                                                             \
    0x80000000u /* the line goes on in the source's next frame                 \
                 */
#define RELAY_END                                                              \
    0x40000000u /* everything beneath has ended; the source                    \
                 * field is the worst exit status */

/* One descriptor in the epoll set. Edge-triggered: the flags remember what
 * the last events said until a call proves them wrong. */
struct relay_end {
    int fd;
    bool can_read;
    bool can_write;
    bool hung_up;
    bool plain; /* a file: always ready, never in the epoll set */
};

/* A ring of bytes; positions are counted from the start of the stream. */
struct relay_ring {
    char *bytes; /* owned, for the life of the process */
    size_t size; /* a power of two */
};

struct relay_out {
    struct relay_end *end;
    uint64_t at; /* position of the next byte to write */
    bool open;
    bool is_pipe;
};

/* One stream in, to be written to every out. The slowest out holds the rest
 * once it is a ring behind. */
struct relay_down {
    struct relay_ring ring;
    struct relay_end *source;
    uint64_t head;
    bool eof;
    int out_count;
    struct relay_out outs[RELAY_ARITY_MAX + 1];
};

struct relay_input {
    struct relay_ring ring;
    struct relay_end *end;
    uint64_t head; /* bytes read */
    uint64_t tail; /* bytes passed on */
    bool is_process;
    bool eof;
    bool ended; /* child: its END was seen; process: eof and all passed on */
    bool open;  /* the last frame passed on left its line open */
};

struct relay_segment {
    int input;
    size_t header_left;
    size_t body_left;
};

/* Many streams of whole lines in, one out: frames to `parent`, or the bare
 * lines to standard output at the root, where `parent` is NULL. */
struct relay_up {
    struct relay_end *parent;
    uint32_t source;
    uint32_t status;   /* worst exit status beneath */
    bool process_left; /* this node's process runs */
    bool end_sent;
    int input_count;
    int owner; /* the input with an open line, or -1 */
    int segment_count;
    int segment_at;
    unsigned char header[RELAY_HEADER];
    struct relay_segment segments[RELAY_ARITY_MAX + 1];
    struct relay_input inputs[RELAY_ARITY_MAX + 1];
};

/* Allocate a ring; ends the program when there is no memory. */
void relay_ring_init(struct relay_ring *ring, size_t size_bytes);

/* Describe `len` bytes at position `at`. Returns the count, 0 to 2. */
int relay_ring_iov(const struct relay_ring *ring, uint64_t at, size_t len,
                   struct iovec iov[2]);

/* Read once into `iov`. Returns the bytes, 0 at the end of the stream (a reset
 * counts as one), or -1 when there is nothing now. */
ssize_t relay_end_read(struct relay_end *end, const struct iovec *iov,
                       int count);

/* Write once. Returns the bytes, 0 when there is no room now, or -1 when the
 * other side is gone. */
ssize_t relay_end_write(struct relay_end *end, const struct iovec *iov,
                        int count);

/* Read at most one chunk and write what every out takes. Returns whether
 * anything moved. */
bool relay_down_step(struct relay_down *down);

/* Close one out: it takes no more and holds nobody up. */
void relay_down_close(struct relay_out *out);

/* Moves bytes up the tree, towards the root. Returns as relay_down_step(). */
bool relay_up_step(struct relay_up *up);

/* Whether every input has ended and everything was passed on. */
bool relay_up_is_done(const struct relay_up *up);

/* Say what failed, with errno's text, and exit 1. */
_Noreturn void relay_die(const char *what);

#endif
