/* stdin of `xylem attach`. */
#include "commands/attach/feed.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/attach/words.h"
#include "endpoints/console/input.h"
#include "endpoints/sys/waker.h"
#include "overlay/base/err.h"

enum { PIECE_BYTES = 32 * 1024 };

static struct {
    const struct topo_ranges *ranks;
    feed_push_fn push;
    feed_error_fn on_error;
    struct ep_input *input;
    struct event *wakes;
    int wake; /* eventfd: the launcher has answered */
    char why[128];
    bool is_at_end, is_own, is_over;
    uint8_t mem[PIECE_BYTES];
} feed = {.wake = -1};

void feed_pushed(const char *why, bool is_over)
{
    snprintf(feed.why, sizeof(feed.why), "%s", why != NULL ? why : "");
    feed.is_over = is_over;
    ep_waker_wake(feed.wake);
}

static void end_input(void)
{
    ep_input_close(feed.input);
    feed.input = NULL;
}

static void refuse(const char *why)
{
    if (!feed.is_own || !feed.is_over)
        words_say("the job takes no input from here: %s",
                  feed.is_over ? "its processes have ended, or their stdin has "
                                 "(`xylem run --keep-stdin' keeps that open)"
                               : why);
    end_input();
}

static void push(uint32_t len_bytes)
{
    const char *why = feed.push(feed.ranks, feed.mem, len_bytes);

    if (why != NULL)
        refuse(why);
}

static void on_data(void *arg, uint32_t len_bytes)
{
    (void)arg;
    push(len_bytes);
}

static void on_end(void *arg)
{
    (void)arg;
    feed.is_at_end = true;
    push(0);
}

static void on_error(void *arg, int err)
{
    (void)arg;
    end_input();
    feed.on_error(err);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    (void)arg;
    ep_waker_hear(fd);
    if (feed.input == NULL)
        return;
    if (feed.is_at_end)
        end_input();
    else if (feed.why[0] != '\0')
        refuse(feed.why);
    else
        ep_input_want(feed.input, feed.mem, sizeof(feed.mem));
}

void feed_wake(void)
{
    if (feed.input != NULL)
        ep_input_wake(feed.input);
}

int feed_open(struct event_base *base, const struct topo_ranges *ranks,
              feed_push_fn send, bool is_own, feed_error_fn on_unread)
{
    static const struct ep_input_events events = {
        .on_data = on_data, .on_end = on_end, .on_error = on_error};

    feed.ranks = ranks;
    feed.push = send;
    feed.on_error = on_unread;
    feed.is_own = is_own;
    feed.wake = ep_waker_open();
    if (feed.wake < 0)
        return OV_ESYS;
    feed.wakes = ep_waker_event(base, feed.wake, on_wake, NULL);
    if (feed.wakes == NULL)
        return OV_ENOMEM;
    if (ep_input_open(base, STDIN_FILENO, &events, NULL, &feed.input) != 0)
        return OV_ENOMEM;
    return ep_input_want(feed.input, feed.mem, sizeof(feed.mem));
}

void feed_close(void)
{
    end_input();
    if (feed.wakes != NULL)
        event_free(feed.wakes);
    feed.wakes = NULL;
}
