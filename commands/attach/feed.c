/* Reads stdin for a job. */
#include "commands/attach/feed.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "commands/attach/words.h"
#include "endpoints/console/input.h"
#include "overlay/base/err.h"

enum { PIECE_BYTES = 32 * 1024 };

static struct {
    const struct topo_ranges *ranks;
    feed_push_fn push;
    feed_error_fn on_error;
    struct ep_input *input;
    bool is_at_end, is_own;
    uint8_t mem[PIECE_BYTES];
} feed;

static void end_input(void)
{
    ep_input_close(feed.input);
    feed.input = NULL;
}

static void on_data(void *arg, uint32_t len_bytes)
{
    (void)arg;
    feed.push(feed.ranks, feed.mem, len_bytes);
}

static void on_end(void *arg)
{
    (void)arg;
    feed.is_at_end = true;
    feed.push(feed.ranks, feed.mem, 0);
}

static void on_error(void *arg, int err)
{
    (void)arg;
    end_input();
    feed.on_error(err);
}

void feed_pushed(bool is_over)
{
    if (feed.input == NULL)
        return;
    if (!feed.is_at_end && !is_over) {
        ep_input_want(feed.input, feed.mem, sizeof(feed.mem));
        return;
    }
    if (!feed.is_at_end && !feed.is_own)
        words_say(
            "the job takes no more input: its processes have ended or their "
            "stdin is closed (`xylem run --keep-stdin' keeps it open)");
    end_input();
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
    if (ep_input_open(base, STDIN_FILENO, &events, NULL, &feed.input) != 0)
        return OV_ENOMEM;
    return ep_input_want(feed.input, feed.mem, sizeof(feed.mem));
}

void feed_close(void)
{
    end_input();
}
