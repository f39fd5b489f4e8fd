/* What the clients of a session's door (viewers.h, watchers.h) may request of
 * its launcher. All these clients together are called the launcher's tap, as
 * they see its jobs and their output. All calls are made in the loop's thread.
 */
#ifndef ENDPOINTS_CLIENT_REQUESTS_H
#define ENDPOINTS_CLIENT_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/requests_job.h"
#include "job/neighbours.h"
#include "job/record.h"
#include "job/replay.h"
#include "topo/tree.h"

struct ep_writer;
struct event_base;
struct text_buf;

enum { EP_CLIENT_WHY_MAX = 256 };

/* How many bytes the processes of a job have written and were sent. */
struct ep_client_flow {
    uint64_t output_bytes; /* bytes of output that have reached the launcher */
    /* Time since the last output came; UINT64_MAX: none has come. */
    uint64_t quiet_ns;
    /* Bytes that were sent to the stdin of the processes, by the launcher or by
     * clients. Bytes for several processes count once. */
    uint64_t stdin_bytes;
    /* How many of the stdin_bytes some node has not taken yet; only counted for
     * the run's own job. */
    uint64_t waiting_bytes;
};

/* What the launcher does for the tap. The tap calls none of these functions
 * from within a call of the launcher (viewers.h), except on_part (also from
 * open), on_note, on_say, on_spawn from ep_viewers_again(), and on_back_over
 * from ep_viewers_close(). */
struct ep_client_events {
    /* Tells which ranks of the job with this base are in its part `index`, and
     * where they run. Parts are in the order of ranks. To be called only while
     * the job runs. The host's name is valid until the tap is closed,
     * everything else until the next call. */
    void (*on_part)(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out);
    /* Takes output that was redirected and that no client has got after all: it
     * is for the console. The record is valid within the call, and
     * ep_viewers_took_back() must follow. The records of a channel come in
     * order. Returns false when the record cannot be taken. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* ep_viewers_gives_back() or ep_viewers_replays() has become false, or
     * ep_viewers_has_room() true, for some records that the launcher holds
     * back. */
    void (*on_back_over)(void *arg);
    /* All clients have read everything that was left at ep_viewers_flush(), or
     * did not read it in time. */
    void (*on_flushed)(void *arg);
    /* Prints a text on stdout or stderr (enum ov_channel), as lines. The text
     * is copied. When the token is not 0, ep_viewers_logged() is called with it
     * once the text is written. Returns false when the text cannot be taken;
     * then ep_viewers_logged() is not called. */
    bool (*on_log)(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes);
    /* Sends a signal to the processes of these ranges, which do not overlap;
     * without a range, to all processes. Each process gets it once. Returns
     * false when no process runs yet, or all have ended. */
    bool (*on_signal)(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count);
    /* Sends something to the stdin of some processes of the job with this base:
     * a message of overlay/wire/push.h, valid within the call. Each writer
     * names processes as if there were no other writer (job/streams.h); the tap
     * has one writer for each of its clients with a job, and numbers them.
     * ep_viewers_pushed() follows when the message has its place in the
     * stream. */
    void (*on_push)(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes);
    /* The writer pushes nothing further to this job. May be called from within
     * ep_viewers_pushed(). */
    void (*on_left)(void *arg, uint32_t base, uint32_t writer);
    /* are_there: a client is about to push to the run's own job, so the end of
     * the launcher's stdin must not end the stdin of the processes. Otherwise:
     * no such client is left. */
    void (*on_pushers)(void *arg, bool are_there);
    /* Asks the daemons for output that the processes of `want` have written so
     * far. Returns the ticket that marks the answers, or 0 when no output is
     * kept. The answers come as records of output. The last answer of each
     * channel is_turn: newer output of the channel follows it. Before that,
     * `heard` of a record names processes whose node now knows that clients
     * want their new output. Ranks on lost nodes do not answer. */
    uint16_t (*on_replay)(void *arg, const struct job_replay_wish *want);
    /* ep_viewers_wants() is now true for more output than before. Returns
     * whether the launcher has told nodes to send output that they have dropped
     * so far; the answers to on_replay say when they know. */
    bool (*on_wanted)(void *arg);
    /* Stops reading the output of these processes of a job that a client has
     * started, because there is no room for the output of that client; or
     * (is_held is false) goes on reading it. */
    void (*on_hold)(void *arg, const struct topo_range *range, bool is_held);
    /* Starts a job in the tree of the run. The tap is told its output and exits
     * like those of the run's own job. Returns false when the job cannot be
     * started, for the reason in why (EP_CLIENT_WHY_MAX bytes), or not yet
     * (EP_CLIENT_LATER). */
    bool (*on_spawn)(void *arg, const struct ep_client_spawn *spawn,
                     struct ep_client_spawned *out, char *why);
    /* Tells how many bytes the job with this base has written and was given. */
    void (*on_flow)(void *arg, uint32_t base, struct ep_client_flow *out);
    /* Appends lines that say which of the job's processes run and what they are
     * doing, and how the others have ended. Returns false when nodes are being
     * asked what the processes are doing: a later call will say that. */
    bool (*on_groups)(void *arg, uint32_t base, struct text_buf *text);
    void (*on_say)(void *arg, const char *text); /* Tells the user this text. */
    /* Tells the user, but only with --verbose. */
    void (*on_note)(void *arg, const char *text);
};

struct ep_client_cfg {
    struct event_base *base; /* borrowed, like all pointers below */
    const char *nspace;      /* the name of the run's own job */
    uint32_t size;           /* how many processes the job has */
    uint32_t apps, parts;    /* how many programs and how many parts (see
                              * on_part) the job has */
    uint8_t channels;     /* the channels of its processes, 1 << channel each */
    uint32_t cache_bytes; /* how many bytes of each channel are kept for
                           * on_replay */
    uint32_t push_bytes;  /* the length of the longest message for on_push */
    bool is_dvm;          /* the job is a dvm: its processes are the daemons */
    struct ep_writer *writer; /* does writes that may block */
    const struct ep_client_events *events;
    void *arg;
};

#endif
