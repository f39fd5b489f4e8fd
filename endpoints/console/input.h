/* Reads the launcher's stdin, or a file that is used instead, in a thread.
 *
 * stdin is inherited and never made non-blocking (endpoints/sys/writer.h says
 * why), so a thread waits for it. There is one request at a time, so the reader
 * never takes more bytes than the caller asked for; the rest stays for the next
 * program that reads the descriptor.
 *
 * A launcher in the background of a terminal does not read from the terminal,
 * and is not stopped by SIGTTIN: the request waits until the launcher is in the
 * foreground. Some shells send no SIGCONT when they bring a running job there,
 * so the thread checks again every half second.
 */
#ifndef ENDPOINTS_CONSOLE_INPUT_H
#define ENDPOINTS_CONSOLE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct ep_input;

/* Exactly one of these is called for each request. They may make the next
 * request or close the input. */
struct ep_input_events {
    /* There are 1 to `room` bytes in dst. */
    void (*on_data)(void *arg, uint32_t len_bytes);
    /* The input has ended. A closed or missing stdin has ended from the
     * start. */
    void (*on_end)(void *arg);
    /* The input cannot be read (EIO, EISDIR ...) or the thread cannot be made
     * (EAGAIN). No request is possible after that. */
    void (*on_error)(void *arg, int err);
};

/* Makes an input from a copy of `fd`; -1 and closed descriptors count as empty.
 * The thread starts with the first request. `events` is borrowed. Returns 0,
 * OV_ENOMEM, or OV_ESYS with errno.
 */
int ep_input_open(struct event_base *base, int fd,
                  const struct ep_input_events *events, void *arg,
                  struct ep_input **out);

/* Ends the input, also while its thread waits. No callback follows, and dst
 * belongs to the caller again. NULL is fine. */
void ep_input_close(struct ep_input *in);

/* Asks for 1 to room_bytes bytes: waits for the first byte, then takes more as
 * long as more can be read at once. dst is borrowed until the answer, which
 * never comes from within the call. Returns 0, or OV_EINVAL: no room, a request
 * is open, or on_end or on_error was called. */
int ep_input_want(struct ep_input *in, uint8_t *dst, uint32_t room_bytes);

/* Checks again whether the launcher is in the foreground; call it after
 * SIGCONT. Not for signal handlers; harmless at any time. */
void ep_input_wake(struct ep_input *in);

/* Gives back the input that no process took: when the input is a regular file,
 * its offset is set to just after the first taken_bytes that were read, for the
 * next program that reads the descriptor. Ends the reading; only ep_input_close
 * may follow. Must not be called from a callback. Returns false when the offset
 * was not set: the input is not a regular file, or another program has moved
 * the offset meanwhile. */
bool ep_input_give_back(struct ep_input *in, uint64_t taken_bytes);

#endif
