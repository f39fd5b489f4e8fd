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
    struct event_base *disk; /* an event loop with a writer that the channel
                              * does not use */
    struct ep_writer *writer;
    struct ep_tails *tails; /* memory for two lines of the largest size */
    struct ep_tail ballast; /* another unfinished line, which takes up memory */
    struct ep_channel *ch;
    int out; /* write end, non-blocking, -1 when closed */
    int in;  /* read end, the channel's */
    unsigned ready;
    bool close_when_ready;
    uint8_t *seen; /* all bytes that were pulled since tap_open() */
    size_t seen_bytes;
    size_t seen_room;
    uint8_t *dst; /* TAP_ROOM_MAX bytes for the next read */
};

/* Fixtures for cmocka; *state is the tap, without a channel yet. With
 * tap_setup_nowhere() unfinished lines cannot go to a file. */
int tap_setup(void **state);
int tap_setup_nowhere(void **state);
int tap_teardown(void **state);
#define TAP_TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, tap_setup, tap_teardown)

/* Makes a fresh pipe and channel. */
void tap_open(struct tap *tap, bool raw, uint32_t open_ms);

/* Begins another line of the greatest length. Together with the channel's line
 * it fills the memory, so that one of the two must go to the file. */
void tap_load(struct tap *tap);

/* tap_put() and tap_put_text() write into the pipe, all at once; tap_put_end()
 * closes the pipe. */
void tap_put(struct tap *tap, const void *bytes, size_t len);
void tap_put_text(struct tap *tap, const char *text);
void tap_put_end(struct tap *tap);

/* Reads once with room for this many bytes; the bytes are at dst and are added
 * to seen. */
uint32_t tap_pull(struct tap *tap, uint32_t room, enum ep_channel_state *state);

/* Reads until the channel has no more, and compares. */
void tap_expect(struct tap *tap, uint32_t room, const char *text,
                enum ep_channel_state wanted);

/* Turns the loop once: handles the events that are ready now. */
void tap_turn(struct tap *tap);

#endif
