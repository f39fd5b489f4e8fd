/* A feed with pipes that a test reads when it likes.
 *
 * Buffers come from a pool that counts them, so every test also shows that all
 * of them came back. Everything that is read is compared with the stream.
 */
#ifndef TESTS_UNIT_HOSE_H
#define TESTS_UNIT_HOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/daemon/feed.h"

enum { READERS_MAX = 32, PIPE_BYTES = 64 * 1024 };

struct reader {
    int fd; /* read end, non-blocking; -1 when closed */
    bool at_end;
    size_t seen_bytes; /* bytes that were compared with the stream */
};

struct hose {
    struct event_base *base;
    struct ep_feed *feed;
    struct reader readers[READERS_MAX];
    uint64_t consumed;
    unsigned told;
    unsigned buffers; /* buffers in use */
    uint8_t *stream;  /* all bytes that were pushed */
    size_t stream_bytes;
    size_t stream_room;
    bool close_when_told;
    unsigned slow_told; /* the last of these reports said that the target is
                         * slow */
    uint32_t slow_proc;
    enum job_stdin_event slow_what;
    int slow_err;
};

int hose_setup(void **state);
int hose_teardown(void **state);

/* Adds a target with a pipe; returns the result of ep_feed_target(). */
int hose_add(struct hose *hose, uint32_t proc);
void hose_close(struct hose *hose, uint32_t proc);

/* Pushes len bytes as the middle of a larger buffer. Each byte tells its
 * position in the stream. */
int hose_push(struct hose *hose, uint32_t len);

/* Pushes these bytes, which are not part of the stream, as the middle of a
 * larger buffer: hose_push_mem() as a frame for all targets, hose_push_some()
 * as a message for some. */
int hose_push_mem(struct hose *hose, const uint8_t *mem, uint32_t len,
                  bool is_for_some);

/* Runs the loop until nothing is ready. */
void hose_settle(struct hose *hose);

/* Reads up to `most` bytes and checks them. Returns the number of bytes
 * read. */
size_t hose_drink(struct hose *hose, uint32_t proc, size_t most);

/* Reads everything until the feed has nothing more to write. */
void hose_drink_all(struct hose *hose, uint32_t proc);

#endif
