/* The console: the output of all processes on the launcher's stdout and
 * stderr.
 *
 * Records go out in the order in which they come. In line mode (the default)
 * lines are never torn or mixed: a source (a process and channel) whose line is
 * open, because its last record did not end in a newline, keeps the descriptor
 * until the line ends, the channel ends, or the source has paused for a second
 * while others wait (endpoints/console/port.h says exactly when). A newline is
 * added when another source's output follows an unfinished line. With labels or
 * times it is also added at the end of a channel; without them the output of
 * one process is byte-exact. Empty lines are labelled, NUL bytes pass, and
 * lines may have any length. JSON and XML: text/format.h. Each job may have a
 * style of its own.
 *
 * stdout and stderr are independent: a stuck one does not hold up the other.
 * When both are one file, everything goes to the descriptor of stdout, so that
 * neither tears a line of the other; but not when unfinished lines are shown at
 * once, as a prompt would then hold up the other channel. Output of stddiag
 * goes to stderr, as a source of its own. The console holds nothing back on its
 * own, so there is nothing to unbuffer.
 *
 * Where the caller says so, the progress bars of all sources, that is
 * unfinished lines with carriage returns, stand in rows beneath the output
 * (endpoints/console/bar_set.h, rows.h). Their bytes count as written when they
 * have changed a row. A bar whose line is over is an ordinary line of output.
 *
 * Memory: records in hand pin the caller's buffers; the caller's windows bound
 * them. While a line is held, whatever exceeds park_limit goes to a spool of at
 * most 2 MiB of memory and spool_limit_bytes of an unlinked file
 * (endpoints/sys/spool.h). When all of that is pieces of unfinished lines, up
 * to 5 MiB more are needed to tell them apart. Labelled output passes through
 * 0.5 MiB. All of this is per descriptor. Bars take EP_BARS_BYTES at most.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 * Callbacks come from the loop, never from within a call, and may call
 * everything except ep_console_close.
 */
#ifndef ENDPOINTS_CONSOLE_CONSOLE_H
#define ENDPOINTS_CONSOLE_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "job/record.h"
#include "text/style.h"

struct event_base;
struct ep_console;
struct ep_writer;

enum {
    EP_CONSOLE_RECORD_MAX = 128 * 1024, /* most bytes of one record */
    EP_CONSOLE_STATUS_BYTES = 512,      /* most bytes of a line of status */
};

struct ep_console_events {
    /* The descriptor has taken these bytes: one record, whole and unchanged, in
     * order for each source. Not called for output that is dropped, nor for
     * newlines that the console adds. This is the one callback that may come
     * from within a call; it must not call the console. */
    void (*on_written)(void *arg, uint32_t proc, uint8_t channel,
                       const void *mem, uint32_t len_bytes);
    /* The record is written or spooled, or was dropped after an error or by
     * ep_console_give_up. Called in order for each source. */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* Output cannot be written (EPIPE, ENOSPC, EIO ...), or was lost in the
     * spool. Called once for each descriptor (TEXT_CHANNEL_STDOUT for both when
     * they are merged). From then on the descriptor's records are dropped, and
     * on_taken is called for them. */
    void (*on_error)(void *arg, uint8_t channel, int err);
    /* All output is written or dropped, and all callbacks were made. */
    void (*on_drained)(void *arg);
    /* A message for the user, at most one for each descriptor. */
    void (*on_note)(void *arg, const char *text);
    /* stderr is now free for other writers, as ep_console_pause() asked. */
    void (*on_pause)(void *arg);
};

struct ep_console_cfg {
    struct event_base *base;  /* borrowed, like all pointers here */
    struct ep_writer *writer; /* outlives the console */
    int fd_stdout;            /* copied */
    int fd_stderr;
    bool merge_stderr; /* stderr records go to fd_stdout */
    /* bytes are written as they come, not by lines; needs plain styles */
    bool is_raw;
    /* Every unfinished line is shown at once; false: only those that are too
     * long. */
    bool is_prompting;
    struct text_style style;
    /* A bit (1 << channel) for stdout and stderr each, if it is the terminal on
     * which bars stand in rows (see above). 0: bars are unfinished lines like
     * others. */
    unsigned bar_channels;
    /* Most bytes and records in hand while a line of another source is open;
     * keep this below what one link may have in flight. */
    uint64_t park_limit_bytes;
    uint32_t park_limit_records;
    /* most bytes of the file; 0: there is no spool */
    uint64_t spool_limit_bytes;
    const char *spool_dir; /* folder; NULL: $TMPDIR or /var/tmp, if on a disk */
    /* How many bytes may come through the tree before a record that was sent at
     * the same time: roughly the frame size times the nodes. */
    uint64_t round_bytes;
    uint64_t (*now_ns)(void *arg); /* the clock; NULL: the monotonic one */
    const struct ep_console_events *events;
    void *arg;
};

/* Fills in the defaults: fd 1 and 2, line mode, no labels, 1 MiB and 4096
 * records parked, 1 GiB of spool, a round of 64 MiB. */
void ep_console_cfg_init(struct ep_console_cfg *cfg);

/* Opens a console. Returns 0, OV_EINVAL (raw with a style, or an invalid
 * style), OV_ENOMEM, or OV_ESYS with errno. A closed descriptor is no error
 * here; on_error gives EBADF at its first output. */
int ep_console_open(const struct ep_console_cfg *cfg, struct ep_console **out);

/* Drops what is not written and frees everything, without callbacks. Interrupts
 * a write that is stuck. NULL is fine. */
void ep_console_close(struct ep_console *con);

/* Takes one record. Its bytes are borrowed until on_taken, its host and style
 * until the console is closed. Its process (by number) and channel are its
 * source. Returns 0, OV_EINVAL (channel, length or style out of range), or
 * OV_ENOMEM; the record then still belongs to the caller. O(1), never
 * blocks. */
int ep_console_record(struct ep_console *con, const struct job_record *rec);

/* Says that no record follows: open lines are ended. */
void ep_console_finish(struct ep_console *con);

/* Returns the number of records that are not written yet, spooled ones
 * included, plus the errors not yet reported: at 0 no callback is
 * outstanding. */
uint64_t ep_console_pending(const struct ep_console *con);

/* True when output waits on a descriptor that takes none; *since_ns is then
 * when it last took some (on the console's clock). The answer is as exact as
 * the calls are frequent: call it once a second. */
bool ep_console_is_stuck(struct ep_console *con, uint64_t *since_ns);

/* Asks to stop between two lines of stderr, so that other code can write to it.
 * Returns true when the console has stopped until ep_console_resume(), or there
 * is no further output; false: on_pause follows. The console stops in the
 * middle of an open line when unfinished lines are shown at once
 * (is_prompting), when the line has not grown for a second (EP_PORT_PAUSE_NS),
 * or when it does not end within ten seconds. As exact as the calls are
 * frequent: call it once a second. */
bool ep_console_pause(struct ep_console *con);
void ep_console_resume(struct ep_console *con);

/* Shows a line of status on the terminal that is stderr, in place of the last
 * one, beneath all bars. Where there are none it is shown only when no output
 * for that terminal has come for a second, and no line of output is unfinished.
 * The console erases it before anything else is written there, by itself or in
 * a pause. Returns false when it is not shown, nor will be. With NULL the line
 * is erased; true: it was. */
bool ep_console_status(struct ep_console *con, const char *text);

/* Erases the line of status and the bars, and draws none as long as they are
 * held. Returns true when they are erased. */
bool ep_console_hold(struct ep_console *con, bool is_held);
/* Takes them for gone, without writing, unless they are being written: another
 * program has the terminal now. */
void ep_console_forget(struct ep_console *con);
/* Erases them for good, when the loop no longer runs, and waits for that for
 * half a second at most. */
void ep_console_settle(struct ep_console *con);

/* Drops all output that is not written, and all that comes from now on;
 * on_taken is called for each record. Interrupts a stuck write. */
void ep_console_give_up(struct ep_console *con);

/* Returns the number of bytes dropped after errors and by
 * ep_console_give_up(). */
uint64_t ep_console_dropped(const struct ep_console *con);

/* Reads the clock and acts on the time that has passed. The console calls this
 * itself; with cfg.now_ns the caller does. Harmless at any time. */
void ep_console_tick(struct ep_console *con);

#endif
