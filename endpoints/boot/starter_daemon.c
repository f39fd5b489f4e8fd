/* One daemon of a starter.
 *
 * Its process and its pipes end independently of each other: a shell may leave
 * a child that keeps a pipe open, and a daemon's last lines may still be in the
 * pipe when the spawner reports its end. So the daemon is over when its process
 * has ended and the pipes were drained; the end of a pipe alone means nothing.
 */
#include "config.h"

#include "endpoints/boot/starter_daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    ERR_LINE_MAX = 4 << 10,
    RUBBISH_KEPT = 1 << 10,
    /* most reads of a pipe that other processes still write to */
    DRAIN_CHUNKS = 64,
    TO_CHILD = 0,
    FROM_OUT = 1,
    FROM_ERR = 2
};

#define TO(state) (1u << EP_DAEMON_##state)

static const uint32_t daemon_next[EP_DAEMON_STATES] = {
    [EP_DAEMON_WAITING] = TO(STARTING) | TO(OVER),
    [EP_DAEMON_STARTING] = TO(READY) | TO(OVER),
    [EP_DAEMON_READY] = TO(OVER),
    [EP_DAEMON_OVER] = 0,
};

void ep_starter_wake(struct ep_starter *st)
{
    if (st->first != NULL)
        event_active(st->pump, EV_TIMEOUT, 0);
}

static void daemon_move(struct ep_daemon *d, enum ep_daemon_state next)
{
    OV_ASSERT(daemon_next[d->state] & (1u << next));
    if (next == EP_DAEMON_STARTING && !d->is_expected)
        d->st->starting++;
    if (d->state == EP_DAEMON_STARTING && !d->is_expected) {
        d->st->starting--;
        ep_starter_wake(d->st);
    }
    d->state = (uint8_t)next;
}

struct ep_starter_who ep_daemon_who(const struct ep_daemon *d)
{
    return (struct ep_starter_who){
        .launcher = (enum ep_launcher)d->launcher,
        .host = d->host,
        .xylemd = d->st->xylemd,
        .rsh = d->st->rsh,
        .rubbish = &d->rubbish,
        .last = &d->last,
    };
}

static void shut(struct ep_daemon *d, unsigned end)
{
    if (d->events[end] != NULL)
        event_free(d->events[end]);
    d->events[end] = NULL;
    if (d->fds[end] >= 0)
        close(d->fds[end]);
    d->fds[end] = -1;
}

void ep_daemon_shut_stdin(struct ep_daemon *d)
{
    /* The reading half of a connection stays open. */
    if (d->is_expected && d->fds[TO_CHILD] >= 0)
        shutdown(d->fds[TO_CHILD], SHUT_WR);
    shut(d, TO_CHILD);
    text_buf_fini(&d->input);
    d->input_at = 0;
}

static void shut_all(struct ep_daemon *d)
{
    ep_daemon_shut_stdin(d);
    shut(d, FROM_OUT);
    shut(d, FROM_ERR);
    if (d->timer != NULL)
        event_free(d->timer);
    d->timer = NULL;
    text_buf_fini(&d->out_line);
    text_buf_fini(&d->err_line);
    text_buf_fini(&d->rubbish);
    text_buf_fini(&d->last);
}

struct ep_daemon *ep_daemon_new(struct ep_starter *st, uint32_t index,
                                enum ep_launcher launcher, const char *host)
{
    struct ep_daemon *d = calloc(1, sizeof(*d));

    if (d == NULL)
        return NULL;
    d->st = st;
    d->index = index;
    d->launcher = (uint8_t)launcher;
    d->time_ms = st->timeout_ms;
    d->state = EP_DAEMON_WAITING;
    d->fds[0] = d->fds[1] = d->fds[2] = -1;
    if (host != NULL) {
        d->host = strdup(host);
        if (d->host == NULL) {
            free(d);
            return NULL;
        }
    }
    return d;
}

void ep_daemon_free(struct ep_daemon *d)
{
    if (d == NULL)
        return;
    shut_all(d);
    text_buf_fini(&d->words);
    free(d->host);
    free(d->hosts);
    ep_srun_fini(&d->srun);
    free(d->first_words);
    free(d);
}

void ep_daemon_forget(struct ep_daemon *d)
{
    daemon_move(d, EP_DAEMON_OVER);
    shut_all(d);
}

static void give_up(struct ep_daemon *d, bool has_spoken)
{
    struct ep_starter *st = d->st;
    uint64_t tried_ms =
        d->begin_ns == 0 ? 0 : (ep_clock_ns() - d->begin_ns) / 1000000;
    const char *words;

    if (d->words.bad)
        text_buf_clear(&d->words);
    if (d->words.len_bytes == 0)
        text_buf_puts(&d->words, "a daemon failed: out of memory");
    words = d->words.bad ? "out of memory" : d->words.at;
    daemon_move(d, EP_DAEMON_OVER);
    shut_all(d);
    if (!st->is_leaving && (has_spoken || st->events->on_unreached == NULL))
        st->events->on_error(st->arg, d->index, words);
    else if (!st->is_leaving)
        st->events->on_unreached(
            st->arg, d->index,
            tried_ms < d->time_ms ? d->time_ms - (uint32_t)tried_ms : 1, words,
            d->first_words);
    text_buf_fini(&d->words);
}

void ep_daemon_fail(struct ep_daemon *d)
{
    give_up(d, true);
}

void ep_daemon_unreached(struct ep_daemon *d)
{
    give_up(d, !ep_launcher_ops(d->launcher)->is_shell);
}

static void become_ready(struct ep_daemon *d)
{
    daemon_move(d, EP_DAEMON_READY);
    event_free(d->timer);
    d->timer = NULL;
    text_buf_fini(&d->rubbish);
}

static void on_ready(struct ep_daemon *d, const struct ep_boot_up *up)
{
    struct ep_boot_peer peer = up->peer;

    if (strcmp(up->version, ep_boot_version()) != 0) {
        struct ep_starter_who who = ep_daemon_who(d);

        ep_starter_words_version(&d->words, &who, up->version);
        ep_daemon_fail(d);
        return;
    }
    become_ready(d);
    d->st->events->on_ready(d->st->arg, d->index, &peer);
    ep_daemon_tell_held(d);
    text_buf_fini(&d->last);
}

void ep_daemon_arrive(struct ep_daemon *d)
{
    become_ready(d);
    ep_daemon_tell_held(d);
    text_buf_fini(&d->last);
}

static void take_stderr(struct ep_daemon *d);

/* Reports the error that the daemon itself has sent. This text is enough; its
 * stderr is passed on as it is. */
static void on_own_error(struct ep_daemon *d, const char *text)
{
    struct ep_starter_who who = ep_daemon_who(d);

    text_buf_clear(&d->words);
    ep_starter_words_own(&d->words, &who, text);
    if (d->state == EP_DAEMON_STARTING) {
        take_stderr(d); /* overwrites the chunk, which is not read after this */
        ep_daemon_tell_held(d);
        ep_daemon_fail(d);
    } else if (!d->words.bad && !d->st->is_leaving) {
        d->st->events->on_error(d->st->arg, d->index, d->words.at);
    }
}

/* Handles a line of stdout that is not part of the protocol. */
static void on_rubbish(struct ep_daemon *d, char *line, size_t len_bytes)
{
    size_t room = RUBBISH_KEPT - d->rubbish.len_bytes;

    if (len_bytes == 0)
        return;
    if (d->state != EP_DAEMON_STARTING) {
        ep_daemon_err_line(d, line, len_bytes);
        return;
    }
    text_buf_add(&d->rubbish, line, len_bytes < room ? len_bytes : room);
    if (len_bytes < room)
        text_buf_add(&d->rubbish, "\n", 1);
    if (d->rubbish.bad)
        text_buf_clear(&d->rubbish);
}

static void on_ill_formed(struct ep_daemon *d, const char *line)
{
    struct ep_starter_who who = ep_daemon_who(d);

    if (d->state != EP_DAEMON_STARTING) {
        ep_daemon_tell(d, line);
        return;
    }
    text_buf_clear(&d->words);
    ep_starter_words_babble(&d->words, &who, line);
    ep_daemon_fail(d);
}

/* Handles a line of stdout; line[len_bytes] may be overwritten. */
static void on_out_line(struct ep_daemon *d, char *line, size_t len_bytes)
{
    const struct ep_starter_events *to = d->st->events;
    struct ep_boot_up *up = &d->st->up;
    bool is_ready = d->state == EP_DAEMON_READY;
    int rc = ep_boot_up_decode(line, len_bytes, up);

    if (rc == OV_ENOENT) {
        on_rubbish(d, line, len_bytes);
        return;
    }
    if (rc != 0 || (up->kind == EP_BOOT_READY && is_ready)) {
        on_ill_formed(d, line);
        return;
    }
    switch (up->kind) {
    case EP_BOOT_READY:
        on_ready(d, up);
        break;
    case EP_BOOT_NOTE:
        to->on_note(d->st->arg, d->index, up->peer.node, up->text);
        break;
    case EP_BOOT_PEER:
        if (is_ready && to->on_peer != NULL)
            to->on_peer(d->st->arg, d->index, &up->peer);
        break;
    case EP_BOOT_START:
        if (is_ready && to->on_start != NULL)
            to->on_start(d->st->arg, d->index, up->peer.node, up->time_ms,
                         up->text);
        break;
    case EP_BOOT_ERROR:
        on_own_error(d, up->text);
        break;
    case EP_BOOT_UP_KINDS:
        break;
    }
}

typedef void (*line_fn)(struct ep_daemon *d, char *line, size_t len_bytes);

/* Cuts bytes into lines; a line longer than max_bytes is given in pieces. Stops
 * when the daemon is over after a line. */
static void split_lines(struct ep_daemon *d, struct text_buf *partial,
                        char *mem, size_t len_bytes, size_t max_bytes,
                        line_fn fn)
{
    while (len_bytes > 0 && d->state != EP_DAEMON_OVER) {
        size_t room = max_bytes - partial->len_bytes;
        size_t look = len_bytes < room ? len_bytes : room;
        char *newline = memchr(mem, '\n', look);
        size_t piece = newline == NULL ? look : (size_t)(newline - mem);
        struct text_buf line;

        text_buf_add(partial, mem, piece);
        piece += newline != NULL;
        mem += piece;
        len_bytes -= piece;
        if (partial->bad) {
            text_buf_clear(partial);
            continue;
        }
        if (newline == NULL && partial->len_bytes < max_bytes)
            continue;
        /* The callee may free d->out_line. */
        line = *partial;
        *partial = (struct text_buf){0};
        fn(d, line.at, line.len_bytes);
        text_buf_clear(&line);
        if (d->state != EP_DAEMON_OVER && partial->at == NULL)
            *partial = line;
        else
            text_buf_fini(&line);
    }
}

/* Gives a last line, which has no newline. */
static void flush(struct ep_daemon *d, struct text_buf *partial, line_fn fn)
{
    struct text_buf line = *partial;

    *partial = (struct text_buf){0};
    if (line.len_bytes > 0 && d->state != EP_DAEMON_OVER)
        fn(d, line.at, line.len_bytes);
    text_buf_fini(&line);
}

static void on_out_bytes(struct ep_daemon *d, char *mem, size_t len_bytes)
{
    struct ep_starter_who who = ep_daemon_who(d);

    split_lines(d, &d->out_line, mem, len_bytes, EP_BOOT_LINE_MAX, on_out_line);
    if (d->state != EP_DAEMON_STARTING)
        return;
    d->out_bytes += len_bytes;
    if (d->out_bytes > EP_STARTER_RUBBISH_MAX) {
        flush(d, &d->out_line, on_rubbish);
        text_buf_clear(&d->words);
        ep_starter_words_babble(&d->words, &who, NULL);
        ep_daemon_fail(d);
    }
}

/* Handles the end of the connection to a daemon that had connected. */
static void hang_up(struct ep_daemon *d)
{
    struct ep_starter *st = d->st;
    struct ep_starter_who who = ep_daemon_who(d);

    if (d->state == EP_DAEMON_STARTING) {
        text_buf_clear(&d->words);
        ep_starter_words_gone(&d->words, &who);
        ep_daemon_fail(d);
    } else if (d->state == EP_DAEMON_READY) {
        ep_daemon_forget(d);
        st->events->on_exit(st->arg, d->index, EP_STARTER_HUNG_UP);
    }
}

/* Reads once. Returns false when there is nothing to read now, or the pipe has
 * ended; it is then closed. */
static bool read_once(struct ep_daemon *d, unsigned end)
{
    struct ep_starter *st = d->st;
    ssize_t got;

    if (d->fds[end] < 0)
        return false;
    got = read(d->fds[end], st->chunk, sizeof(st->chunk));
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    if (got <= 0) {
        shut(d, end);
        if (d->is_expected)
            hang_up(d);
        return false;
    }
    if (end == FROM_OUT)
        on_out_bytes(d, st->chunk, (size_t)got);
    else
        split_lines(d, &d->err_line, st->chunk, (size_t)got, ERR_LINE_MAX,
                    ep_daemon_err_line);
    return d->fds[end] >= 0;
}

/* Reads all bytes that are in a pipe now. */
static void drain(struct ep_daemon *d, unsigned end)
{
    for (unsigned i = 0; i < DRAIN_CHUNKS && read_once(d, end); i++)
        ;
}

static void take_stderr(struct ep_daemon *d)
{
    drain(d, FROM_ERR);
    flush(d, &d->err_line, ep_daemon_err_line);
}

static void take_stdout(struct ep_daemon *d)
{
    drain(d, FROM_OUT);
    flush(d, &d->out_line, on_out_line);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ep_daemon *d = arg;
    struct ep_starter *st = d->st;

    (void)what;
    st->is_calling = true;
    read_once(d, fd == d->fds[FROM_OUT] ? FROM_OUT : FROM_ERR);
    st->is_calling = false;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ep_daemon *d = arg;
    ssize_t put =
        write(fd, d->input.at + d->input_at, d->input.len_bytes - d->input_at);

    (void)what;
    if (put < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (put < 0) {
        ep_daemon_shut_stdin(d); /* on_exit will report the end of the daemon */
        return;
    }
    d->input_at += (size_t)put;
    if (d->input_at == d->input.len_bytes) {
        text_buf_fini(&d->input);
        d->input_at = 0;
        event_del(d->events[TO_CHILD]);
    }
}

/* Returns how long one try may take: the starter that is asked next must have
 * as much time. */
static uint32_t limit_ms(const struct ep_daemon *d)
{
    bool has_next =
        ep_launcher_ops(d->launcher)->is_shell && d->st->is_not_last;

    return has_next ? d->time_ms / 2 : d->time_ms;
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct ep_daemon *d = arg;
    struct ep_starter *st = d->st;
    struct ep_starter_who who = ep_daemon_who(d);

    (void)fd;
    (void)what;
    st->is_calling = true;
    /* The loop itself may be late: perhaps the READY line is in the pipe. */
    take_stdout(d);
    if (d->state == EP_DAEMON_STARTING) {
        take_stderr(d);
        text_buf_clear(&d->words);
        ep_starter_words_late(&d->words, &who, limit_ms(d), d->time_ms);
        /* Nobody waits for the process; the spawner kills it at the end. */
        if (!d->is_expected)
            ep_spawner_signal(st->spawner, st->proc_first + d->index, SIGTERM);
        ep_daemon_unreached(d);
    }
    st->is_calling = false;
}

static int time_begin(struct ep_daemon *d)
{
    uint32_t ms = limit_ms(d);
    struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

    d->begin_ns = ep_clock_ns();
    /* The entry for all daemons needs no timer: each daemon has its own. */
    return d->hosts == NULL && event_add(d->timer, &limit) != 0 ? OV_ENOMEM : 0;
}

int ep_daemon_expect(struct ep_daemon *d)
{
    daemon_move(d, EP_DAEMON_STARTING);
    d->timer = event_new(d->st->base, -1, 0, on_late, d);
    return d->timer == NULL ? OV_ENOMEM : time_begin(d);
}

void ep_daemon_rewind(struct ep_daemon *d)
{
    if (d->state == EP_DAEMON_STARTING)
        (void)time_begin(d);
}

int ep_daemon_open(struct ep_daemon *d, const int fds[3])
{
    struct event_base *base = d->st->base;

    memcpy(d->fds, fds, sizeof(d->fds));
    for (unsigned end = 0; end < 3; end++) {
        short what = EV_PERSIST | (end == TO_CHILD ? EV_WRITE : EV_READ);

        if (fds[end] < 0)
            continue;
        d->events[end] =
            event_new(base, fds[end], what,
                      end == TO_CHILD ? on_writable : on_readable, d);
        if (d->events[end] == NULL ||
            (end != TO_CHILD && event_add(d->events[end], NULL) != 0))
            return OV_ENOMEM;
    }
    ep_daemon_feed(d);
    return 0;
}

int ep_daemon_begin(struct ep_daemon *d, const int fds[3])
{
    int rc = ep_daemon_expect(d);
    int opened = ep_daemon_open(d, fds);

    return rc != 0 ? rc : opened;
}

void ep_daemon_feed(struct ep_daemon *d)
{
    if (d->events[TO_CHILD] != NULL && d->input.len_bytes > d->input_at)
        event_add(d->events[TO_CHILD], NULL);
}

void ep_daemon_end(struct ep_daemon *d, int status)
{
    struct ep_starter *st = d->st;
    struct ep_starter_who who = ep_daemon_who(d);

    if (d->state == EP_DAEMON_OVER)
        return; /* The error was reported already. */
    take_stdout(d);
    take_stderr(d);
    if (d->state == EP_DAEMON_STARTING) {
        text_buf_clear(&d->words);
        ep_starter_words_exit(&d->words, &who, status);
        ep_daemon_unreached(d);
    } else if (d->state == EP_DAEMON_READY) {
        ep_daemon_forget(d);
        st->events->on_exit(st->arg, d->index, status);
    }
}
