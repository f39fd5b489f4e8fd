/* One daemon of a starter: its pipes, its lines, and its states from waiting to
 * over. Only the starter's own files include this. */
#ifndef ENDPOINTS_BOOT_STARTER_DAEMON_H
#define ENDPOINTS_BOOT_STARTER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/boot/boot.h"
#include "endpoints/boot/srun.h"
#include "endpoints/boot/starter.h"
#include "endpoints/boot/starter_words.h"

struct event;

enum ep_daemon_state {
    EP_DAEMON_WAITING,  /* the daemon waits until fewer daemons are starting */
    EP_DAEMON_STARTING, /* the spawner was asked for the daemon's process, or it
                         * runs */
    EP_DAEMON_READY,
    EP_DAEMON_OVER, /* on_error or on_exit was called; nothing is open */
    EP_DAEMON_STATES
};

enum { EP_STARTER_CHUNK = 64 << 10 };

struct ep_daemon {
    struct ep_starter *st;   /* borrowed */
    struct ep_daemon *after; /* borrowed: the next daemon that waits */
    char *host;              /* owned, or NULL */
    uint32_t index;
    uint8_t launcher; /* enum ep_launcher */
    uint8_t state;    /* enum ep_daemon_state */
    bool is_expected; /* another process starts it, and it will connect */
    /* owned; not NULL: this entry is the command for all daemons on these
     * hosts */
    char *hosts;
    uint32_t hosts_count;
    struct ep_srun srun; /* what srun printed, for such an entry */
    int fds[3];          /* our ends of its stdin, stdout, stderr; -1: closed */
    struct event *events[3];  /* owned; NULL when the end is closed */
    struct event *timer;      /* owned */
    struct text_buf input;    /* text that is not sent yet; holds the key */
    size_t input_at;          /* bytes of `input` that were sent */
    struct text_buf out_line; /* the line of stdout read so far */
    struct text_buf err_line; /* the line of stderr read so far */
    /* the first output that is not part of the protocol, for errors */
    struct text_buf rubbish;
    struct text_buf last;  /* last lines of stderr, held back */
    uint64_t out_bytes;    /* bytes of stdout read before it was ready */
    struct text_buf words; /* text of an error that is being reported */
    uint32_t time_ms;  /* the time for all tries together until it is ready */
    uint64_t begin_ns; /* when this try began */
    char *first_words; /* owned: why the first try failed, or NULL */
};

struct ep_starter {
    struct event_base *base;                /* borrowed */
    struct ep_spawner *spawner;             /* borrowed */
    const struct ep_starter_events *events; /* borrowed */
    void *arg;
    char *xylemd, *rsh;         /* owned */
    struct ep_daemon **daemons; /* owned, by index; NULL: no such daemon */
    uint32_t cap;
    struct ep_daemon *first, *last; /* list of the daemons that wait */
    uint32_t starting;
    uint32_t max_parallel;
    uint32_t timeout_ms;
    bool is_not_last;
    uint32_t proc_first, job_first;
    bool job_known[EP_STARTER_JOBS];
    bool is_leaving;
    bool is_begun;        /* ep_starter_begin has started some daemons */
    bool is_calling;      /* a callback is being called from the loop */
    struct event *pump;   /* owned: starts daemons that wait */
    struct ep_boot_up up; /* the line being read */
    /* The bytes read last. */
    char chunk[EP_STARTER_CHUNK];
};

/* Makes a daemon in state waiting. Returns NULL when memory is out. */
struct ep_daemon *ep_daemon_new(struct ep_starter *st, uint32_t index,
                                enum ep_launcher launcher, const char *host);
void ep_daemon_free(struct ep_daemon *d);

/* Owns our ends of its pipes, also after an error, and begins to write and to
 * read. Returns 0 or OV_ENOMEM; the caller then calls ep_daemon_fail. */
int ep_daemon_begin(struct ep_daemon *d, const int fds[3]);

/* The two halves of ep_daemon_begin: the first begins the daemon's time;
 * ep_daemon_open takes its pipes or its connection (-1: it has no such end). */
int ep_daemon_expect(struct ep_daemon *d);
/* Begins the daemon's time again, if it is starting. */
void ep_daemon_rewind(struct ep_daemon *d);
int ep_daemon_open(struct ep_daemon *d, const int fds[3]);

/* Sets the state to ready without a READY line. */
void ep_daemon_arrive(struct ep_daemon *d);

/* Writes what was added to d->input. */
void ep_daemon_feed(struct ep_daemon *d);

/* Closes the daemon's stdin; input that was not written is dropped. */
void ep_daemon_shut_stdin(struct ep_daemon *d);

/* The first takes a line of stderr, ended by a NUL at line[len_bytes]: it
 * reports the line or, until the daemon is ready, holds it back. ep_daemon_tell
 * reports a line, and ep_daemon_tell_held all that were held back
 * (starter_stderr.c). */
void ep_daemon_err_line(struct ep_daemon *d, char *line, size_t len_bytes);
void ep_daemon_tell(struct ep_daemon *d, const char *line);
void ep_daemon_tell_held(struct ep_daemon *d);

/* Returns what messages say about the daemon. */
struct ep_starter_who ep_daemon_who(const struct ep_daemon *d);

/* Gives up a waiting or starting daemon that will not come: calls on_error with
 * d->words and closes all. */
void ep_daemon_fail(struct ep_daemon *d);

/* Gives up a daemon that has printed nothing, so that another starter may try:
 * calls on_unreached. */
void ep_daemon_unreached(struct ep_daemon *d);

/* Starts a waiting daemon (starter_process.c); later errors are reported by
 * ep_daemon_fail_start. Returns 0, or an errno when no pipe can be made: the
 * daemon then still waits. */
int ep_daemon_start(struct ep_daemon *d);
/* Gives up a daemon that could not be started: `step` failed with the errno
 * err. */
void ep_daemon_fail_start(struct ep_daemon *d, const char *step, int err);

/* Takes the end of the daemon's process: reads what is left in its pipes, then
 * reports the end. */
void ep_daemon_end(struct ep_daemon *d, int status);

/* Closes the daemon without a report. */
void ep_daemon_forget(struct ep_daemon *d);

/* Has the loop start waiting daemons soon, when fewer than max_parallel are
 * starting. */
void ep_starter_wake(struct ep_starter *st);

#endif
