/* Judges the lines of each channel of each rank. */
#include "commands/attach/sift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/attach/words.h"
#include "endpoints/daemon/held.h"
#include "endpoints/daemon/rules.h"
#include "endpoints/run/left_out.h"
#include "endpoints/sys/clock.h"
#include "text/filter.h"
#include "text/style.h"

/* One channel of one rank. */
struct channel {
    struct text_filter filter;
    struct ep_held held;
    /* owned, and memory of the pool: the line that has not come whole */
    uint8_t *open;
    uint32_t open_bytes, open_room;
};

static struct {
    const struct job_filter *filter;
    const struct show_job *job;
    struct text_filter_rules rules; /* owned */
    bool has_rules, is_limit_told;
    struct ep_held_pool pool;
    /* owned [job.size * TEXT_CHANNELS]; NULL: no output came */
    struct channel **channels;
    /* owned: what is given of the output in hand */
    uint8_t *given;
    size_t given_bytes, given_room;
} sift;

static void *need(void *mem)
{
    if (mem == NULL) {
        fputs("xylem: out of memory\n", stderr);
        _exit(1);
    }
    return mem;
}

int sift_open(const struct job_filter *filter, const struct show_job *job)
{
    sift.filter = filter;
    sift.job = job;
    sift.has_rules = job_filter_has_rules(filter);
    if (!sift.has_rules)
        return 0;
    sift.channels =
        need(calloc((size_t)job->size * TEXT_CHANNELS, sizeof(*sift.channels)));
    return ep_rules_open(filter, &sift.rules);
}

/* --- lines */

static void give(const uint8_t *mem, size_t len_bytes)
{
    const size_t all = sift.given_bytes + len_bytes;

    if (all > sift.given_room) {
        sift.given_room = 2 * all;
        sift.given = need(realloc(sift.given, sift.given_room));
    }
    memcpy(sift.given + sift.given_bytes, mem, len_bytes);
    sift.given_bytes = all;
}

/* Judges the piece at the beginning of `mem`. Returns its length. */
static uint32_t judge(struct channel *channel, const uint8_t *mem,
                      uint32_t len_bytes)
{
    const struct text_piece piece = text_filter_next(
        &channel->filter, &sift.rules, mem, len_bytes, ep_clock_ns());

    if (piece.verdict == TEXT_GIVEN)
        give(mem, piece.len_bytes);
    if (piece.verdict == TEXT_HELD)
        ep_held_add(&channel->held, &sift.pool, &sift.rules, &channel->filter,
                    mem, piece.len_bytes, piece.is_first);
    return piece.len_bytes;
}

static void judge_open(struct channel *channel)
{
    if (channel->open_bytes > 0)
        (void)judge(channel, channel->open, channel->open_bytes);
    ep_held_pool_give(&sift.pool, channel->open_room);
    free(channel->open);
    channel->open = NULL;
    channel->open_bytes = channel->open_room = 0;
}

/* Makes room for that much of an unfinished line. */
static bool has_room(struct channel *channel, uint32_t len_bytes)
{
    uint32_t room = channel->open_room > 0 ? channel->open_room : 256;

    while (room < channel->open_bytes + len_bytes)
        room *= 2;
    if (room == channel->open_room)
        return true;
    if (!ep_held_pool_take(&sift.pool, room - channel->open_room))
        return false;
    channel->open = need(realloc(channel->open, room));
    channel->open_room = room;
    return true;
}

/* Adds the beginning of `mem` to the unfinished line. Returns how many bytes
 * that was; 0 when they are to be judged where they are. */
static uint32_t collect(struct channel *channel, const uint8_t *mem,
                        uint32_t len_bytes)
{
    const uint8_t *newline = memchr(mem, '\n', len_bytes);
    uint32_t some = newline != NULL ? (uint32_t)(newline - mem) + 1 : len_bytes;
    const uint32_t left = TEXT_FILTER_LINE_MAX + 1 - channel->open_bytes;
    bool is_whole = newline != NULL;

    if (channel->filter.is_open ||
        (channel->open_bytes == 0 && (is_whole || some >= left)))
        return 0;
    if (some >= left) {
        some = left;
        is_whole = true;
    }
    if (!has_room(channel, some)) {
        judge_open(channel);
        return 0;
    }
    memcpy(channel->open + channel->open_bytes, mem, some);
    channel->open_bytes += some;
    if (is_whole)
        judge_open(channel);
    return some;
}

static void feed(struct channel *channel, const uint8_t *mem,
                 uint32_t len_bytes)
{
    while (len_bytes > 0) {
        uint32_t some = collect(channel, mem, len_bytes);

        if (some == 0)
            some = judge(channel, mem, len_bytes);
        mem += some;
        len_bytes -= some;
    }
}

/* Gives all that waits: no more of the channel comes. */
static void end(struct channel *channel)
{
    uint8_t mem[4096];
    uint32_t some;

    judge_open(channel);
    while ((some = ep_held_take(&channel->held, mem, sizeof(mem))) > 0)
        give(mem, some);
    ep_held_fini(&channel->held, &sift.pool);
}

/* --- output */

static void tell_limit(const struct channel *channel, uint32_t rank)
{
    if (channel->filter.limited_lines == 0 || sift.is_limit_told)
        return;
    sift.is_limit_told = true;
    words_say("rank %u on %s: a line stays although it may not match, as a "
              "pattern of --grep or --grep-v takes too long on it; so do "
              "others like it",
              rank, sift.job->hosts[rank]);
}

static struct channel *find_channel(const struct show_output *output)
{
    struct channel **at =
        &sift.channels[(size_t)output->rank * TEXT_CHANNELS + output->channel];

    if (*at == NULL)
        *at = need(calloc(1, sizeof(**at)));
    return *at;
}

void sift_put(const struct show_output *output)
{
    struct show_output part = *output;
    struct channel *channel;

    if (!sift.has_rules || output->rank >= sift.job->size ||
        output->channel >= TEXT_CHANNELS) {
        show_put(output);
        return;
    }
    channel = find_channel(output);
    text_filter_begin(&sift.rules);
    sift.given_bytes = 0;
    if (output->dropped_bytes > 0 || output->before_bytes > 0) {
        judge_open(channel); /* what comes now does not continue its line */
        channel->filter.is_open = false;
    }
    feed(channel, output->mem, (uint32_t)output->len_bytes);
    if (output->is_end)
        end(channel);
    tell_limit(channel, output->rank);
    part.mem = sift.given;
    part.len_bytes = sift.given_bytes;
    if (part.len_bytes > 0 || part.is_end || part.dropped_bytes > 0 ||
        part.before_bytes > 0)
        show_put(&part);
}

void sift_finish(void)
{
    for (uint32_t i = 0;
         sift.channels != NULL && i < sift.job->size * TEXT_CHANNELS; i++) {
        struct show_output output = {.rank = i / TEXT_CHANNELS,
                                     .channel = (uint8_t)(i % TEXT_CHANNELS)};

        if (sift.channels[i] == NULL)
            continue;
        sift.given_bytes = 0;
        end(sift.channels[i]);
        output.mem = sift.given;
        output.len_bytes = sift.given_bytes;
        if (output.len_bytes > 0)
            show_put(&output);
    }
}

void sift_close(void)
{
    for (uint32_t i = 0;
         sift.channels != NULL && i < sift.job->size * TEXT_CHANNELS; i++) {
        if (sift.channels[i] == NULL)
            continue;
        ep_held_fini(&sift.channels[i]->held, &sift.pool);
        free(sift.channels[i]->open);
        free(sift.channels[i]);
    }
    free(sift.channels);
    sift.channels = NULL;
    free(sift.given);
    sift.given = NULL;
    ep_rules_close(&sift.rules);
}

/* --- counts */

static struct ep_left_sum sum_up(void)
{
    struct ep_left_sum sum = {.is_least = false};

    for (uint32_t i = 0;
         sift.channels != NULL && i < sift.job->size * TEXT_CHANNELS; i++) {
        if (sift.channels[i] != NULL)
            ep_left_add(&sum, sift.channels[i]->filter.left);
    }
    return sum;
}

bool sift_has_left(void)
{
    const struct ep_left_sum sum = sum_up();
    char text[EP_LEFT_TEXT_MAX];

    ep_left_text(&sum, sift.filter, text);
    return text[0] != '\0';
}

void sift_tell(void)
{
    const struct ep_left_sum sum = sum_up();
    char text[EP_LEFT_TEXT_MAX];

    if (!sift.has_rules)
        return;
    ep_left_text(&sum, sift.filter, text);
    if (text[0] != '\0')
        words_say("left out: %s", text);
}
