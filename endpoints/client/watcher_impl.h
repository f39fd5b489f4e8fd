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
    EP_WATCHER_LOGS = 4,      /* texts that may wait for an answer */
    EP_WATCHERS_ENDED = 64,   /* ended jobs that are kept */
    EP_WATCHERS_BROKEN = 2048 /* the most channels in `broken` */
};

struct ep_seen_job;
struct event;

/* The answer to a DESCRIBE that is being sent. */
struct ep_watcher_description {
    struct ep_seen_job *job; /* borrowed, a known job; NULL: nothing to send */
    uint8_t what;            /* the kind of the next message */
    uint32_t at; /* the part or rank with which the next message begins */
};

/* A text that the client wants printed on the launcher's console. */
struct ep_watcher_text {
    uint8_t *mem; /* owned: the pieces that have arrived */
    uint32_t len_bytes;
    bool is_too_long; /* the text is too long, so it is not kept */
    /* How many texts wait for an answer; logs[0] is the oldest of them. */
    unsigned count;
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
    struct ep_outbox *box; /* owned; NULL as long as there is no launch */
    bool is_full; /* the client's outbox is full: the client is about to be
                   * disconnected */
    struct ep_watcher_description asked;
    struct ep_watcher_text text;
    char
        *name; /* owned: the name of the client's tool; NULL until it has one */
    uint32_t rank;
    /* the processes that get the client's next signal (ep_ranges) */
    struct topo_ranges ranges;
};

struct ep_watchers {
    struct ep_watchers_cfg cfg;
    struct ep_client_cfg run; /* events NULL: there is no launch now */
    struct ep_watcher *first; /* the list of watchers; each is owned by its
                               * client */
    struct ep_outbox_pool pool;
    struct event *soon; /* owned: disconnects the clients that are full */
    /* borrowed: jobs that have ended, the oldest first */
    struct ep_seen_job *ended[EP_WATCHERS_ENDED];
    unsigned ended_count;
    /* Owned: channels that have ended without all of their output; or NULL. */
    struct ep_watcher_broken {
        uint32_t number;
        uint8_t channel;
    } * broken;
    unsigned broken_count;
    uint32_t texts, names; /* how many texts and names were made so far */
    bool is_last;          /* nothing more is heard about any job */
};

/* --- watcher_say.c */

/* Sends the client this message with its rest. A client without room for it is
 * disconnected. */
void ep_watcher_say(struct ep_watcher *watcher, const struct job_door *msg);

/* --- watcher_greet.c */

void ep_watcher_say_begun(struct ep_watcher *watcher,
                          const struct ep_seen_job *job);
void ep_watcher_say_stage(struct ep_watcher *watcher,
                          const struct ep_seen_job *job, uint8_t stage);
void ep_watcher_say_broken(struct ep_watcher *watcher, uint32_t number,
                           uint8_t channel);
/* Tells the client about all known jobs; called when there is a launch. Returns
 * 0 or OV_ENOMEM. */
int ep_watcher_greet(struct ep_watcher *watcher);

/* --- watcher_describe.c */

const char *ep_watcher_describe(struct ep_watcher *watcher,
                                const struct job_door *msg);
/* Sends as much of the answer to DESCRIBE as the client has room for. */
void ep_watcher_describe_on(struct ep_watcher *watcher);
/* Ends the answer to a DESCRIBE about this job, which is no longer known. */
void ep_watcher_describe_end(struct ep_watcher *watcher,
                             const struct ep_seen_job *job);

/* --- watcher_log.c */

const char *ep_watcher_log(struct ep_watcher *watcher,
                           const struct job_door *msg);
/* Notes that this text is written, and answers the client. Returns false when
 * the text is not one of this client. */
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
