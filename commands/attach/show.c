/* The console of a client that shows a job, and the queue before it. */
#include "commands/attach/show.h"

#include <errno.h>
#include <event2/event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/attach/words.h"
#include "endpoints/output/output.h"
#include "endpoints/run/screen.h"
#include "endpoints/run/style.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/fatal.h"
#include "endpoints/sys/fds.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"

enum {
    HAND_BYTES = 4 << 20,
    LINE_SHIFT = 4 /* shifts the bit of a channel in `seen` to the bit that says
                      that its last line is not finished */
};

_Static_assert((int)TEXT_CHANNELS <= (int)LINE_SHIFT,
               "bits of channels overlap");

/* A piece of output, followed by its bytes. */
struct piece {
    struct piece *next;            /* in the queue */
    struct piece *before, *behind; /* among all pieces in hand */
    int takers;                    /* how many takers (console, files) have not
                                      acknowledged it yet */
    struct show_output output;
    uint8_t mem[];
};

static struct {
    struct piece *first, **last; /* owned; pieces that the console has not got
                                    yet */
    struct piece *hand;          /* owned: all pieces, also those that the
                                    console has not acknowledged */
    uint64_t hand_bytes;         /* bytes of all these pieces */
    bool is_lost, is_over;       /* is_lost: show_lost() was called; is_over: no
                                    more output is accepted */
    struct event *takes;         /* passes queued pieces to the console */
    struct ep_writer *writer;
    struct ep_output *output;
    const struct show_events *events;
    struct show_job job;
    bool is_raw;
    uint8_t *seen; /* [job.size]: bits of the channels that have ended, and of
                      those whose last line is not finished */
    uint64_t left; /* how many channels have not ended */
    uint64_t dropped_bytes;
    bool is_past_told;
    char why[512];
} show;

/* --- adding to the queue */

/* The memory that a piece counts for, more than its bytes. */
static uint64_t cost_of(const struct piece *piece)
{
    return sizeof(*piece) + piece->output.len_bytes;
}

static void queue(struct piece *piece)
{
    if (show.is_over) {
        free(piece);
        return;
    }
    if (show.first == NULL)
        event_active(show.takes, EV_TIMEOUT, 0);
    show.hand_bytes += cost_of(piece);
    piece->behind = show.hand;
    if (show.hand != NULL)
        show.hand->before = piece;
    show.hand = piece;
    *show.last = piece;
    show.last = &piece->next;
}

static void put(const struct show_output *output)
{
    struct piece *piece = malloc(sizeof(*piece) + output->len_bytes);

    if (piece == NULL) {
        fputs("xylem: out of memory\n", stderr);
        _exit(1);
    }
    *piece = (struct piece){.output = *output};
    if (output->len_bytes > 0)
        memcpy(piece->mem, output->mem, output->len_bytes);
    queue(piece);
}

/* Only queues the output, as the console accepts a limited amount at a time. */
void show_put(const struct show_output *output)
{
    struct show_output part = *output;
    size_t left = output->len_bytes;

    do {
        part.len_bytes =
            left < EP_CONSOLE_RECORD_MAX ? left : EP_CONSOLE_RECORD_MAX;
        left -= part.len_bytes;
        part.is_end = output->is_end && left == 0;
        put(&part);
        part.mem = (const uint8_t *)part.mem + part.len_bytes;
        part.dropped_bytes = part.before_bytes = 0;
    } while (left > 0);
}

void show_lost(void)
{
    show.is_lost = true;
    event_active(show.takes, EV_TIMEOUT, 0);
}

/* --- taking from the queue */

bool show_has_room(void)
{
    return show.hand_bytes < HAND_BYTES;
}

static void drop_piece(struct piece *piece)
{
    show.hand_bytes -= cost_of(piece);
    if (piece->before != NULL)
        piece->before->behind = piece->behind;
    else
        show.hand = piece->behind;
    if (piece->behind != NULL)
        piece->behind->before = piece->before;
    free(piece);
}

static void let_go(struct piece *piece)
{
    bool had_room = show_has_room();

    drop_piece(piece);
    if (!had_room && show_has_room())
        show.events->on_room();
}

static void tell_dropped(const struct show_output *output)
{
    if (show.dropped_bytes == 0)
        words_say("output of rank %u is missing here: it is read too slowly "
                  "for the job",
                  output->rank);
    show.dropped_bytes += output->dropped_bytes;
}

/* Reports missing earlier output. This is no error: the user who started the
 * job has chosen how much is kept. */
static void tell_before(const struct show_output *output)
{
    if (!show.is_past_told)
        words_say("the job has written more than it keeps for those who "
                  "attach later (--pmix-cache): of rank %u, %llu bytes are not "
                  "here",
                  output->rank, (unsigned long long)output->before_bytes);
    show.is_past_told = true;
}

/* Notes the end of the channel. True when it ends with this piece, and had not
 * ended before. */
static bool ends(const struct show_output *output)
{
    uint8_t bit = (uint8_t)(1u << output->channel);

    if (!output->is_end || (show.seen[output->rank] & bit) != 0)
        return false;
    show.seen[output->rank] |= bit;
    show.left--;
    return true;
}

static void note_line(const struct job_record *record)
{
    unsigned bit = 1u << (record->channel + LINE_SHIFT);
    uint32_t len = record->len_bytes;

    if (record->is_end || (len > 0 && record->mem[len - 1] == '\n'))
        show.seen[record->rank] &= (uint8_t)~bit;
    else if (len > 0)
        show.seen[record->rank] |= (uint8_t)bit;
}

static void to_console(const struct job_record *record)
{
    int places = ep_output_record(show.output, record);

    note_line(record);
    if (places < 0) {
        fputs("xylem: out of memory\n", stderr);
        _exit(1);
    }
    if (record->cookie != 0)
        ((struct piece *)(uintptr_t)record->cookie)->takers = places;
}

/* Ends the channel's unfinished line before a gap, so that output after the gap
 * does not continue it. */
static void end_line(const struct job_record *behind)
{
    static const uint8_t newline[] = "\n";
    unsigned bit = 1u << (behind->channel + LINE_SHIFT);
    struct job_record record = *behind;

    if (show.is_raw || (show.seen[behind->rank] & bit) == 0)
        return;
    record.mem = newline;
    record.len_bytes = 1;
    record.cookie = 0;
    record.is_end = false;
    to_console(&record);
}

static void to_output(struct piece *piece)
{
    const struct show_output *output = &piece->output;
    struct job_record record = {
        .proc = output->rank,
        .rank = output->rank,
        .mem = output->len_bytes > 0 ? piece->mem : NULL,
        .len_bytes = (uint32_t)output->len_bytes,
        .cookie = (uintptr_t)piece,
        .channel = output->channel,
        .time_ns = ep_clock_unix_ns(),
    };

    if (output->rank >= show.job.size) {
        let_go(piece);
        return;
    }
    record.host = show.job.hosts[output->rank];
    record.is_end = ends(output);
    if (output->dropped_bytes > 0 || output->before_bytes > 0)
        end_line(&record);
    if (output->dropped_bytes > 0)
        tell_dropped(output);
    if (output->before_bytes > 0)
        tell_before(output);
    to_console(&record);
}

/* Passes on everything that is queued. */
static void take_pieces(void)
{
    struct piece *piece = show.first, *next;

    show.first = NULL;
    show.last = &show.first;
    for (; piece != NULL; piece = next) {
        next = piece->next;
        to_output(piece);
    }
}

static void on_take(evutil_socket_t fd, short what, void *arg)
{
    bool is_lost = show.is_lost;

    (void)fd;
    (void)what;
    (void)arg;
    take_pieces();
    if (show.left == 0)
        show.events->on_complete();
    else if (is_lost)
        show.events->on_lost();
}

static void on_written(void *arg, enum ep_output_place place, uint32_t proc,
                       uint8_t channel, const void *mem, uint32_t len_bytes)
{
    (void)arg;
    (void)place;
    (void)proc;
    (void)channel;
    (void)mem;
    (void)len_bytes;
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct piece *piece = (struct piece *)(uintptr_t)cookie;

    (void)arg;
    if (piece != NULL && --piece->takers == 0)
        let_go(piece);
}

static void on_error(void *arg, uint8_t channel, int err, const char *why)
{
    (void)arg;
    show.events->on_error(channel == TEXT_CHANNEL_STDOUT && err == EPIPE, why);
}

static void on_drained(void *arg)
{
    (void)arg;
    show.events->on_drained();
}

static void on_note(void *arg, const char *text)
{
    (void)arg;
    words_say("%s", text);
}

static void on_pause(void *arg)
{
    (void)arg;
    words_retry();
}

static bool ask(void *arg, bool wants)
{
    (void)arg;
    if (show.output == NULL)
        return true;
    if (wants)
        return ep_output_pause(show.output);
    ep_output_resume(show.output);
    return true;
}

static const char *host_of(const void *arg, uint32_t rank)
{
    return ((const struct show_job *)arg)->hosts[rank];
}

static bool is_asked_for(const void *arg, uint32_t rank)
{
    const struct topo_ranges *ranks = ((const struct show_job *)arg)->ranks;

    return ranks == NULL || ranks->count == 0 ||
           topo_ranges_touches(ranks, (struct topo_range){rank, rank});
}

static const char *open_output(struct event_base *base,
                               const struct ep_run_options *options,
                               bool spares_files)
{
    static const struct ep_output_events events = {
        .on_written = on_written,
        .on_taken = on_taken,
        .on_error = on_error,
        .on_drained = on_drained,
        .on_note = on_note,
        .on_pause = on_pause,
    };
    struct ep_output_cfg cfg;
    bool is_files;
    int rc;

    ep_run_output_cfg(options, show.job.nspace, &cfg);
    ep_run_style_fit(&cfg.console.style, show.job.size, host_of, &show.job);
    if (options->by_rank)
        cfg.turns = show.job.size;
    if (options->fold != EP_FOLD_NONE)
        cfg.folds = show.job.size;
    cfg.has_turn = is_asked_for;
    cfg.turn_arg = &show.job;
    cfg.turn_channels = (uint8_t)show.job.channels;
    cfg.names.is_new = spares_files;
    cfg.console.base = base;
    cfg.console.writer = show.writer;
    cfg.console.merge_stderr = options->merge_stderr;
    cfg.console.is_prompting = isatty(STDOUT_FILENO);
    cfg.console.park_limit_bytes = HAND_BYTES / 2;
    /* The bar of a process that is alone is in its place as it comes. */
    if (show.job.size > 1 || !text_style_is_plain(&cfg.console.style))
        cfg.console.bar_channels = ep_run_screen();
    if (cfg.console.bar_channels != 0)
        ep_fatal_open();
    cfg.events = &events;
    ep_fds_widen(STDOUT_FILENO);
    rc = ep_output_open(&cfg, &show.output, &is_files);
    if (rc == OV_ESYS && is_files) {
        snprintf(show.why, sizeof(show.why),
                 "cannot make the directory of '%s': %s", cfg.names.text,
                 strerror(errno));
        return show.why;
    }
    return rc == 0 ? NULL : ov_strerror(rc);
}

const char *show_open(struct event_base *base,
                      const struct ep_run_options *options,
                      const struct show_job *job, bool spares_files,
                      const struct show_events *events)
{
    show.last = &show.first;
    show.events = events;
    show.job = *job;
    show.is_raw = options->raw;
    show.seen = calloc(job->size, sizeof(*show.seen));
    show.takes = evtimer_new(base, on_take, NULL);
    if (show.seen == NULL || show.takes == NULL ||
        ep_writer_open(base, &show.writer) != 0 || words_open(base, ask) != 0)
        return ov_strerror(OV_ENOMEM);
    return open_output(base, options, spares_files);
}

struct ep_writer *show_writer(void)
{
    return show.writer;
}

void show_expect(unsigned channels, uint32_t ranks)
{
    show.left = (uint64_t)__builtin_popcount(channels) *
                (ranks > 0 ? ranks : show.job.size);
}

void show_finish(void)
{
    show.is_over = true;
    take_pieces();
    ep_output_finish(show.output);
}

void show_give_up(void)
{
    show.is_over = true;
    ep_output_give_up(show.output);
}

void show_hold(bool is_held)
{
    if (show.output == NULL)
        return;
    if (is_held)
        ep_output_settle(show.output);
    else
        (void)ep_output_hold(show.output, false);
}

void show_close(void)
{
    show.is_over = true;
    ep_fatal_close();
    ep_output_close(show.output);
    show.output = NULL;
    while (show.hand != NULL)
        drop_piece(show.hand);
    words_close();
    ep_writer_close(show.writer, true);
    if (show.takes != NULL)
        event_free(show.takes);
    free(show.seen);
}

uint64_t show_dropped_bytes(void)
{
    return show.dropped_bytes;
}

uint64_t show_open_channels(void)
{
    return show.left;
}
