/* Viewers with a launcher that only records its calls, and clients at the other
 * ends of sockets.
 *
 * Both sides are shown as text: the calls to the launcher, and the messages
 * that a client has got, one after another with "; " between them.
 */
#ifndef TESTS_UNIT_VIEWERS_LAB_H
#define TESTS_UNIT_VIEWERS_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/client/viewers.h"
#include "endpoints/client/watchers.h"
#include "job/door.h"

enum {
    LAB_TEXT_MAX = 16384,
    LAB_HOSTS = 256,
    LAB_PUSH_BYTES = 4096,
    LAB_BOTH = 2 | 4, /* stdout and stderr */
    LAB_BASE = 10,    /* the base of the first job that a client starts */
};

struct lab {
    struct event_base *base; /* owned, as are the others */
    struct ep_writer *writer;
    struct ep_viewers *all;
    struct ep_viewers *tap;            /* the viewers while they are open,
                                        * otherwise NULL */
    uint32_t size, parts, cache_bytes; /* numbers of the run's own job */
    uint32_t each;                     /* how many processes each part has */
    bool is_looking; /* nodes have not reported yet what processes are doing */
    bool is_dvm;
    bool tells_wanted;   /* what on_wanted returns */
    bool pushes_at_once; /* ep_viewers_pushed() is called from within on_push */
    bool takes_back;     /* what on_back returns */
    bool has_no_signals; /* on_signal fails */
    bool has_no_logs;    /* on_log fails */
    bool logs_at_once;   /* ep_viewers_logged() is called from within on_log */
    uint16_t ticket;     /* what on_replay returns */
    /* How many jobs on_spawn starts; it refuses further ones for this reason.
     */
    unsigned spawns_max;
    enum ep_client_refusal refusal;
    const char *why;
    uint32_t cache_bytes_of_spawned;
    unsigned made;   /* number of jobs that clients have started */
    uint32_t next;   /* how many processes these jobs have together */
    bool is_telling; /* true within a call to the tap, from which few calls are
                      * allowed */
    char calls[LAB_TEXT_MAX];
    char hosts[LAB_HOSTS][8];
};

struct lab_client {
    struct lab *lab;
    struct ep_viewer *viewer;   /* NULL: the client was refused or disconnected,
                                 * or */
    struct ep_watcher *watcher; /* the client watches */
    int ours, fd;               /* the two ends of the socket: the session's and
                                 * the client's */
    bool is_cut;
    char why[JOB_DOOR_TEXT_MAX]; /* why the client was disconnected; "": for no
                                  * error */
    char heard[LAB_TEXT_MAX];
    bool needs_all; /* the client's pushes are for all of their targets or for
                     * none */
    bool is_more;   /* the client's pushes continue in further messages */
};

/* Appends to a text of LAB_TEXT_MAX bytes. */
__attribute__((format(printf, 2, 3))) void lab_add(char *text,
                                                   const char *format, ...);

/* Opens a lab with four processes on two hosts, of which no output is kept. */
void lab_open(struct lab *lab);
void lab_begin(struct lab *lab); /* opens the viewers */
void lab_end(struct lab *lab);   /* closes the viewers */
void lab_close(struct lab *lab);
/* Turns the loop once. */
void lab_turn(struct lab *lab);
/* Returns the calls since the last time. */
const char *lab_calls(struct lab *lab);

/* lab_job() reports that a further job begins and is started; the next
 * functions report one change each. */
void lab_job(struct lab *lab, const char *name, uint32_t base, uint32_t size,
             uint32_t cache_bytes);
void lab_job_begun(struct lab *lab, const char *name, uint32_t base,
                   uint32_t size, uint32_t cache_bytes);
void lab_job_started(struct lab *lab, uint32_t base);
void lab_job_ended(struct lab *lab, uint32_t base);
void lab_job_forgotten(struct lab *lab, uint32_t base);

/* Records what the launcher is asked to start. Returns the number of
 * processes. */
uint32_t lab_note_spawn(struct lab *lab, const struct ep_client_spawn *spawn);

/* --- output */

void lab_put(struct lab *lab, uint32_t proc, uint8_t channel, const void *mem,
             uint32_t len_bytes, bool is_end);
void lab_write(struct lab *lab, uint32_t proc, uint8_t channel,
               const char *text);
void lab_finish(struct lab *lab, uint32_t proc, uint8_t channel);
/* Writes a record that is to be redirected; true: a client takes it. */
bool lab_redirect(struct lab *lab, uint32_t proc, uint8_t channel,
                  const char *text, bool is_end);
/* Sends earlier output, with lab->ticket; also reports that nodes have got the
 * order. */
void lab_past(struct lab *lab, uint32_t proc, uint8_t channel, const char *text,
              uint64_t before_bytes, bool is_turn);
void lab_told(struct lab *lab, uint32_t first, uint32_t count);

/* --- clients */

void lab_come(struct lab *lab, struct lab_client *client, const char *name);
/* Makes a client that has attached to a job, and has received the answer. */
void lab_attach(struct lab *lab, struct lab_client *client, const char *name);
void lab_leave(struct lab_client *client);
/* Makes a client that watches. */
void lab_watch(struct lab *lab, struct lab_client *client);
/* Makes a client that will start a job and has not said which. */
void lab_ask(struct lab *lab, struct lab_client *client);
/* Sends a piece of the client's request. */
const char *lab_spawn(struct lab_client *client, const uint8_t *mem,
                      size_t len_bytes, bool is_more);
/* Makes a client that has started a job of LAB_OWN_SIZE processes, and has
 * received the answer. */
enum { LAB_OWN_SIZE = 4 };
void lab_own(struct lab *lab, struct lab_client *client);
/* Sends a message. Returns what is wrong with it, as the door would, and then
 * the viewer is closed; "": nothing is wrong. */
const char *lab_say(struct lab_client *client, struct job_door msg);
const char *lab_pull(struct lab_client *client, uint8_t channels);
/* Redirects: the output goes to the client instead of the console. */
const char *lab_pull_away(struct lab_client *client, uint8_t channels);
const char *lab_taken(struct lab_client *client, uint64_t outputs);
const char *lab_range(struct lab_client *client, uint32_t first, uint32_t last);
/* Pushes to one range of processes when flags have OV_PUSH_NEW or OV_PUSH_MORE;
 * otherwise without ranges. */
const char *lab_push(struct lab_client *client, uint16_t flags, uint32_t first,
                     uint32_t last, const char *text);
/* Returns the next message, whose rest lies in mem (JOB_DOOR_BYTES_MAX bytes);
 * kind 0: there is none now. */
struct job_door lab_next(struct lab_client *client, uint8_t *mem);
/* Returns all messages that the client has got by now, as text. */
const char *lab_heard(struct lab_client *client);

#define ASSERT_HEARD(client, text) assert_string_equal(lab_heard(client), text)
#define ASSERT_CALLS(lab, text)    assert_string_equal(lab_calls(lab), text)

#endif
