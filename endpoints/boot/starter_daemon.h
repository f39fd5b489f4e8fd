/* One daemon of a starter: its pipes, its lines, and its states from waiting to
 * over. Only for the starter's own files.
 */
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
    EP_DAEMON_WAITING,  /* waiting for its turn */
    EP_DAEMON_STARTING, /* its process is asked for or runs */
    EP_DAEMON_READY,
    EP_DAEMON_OVER, /* reported by on_error or on_exit; nothing is open */
    EP_DAEMON_STATES
};

enum { EP_STARTER_CHUNK = 64 << 10 };

struct ep_daemon {
    struct ep_starter *st;   /* borrowed */
    struct ep_daemon *after; /* borrowed: the next one that waits */
    char *host;              /* owned, or NULL */
    uint32_t index;
    uint8_t launcher; /* enum ep_launcher */
    uint8_t state;    /* enum ep_daemon_state */
    bool is_expected; /* another process starts it, and it calls */
    char *hosts;      /* owned; not NULL: stands for all daemons on these */
    uint32_t hosts_count;
    struct ep_srun srun; /* what srun says, for such an entry */
    int fds[3];          /* our ends of its stdin, stdout, stderr; -1: closed */
    struct event *events[3];  /* owned; NULL when the end is closed */
    struct event *timer;      /* owned */
    struct text_buf input;    /* text that is to be sent; holds the key */
    size_t input_at;          /* bytes of it that were sent */
    struct text_buf out_line; /* beginning of a line of stdout */
    struct text_buf err_line; /* beginning of a line of stderr */
    struct text_buf rubbish;  /* beginning of other output, for errors */
    struct text_buf last;     /* last lines of stderr, held back */
    uint64_t out_bytes;       /* bytes of stdout before it was ready */
    struct text_buf words;    /* words of an error that is being reported */
    uint32_t time_ms;         /* in which it has to be ready, with all tries */
    uint64_t begin_ns;        /* when this try began */
    char *first_words;        /* owned: why the first try failed, or NULL */
};

struct ep_starter {
    struct event_base *base;                /* borrowed */
    struct ep_spawner *spawner;             /* borrowed */
    const struct ep_starter_events *events; /* borrowed */
    void *arg;
    char *xylemd, *rsh;         /* owned */
    struct ep_daemon **daemons; /* owned, by index; NULL: none */
    uint32_t cap;
    struct ep_daemon *first, *last; /* the daemons that wait */
    uint32_t starting;
    uint32_t max_parallel;
    uint32_t timeout_ms;
    bool is_not_last;
    uint32_t proc_first, job_first;
    bool job_known[EP_STARTER_JOBS];
    bool is_leaving;
    bool is_begun;        /* some were started before the loop runs */
    bool is_calling;      /* inside a callback of the loop */
    struct event *pump;   /* owned: starts those that wait */
    struct ep_boot_up up; /* the line being read */
    /* What was read last; valid up to its length. */
    char chunk[EP_STARTER_CHUNK];
};

/* Makes a daemon that waits. NULL: memory is out. */
struct ep_daemon *ep_daemon_new(struct ep_starter *st, uint32_t index,
                                enum ep_launcher launcher, const char *host);
void ep_daemon_free(struct ep_daemon *d);

/* Takes over our ends of its pipes, in any case, and begins to write and to
 * read. Returns 0 or OV_ENOMEM; the caller then calls ep_daemon_fail. */
int ep_daemon_begin(struct ep_daemon *d, const int fds[3]);

/* The two halves of ep_daemon_begin. The first begins the daemon's time; the
 * second takes its pipes or its connection (-1: it has no such end). */
int ep_daemon_expect(struct ep_daemon *d);
/* Begins the daemon's time anew, if it is starting. */
void ep_daemon_rewind(struct ep_daemon *d);
int ep_daemon_open(struct ep_daemon *d, const int fds[3]);

/* Makes it ready, without a line that says so. */
void ep_daemon_arrive(struct ep_daemon *d);

/* Sends what was added to its input. */
void ep_daemon_feed(struct ep_daemon *d);

/* Closes its stdin; what was not sent is dropped. */
void ep_daemon_shut_stdin(struct ep_daemon *d);

/* The first takes a line of stderr, ended by a NUL at line[len_bytes], and
 * reports it or, until the daemon is ready, holds it back. The others report a
 * line, and all that were held back (starter_stderr.c). */
void ep_daemon_err_line(struct ep_daemon *d, char *line, size_t len_bytes);
void ep_daemon_tell(struct ep_daemon *d, const char *line);
void ep_daemon_tell_held(struct ep_daemon *d);

/* The daemon as messages speak of it. */
struct ep_starter_who ep_daemon_who(const struct ep_daemon *d);

/* Gives up a daemon that will not come: reports d->words by on_error and closes
 * all. For waiting and starting ones. */
void ep_daemon_fail(struct ep_daemon *d);

/* Likewise when the daemon has said nothing: another starter may try. */
void ep_daemon_unreached(struct ep_daemon *d);

/* Starts a waiting daemon (starter_process.c); what goes wrong later is
 * reported. Returns 0, or an errno when there is no pipe: it still waits
 * then. */
int ep_daemon_start(struct ep_daemon *d);
/* Gives up a daemon that could not be started, for this step and errno. */
void ep_daemon_fail_start(struct ep_daemon *d, const char *step, int err);

/* Says that its process ended: takes what is left in its pipes, then reports
 * the end. */
void ep_daemon_end(struct ep_daemon *d, int status);

/* Ends it without a report. */
void ep_daemon_forget(struct ep_daemon *d);

/* Starts those that may start, when there is a free place or something
 * waits. */
void ep_starter_wake(struct ep_starter *st);

#endif
