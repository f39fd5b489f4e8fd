/* An output channel under test: its loop, the pipe that it reads, and all that
 * was pulled from it.
 */
#ifndef TESTS_UNIT_CHANNEL_TAP_H
#define TESTS_UNIT_CHANNEL_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/daemon/channel.h"

struct ep_writer;
struct event_base;

enum { TAP_ROOM = 64 * 1024, TAP_ROOM_MAX = 4 * TAP_ROOM };

struct tap {
    struct event_base *base;
    struct event_base
        *disk; /* of the writer: the other has the channel alone */
    struct ep_writer *writer;
    struct ep_tails *tails; /* two lines of the largest size fit */
    struct ep_tail ballast; /* another open line */
    struct ep_channel *ch;
    int out; /* write end, non-blocking, -1 when closed */
    int in;  /* read end, the channel's */
    unsigned ready;
    bool close_when_ready;
    uint8_t *seen; /* all that was pulled since tap_open */
    size_t seen_bytes;
    size_t seen_room;
    uint8_t *dst; /* TAP_ROOM_MAX bytes: where the last read was put */
};

/* cmocka fixtures; *state is the tap, without a channel yet. */
int tap_setup(void **state);
int tap_setup_nowhere(void **state); /* open lines can go to no file */
int tap_teardown(void **state);
#define TAP_TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, tap_setup, tap_teardown)

/* A fresh pipe and channel. */
void tap_open(struct tap *tap, bool raw, uint32_t open_ms);

/* Another line is open, and as long as it may be: together with that of the
 * channel it fills the memory, and one of them goes to the file, then the
 * other. */
void tap_load(struct tap *tap);

/* Into the pipe, all at once; and its end. */
void tap_put(struct tap *tap, const void *bytes, size_t len);
void tap_put_text(struct tap *tap, const char *text);
void tap_put_end(struct tap *tap);

/* One read with that much room; what it gave is at dst and added to seen. */
uint32_t tap_pull(struct tap *tap, uint32_t room, enum ep_channel_state *state);

/* Reads until the channel has no more, and compares. */
void tap_expect(struct tap *tap, uint32_t room, const char *text,
                enum ep_channel_state wanted);

/* Lets the loop do what is ready now. */
void tap_turn(struct tap *tap);

#endif
