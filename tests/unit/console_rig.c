/* The console under test, with its records, its clock and its output. */
#include "config.h"

#include "tests/unit/console_rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void rig_on_written(void *arg, uint32_t rank, uint8_t channel,
                           const void *mem, uint32_t len_bytes)
{
    struct console_rig *rig = arg;

    assert_true(len_bytes > 0);
    job_tally_add(&rig->written[rank * 3 + channel - 1], mem, len_bytes);
    rig->written_bytes += len_bytes;
}

static void rig_on_taken(void *arg, uint64_t cookie)
{
    struct console_rig *rig = arg;
    struct rig_record *rec = (struct rig_record *)(uintptr_t)cookie;

    /* The records of each source are taken in order, each once. */
    assert_int_equal(rec->seq, rig->taken_seq[rec->source] + 1);
    rig->taken_seq[rec->source] = rec->seq;
    rig->taken++;
    rig->taken_bytes += rec->len_bytes;
    free(rec->mem);
    free(rec);
}

static void rig_on_error(void *arg, uint8_t channel, int err)
{
    struct console_rig *rig = arg;

    rig->errors++;
    rig->err = err;
    rig->err_channel = channel;
}

static void rig_on_drained(void *arg)
{
    struct console_rig *rig = arg;

    rig->drained++;
}

static void rig_on_note(void *arg, const char *text)
{
    struct console_rig *rig = arg;

    rig->notes++;
    snprintf(rig->note, sizeof(rig->note), "%s", text);
}

static void rig_on_pause(void *arg)
{
    struct console_rig *rig = arg;

    rig->pauses++;
}

static uint64_t rig_clock(void *arg)
{
    struct console_rig *rig = arg;

    rig->looks++;
    return rig->now_ns;
}

static const struct ep_console_events rig_events = {
    .on_written = rig_on_written,
    .on_taken = rig_on_taken,
    .on_error = rig_on_error,
    .on_drained = rig_on_drained,
    .on_note = rig_on_note,
    .on_pause = rig_on_pause,
};

void rig_prepare(struct console_rig *rig)
{
    signal(SIGPIPE, SIG_IGN);
    memset(rig, 0, sizeof(*rig));
    rig->now_ns = UINT64_C(1000) * 1000000000;
    rig->out_fd = -1;
    rig->err_fd = -1;
    ep_console_cfg_init(&rig->cfg);
    rig->cfg.style.nspace = "job";
    rig->cfg.now_ns = rig_clock;
    rig->cfg.events = &rig_events;
    rig->cfg.arg = rig;
    rig->cfg.fd_stdout = -1;
    rig->cfg.spool_dir = getenv("TMPDIR");
}

int rig_pipe(int *read_fd)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    *read_fd = fds[0];
    return fds[1];
}

void rig_open(struct console_rig *rig)
{
    if (rig->cfg.fd_stdout < 0)
        rig->cfg.fd_stdout = rig_pipe(&rig->out_fd);
    rig->cfg.fd_stderr =
        rig->is_one_file ? dup(rig->cfg.fd_stdout) : rig_pipe(&rig->err_fd);
    rig->base = event_base_new();
    assert_non_null(rig->base);
    assert_int_equal(ep_writer_open(rig->base, &rig->writer), 0);
    rig->cfg.base = rig->base;
    rig->cfg.writer = rig->writer;
    assert_int_equal(ep_console_open(&rig->cfg, &rig->con), 0);
    close(rig->cfg.fd_stdout);
    close(rig->cfg.fd_stderr);
}

/* Checks that dropped bytes are the last bytes of their sources. */
static void check_written(const struct console_rig *rig)
{
    const uint64_t dropped = ep_console_dropped(rig->con);

    assert_int_equal(ep_console_pending(rig->con), 0);
    assert_int_equal(rig->written_bytes + dropped, rig->sent_bytes);
    for (unsigned i = 0; i < RIG_SOURCES_MAX && dropped == 0; i++)
        assert_true(job_tally_is_equal(&rig->said[i], &rig->written[i]));
}

void rig_close(struct console_rig *rig)
{
    assert_int_equal(rig->taken, rig->sent);
    if (rig->con != NULL)
        check_written(rig);
    ep_console_close(rig->con);
    ep_writer_close(rig->writer, true);
    event_base_free(rig->base);
    if (rig->out_fd >= 0)
        close(rig->out_fd);
    if (rig->err_fd >= 0)
        close(rig->err_fd);
}

void rig_send(struct console_rig *rig, uint32_t rank, uint8_t channel,
              const void *mem, size_t len, bool is_eof)
{
    struct rig_record *in = calloc(1, sizeof(*in));
    struct job_record rec = {.proc = rank,
                             .rank = rank,
                             .host = rank % 2 ? "odd" : "even",
                             .channel = channel,
                             .style = rig->style,
                             .is_end = is_eof,
                             .len_bytes = (uint32_t)len};

    in->rig = rig;
    in->source = rank * 3 + channel - 1;
    assert_true(in->source < RIG_SOURCES_MAX);
    in->seq = ++rig->sent_seq[in->source];
    in->len_bytes = (uint32_t)len;
    in->mem = malloc(len + 1);
    if (len > 0)
        rec.mem = memcpy(in->mem, mem, len);
    rec.cookie = (uintptr_t)in;
    rig->sent++;
    rig->sent_bytes += len;
    job_tally_add(&rig->said[in->source], mem, len);
    assert_int_equal(ep_console_record(rig->con, &rec), 0);
}

void rig_say(struct console_rig *rig, uint32_t rank, const char *text)
{
    rig_send(rig, rank, TEXT_CHANNEL_STDOUT, text, strlen(text), false);
}

void rig_eof(struct console_rig *rig, uint32_t rank, const char *text)
{
    rig_send(rig, rank, TEXT_CHANNEL_STDOUT, text, strlen(text), true);
}

void rig_taken(struct console_rig *rig, unsigned want)
{
    rig_run_until(rig->base, &rig->taken, want);
}

/* Waits until the threads have finished their current work, so that their speed
 * does not matter to the test. The thread of an output that is not read never
 * finishes. */
static void rig_settle(struct console_rig *rig)
{
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);

    while (!rig->is_stuck && !ep_writer_is_idle(rig->writer)) {
        event_base_loop(rig->base, EVLOOP_ONCE);
        if (rig_now_ns() > limit_ns)
            fail_msg("the writer is busy after %d s", RIG_LIMIT_S);
    }
}

void rig_pass(struct console_rig *rig, unsigned ms)
{
    rig_settle(rig);
    while (ms > 0) {
        unsigned step = ms < 200 ? ms : 200;

        rig->now_ns += step * RIG_MS;
        ms -= step;
        ep_console_tick(rig->con);
        event_base_loop(rig->base, EVLOOP_NONBLOCK);
    }
}

void rig_finish(struct console_rig *rig)
{
    const unsigned before = rig->drained;

    ep_console_finish(rig->con);
    rig_run_until(rig->base, &rig->drained, before + 1);
    check_written(rig);
    ep_console_close(rig->con);
    rig->con = NULL;
}

char *rig_rest(int fd, size_t *len_bytes)
{
    size_t len = 0;
    char *text = malloc(1 << 17);
    ssize_t got;

    while ((got = read(fd, text + len, (1 << 17) - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    if (len_bytes != NULL)
        *len_bytes = len;
    return text;
}

static void expect_from(int fd, const char *want)
{
    char *text = rig_rest(fd, NULL);

    assert_string_equal(text, want);
    free(text);
}

void rig_expect(struct console_rig *rig, const char *want)
{
    rig_finish(rig);
    expect_from(rig->out_fd, want);
    rig_close(rig);
}

void rig_expect_both(struct console_rig *rig, const char *want,
                     const char *want_err)
{
    rig_finish(rig);
    expect_from(rig->out_fd, want);
    expect_from(rig->err_fd, want_err);
    rig_close(rig);
}
