/* The launcher's stdin, or a file in its place, read by a thread.
 *
 * stdin is inherited and never made non-blocking (endpoints/sys/writer.h says
 * why), so a thread waits for it. There is one request at a time, so the reader
 * never has more than the caller asked for, and what was not asked for stays
 * where it is, for the next program that reads the descriptor.
 *
 * A launcher in the background of a terminal does not read it, and is not
 * stopped by SIGTTIN: the request waits until the launcher is in the
 * foreground. Some shells send no SIGCONT when they bring a running job there,
 * so the thread looks again every half second of such a wait.
 */
#ifndef ENDPOINTS_CONSOLE_INPUT_H
#define ENDPOINTS_CONSOLE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct ep_input;

/* Exactly one of these answers each request. They may make the next request or
 * close the input. */
struct ep_input_events {
    /* 1 to `room` bytes are in dst. */
    void (*on_data)(void *arg, uint32_t len_bytes);
    /* The end: nothing follows. A closed or missing stdin is at its end from
     * the start. */
    void (*on_end)(void *arg);
    /* The input cannot be read (EIO, EISDIR ...); EAGAIN: there is no thread.
     * Final. */
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

/* Asks for 1 to room_bytes bytes, as many as there are: waits for the first,
 * then takes more while more is there at once. dst is borrowed until the
 * answer, which never comes from within the call.
 * Returns 0, or OV_EINVAL: no room, a request is open, or the end was told.
 */
int ep_input_want(struct ep_input *in, uint8_t *dst, uint32_t room_bytes);

/* The launcher may have come to the foreground (SIGCONT): look again. Not for
 * signal handlers; harmless at any time. */
void ep_input_wake(struct ep_input *in);

/* Gives back what no process took: when the input is a regular file, its offset
 * is set after the first taken_bytes of what was delivered, for the next
 * program that reads the descriptor. Ends the reading; only ep_input_close may
 * follow. Not from a callback. Returns false when nothing was set, because it
 * is not a regular file or because another program has moved the offset
 * meanwhile, to which it is then left. */
bool ep_input_give_back(struct ep_input *in, uint64_t taken_bytes);

#endif
