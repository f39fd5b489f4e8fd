/* What the files of watchers.h share. */
#ifndef ENDPOINTS_CLIENT_WATCHER_IMPL_H
#define ENDPOINTS_CLIENT_WATCHER_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/outbox.h"
#include "endpoints/client/requests.h"
#include "endpoints/client/watchers.h"
#include "topo/ranges.h"

enum {
    EP_WATCHER_LOGS = 4,      /* texts without an answer */
    EP_WATCHERS_ENDED = 64,   /* jobs */
    EP_WATCHERS_BROKEN = 2048 /* channels */
};

struct ep_seen_job;
struct event;

/* The answer to a DESCRIBE that is being sent. */
struct ep_watcher_description {
    struct ep_seen_job *job; /* borrowed, a known job; NULL: none */
    uint8_t what;            /* kind of the next message */
    uint32_t at;             /* the part or rank that it begins with */
};

/* A text for the launcher's console. */
struct ep_watcher_text {
    uint8_t *mem; /* owned: pieces so far */
    uint32_t len_bytes;
    bool is_too_long; /* such a text is not kept */
    unsigned count;   /* of texts without an answer, the oldest first: */
    struct {
        uint32_t token;
        bool is_written, is_refused;
    } logs[EP_WATCHER_LOGS];
};

struct ep_watcher {
    struct ep_watcher *next;
    struct ep_watchers *all;
    const struct ep_watcher_events *events;
    void *arg;
    int fd;
    struct ep_outbox *box; /* owned; NULL: it waits for the tap */
    bool is_full;          /* it is cut off soon */
    struct ep_watcher_description asked;
    struct ep_watcher_text text;
    char *name; /* owned: of its tool; NULL: none yet */
    uint32_t rank;
    struct topo_ranges ranges; /* ep_ranges: whom the next signal is for */
};

struct ep_watchers {
    struct ep_watchers_cfg cfg;
    struct ep_client_cfg run; /* events NULL: the tap is not open */
    struct ep_watcher *first; /* each owned by its client */
    struct ep_outbox_pool pool;
    struct event *soon; /* owned: for cutting off those that are full */
    struct ep_seen_job *ended[EP_WATCHERS_ENDED]; /* borrowed, the oldest first
                                                   */
    unsigned ended_count;
    /* Owned; NULL: none so far. */
    struct ep_watcher_broken {
        uint32_t number;
        uint8_t channel;
    } * broken;
    unsigned broken_count;
    uint32_t texts, names; /* counted as they are made */
    bool is_last;          /* nothing more is heard of any job */
};

/* --- watcher_say.c */

/* Tells it this message with its rest; a watcher without room is cut off. */
void ep_watcher_say(struct ep_watcher *watcher, const struct job_door *msg);

/* --- watcher_greet.c */

void ep_watcher_say_begun(struct ep_watcher *watcher,
                          const struct ep_seen_job *job);
void ep_watcher_say_stage(struct ep_watcher *watcher,
                          const struct ep_seen_job *job, uint8_t stage);
void ep_watcher_say_broken(struct ep_watcher *watcher, uint32_t number,
                           uint8_t channel);
/* The tap is open: tells it all that is known. Returns 0 or OV_ENOMEM. */
int ep_watcher_greet(struct ep_watcher *watcher);

/* --- watcher_describe.c */

const char *ep_watcher_describe(struct ep_watcher *watcher,
                                const struct job_door *msg);
/* Sends as much of the answer as it has room for. */
void ep_watcher_describe_on(struct ep_watcher *watcher);
/* The job is no longer known: the rest of the answer does not come. */
void ep_watcher_describe_end(struct ep_watcher *watcher,
                             const struct ep_seen_job *job);

/* --- watcher_log.c */

const char *ep_watcher_log(struct ep_watcher *watcher,
                           const struct job_door *msg);
/* This text is written. Returns false when it is not one of the watcher's
 * own. */
bool ep_watcher_logged(struct ep_watcher *watcher, uint32_t token);

/* --- watcher_name.c */

const char *ep_watcher_name(struct ep_watcher *watcher,
                            const struct job_door *msg);

/* --- watcher_signal.c */

const char *ep_watcher_ranges(struct ep_watcher *watcher,
                              const struct job_door *msg);
const char *ep_watcher_signal(struct ep_watcher *watcher,
                              const struct job_door *msg);

#endif
