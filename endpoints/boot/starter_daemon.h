/* One daemon of a starter: its pipes, its lines, its way from waiting to
 * over. Used by starter.c only.
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
    EP_DAEMON_WAITING,  /* for its turn */
    EP_DAEMON_STARTING, /* its process is asked for or runs */
    EP_DAEMON_READY,
    EP_DAEMON_OVER, /* told by on_error or on_exit; nothing is open */
    EP_DAEMON_STATES
};

enum { EP_STARTER_CHUNK = 64 << 10 };

struct ep_daemon {
    struct ep_starter *st;   /* borrowed */
    struct ep_daemon *after; /* borrowed: next in the queue of the waiting */
    char *host;              /* owned, or NULL */
    uint32_t index;
    uint8_t launcher; /* enum ep_launcher */
    uint8_t state;    /* enum ep_daemon_state */
    bool is_expected; /* somebody else starts it, and it calls */
    char *hosts;      /* owned; not NULL: stands for all daemons there */
    uint32_t hosts_count;
    struct ep_srun srun; /* where it does so */
    int fds[3];          /* our ends of its stdin, stdout, stderr; -1: closed */
    struct event *events[3];  /* owned, NULL with a closed end */
    struct event *timer;      /* owned */
    struct text_buf input;    /* what is to go down; holds the key */
    size_t input_at;          /* of which so much went */
    struct text_buf out_line; /* begin of a line of stdout */
    struct text_buf err_line; /* begin of a line of stderr */
    struct text_buf rubbish;  /* begin of what is none of ours, for errors */
    struct text_buf last;     /* last lines of stderr, held back */
    uint64_t out_bytes;       /* of stdout, before it was ready */
    struct text_buf words;    /* of an error being told */
    uint32_t time_ms;         /* that it has to become ready, all tries */
    uint64_t begin_ns;        /* of this try */
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
    struct ep_daemon *first, *last; /* the waiting */
    uint32_t starting;
    uint32_t max_parallel;
    uint32_t timeout_ms;
    bool is_not_last;
    uint32_t proc_first, job_first;
    bool job_known[EP_STARTER_JOBS];
    bool is_leaving;
    bool is_begun;                /* some were started before the loop runs */
    bool is_calling;              /* inside a callback of the loop */
    struct event *pump;           /* owned: starts who waits */
    struct ep_boot_up up;         /* the line being read */
    char chunk[EP_STARTER_CHUNK]; /* what was read; the rest untouched */
};

/* A waiting one. NULL when memory is out. */
struct ep_daemon *ep_daemon_new(struct ep_starter *st, uint32_t index,
                                enum ep_launcher launcher, const char *host);
void ep_daemon_free(struct ep_daemon *d);

/* Takes over our ends of its pipes, in any case, and begins to feed and to
 * read. Returns 0 or OV_ENOMEM; the caller then calls ep_daemon_fail. */
int ep_daemon_begin(struct ep_daemon *d, const int fds[3]);

/* The two halves of it: its time begins; its pipes or its connection are there
 * (-1: it has no such end). */
int ep_daemon_expect(struct ep_daemon *d);
/* Its time begins anew, if it is on its way. */
void ep_daemon_rewind(struct ep_daemon *d);
int ep_daemon_open(struct ep_daemon *d, const int fds[3]);

/* It is ready, without a line that says so. */
void ep_daemon_arrive(struct ep_daemon *d);

/* There is more to feed. */
void ep_daemon_feed(struct ep_daemon *d);

/* Closes its stdin; what was not fed is dropped. */
void ep_daemon_shut_stdin(struct ep_daemon *d);

/* A line of stderr, ended by a NUL at line[len_bytes]: told, or held back until
 * it is ready; and a line that was (starter_stderr.c). */
void ep_daemon_err_line(struct ep_daemon *d, char *line, size_t len_bytes);
void ep_daemon_tell(struct ep_daemon *d, const char *line);
void ep_daemon_tell_held(struct ep_daemon *d);

/* Who it is, for words. */
struct ep_starter_who ep_daemon_who(const struct ep_daemon *d);

/* It will not come: tells d->words by on_error and closes all. For waiting
 * and starting ones. */
void ep_daemon_fail(struct ep_daemon *d);

/* The same where it has said nothing itself: another one may try. */
void ep_daemon_unreached(struct ep_daemon *d);

/* Starts a waiting one (starter_process.c); what then goes wrong is told.
 * Returns 0, or the errno when there is no pipe: it waits still. */
int ep_daemon_start(struct ep_daemon *d);
/* It could not be started: the step and its errno. */
void ep_daemon_fail_start(struct ep_daemon *d, const char *step, int err);

/* Its process ended: takes what is left in its pipes, then tells. */
void ep_daemon_end(struct ep_daemon *d, int status);

/* It is over without a word. */
void ep_daemon_forget(struct ep_daemon *d);

/* A place to start became free, or somebody waits: starts those who may. */
void ep_starter_wake(struct ep_starter *st);

#endif
