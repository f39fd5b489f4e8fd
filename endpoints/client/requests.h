/* What the clients of a session's door (viewers.h, watchers.h) may want of its
 * launcher: they are its tap. All calls are made in the loop's thread.
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

enum { EP_CLIENT_WHY_MAX = 256 };

/* None of these is called from within a call to the tap (viewers.h), except
 * on_part (also from open), on_note, on_say, on_spawn from ep_viewers_again(),
 * and on_back_over from ep_viewers_close(). */
struct ep_client_events {
    /* Says where the ranks of the job with this base are: part `index` of its
     * parts, in the order of ranks. Only while the job runs. The host's name is
     * valid as long as the tap, everything else until the next call. */
    void (*on_part)(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out);
    /* Takes redirected output that no client has got after all: it is for the
     * console. Borrowed within the call; ep_viewers_took_back() is to follow.
     * It comes in order for each channel. False: it is not taken. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* gives_back() or replays() of the tap has become false, or has_room()
     * true, for some records that waited. */
    void (*on_back_over)(void *arg);
    /* After ep_viewers_flush(): everything is sent. */
    void (*on_flushed)(void *arg);
    /* Text for stdout or stderr (enum ov_channel), which goes out as lines. It
     * is copied. With a token other than 0 the tap's logged() is called once
     * the text is written. False: it cannot be taken, and logged() will not be
     * called. */
    bool (*on_log)(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes);
    /* A signal for the processes of these ranges, which do not overlap; without
     * a range for all processes. Each process gets it once. False: no process
     * runs yet, or all have ended. */
    bool (*on_signal)(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count);
    /* Something for the stdin of some processes of the job with this base: a
     * message of overlay/wire/push.h, borrowed within the call. A writer
     * addresses processes as if there were no other writer (job/streams.h); the
     * tap numbers its own writers, one for each job. ep_viewers_pushed()
     * follows when the message has its place in the stream. */
    void (*on_push)(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes);
    /* This writer pushes nothing further. May be called from within
     * ep_viewers_pushed(). */
    void (*on_left)(void *arg, uint32_t base, uint32_t writer);
    /* A client is about to push to the run's own job, so that the end of the
     * launcher's stdin does not end the processes' stdin; or no such client is
     * left. */
    void (*on_pushers)(void *arg, bool are_there);
    /* Asks the processes' daemons for output from before. Returns a ticket that
     * marks the answers, which come as output: the last answer of each channel
     * is a turn, and what the channel gives later comes behind it. Before that,
     * `heard` of a record says whose node now knows that new output is wanted.
     * Returns 0 when nothing is kept. Lost ranks do not answer. */
    uint16_t (*on_replay)(void *arg, const struct job_replay_wish *want);
    /* The tap's wants() is now true for more than before. Returns whether nodes
     * that drop such output are told; on_replay says when they have heard. */
    bool (*on_wanted)(void *arg);
    /* Processes of a started job are to be read no further for now, because the
     * client that is to have their output has no room, or are to be read
     * again. */
    void (*on_hold)(void *arg, const struct topo_range *range, bool is_held);
    /* Starts a job in the tree of the run; its output and exits are told like
     * those of the run's own job. False: it cannot be started, as why
     * (EP_CLIENT_WHY_MAX bytes) says, or not yet (EP_CLIENT_LATER). */
    bool (*on_spawn)(void *arg, const struct ep_client_spawn *spawn,
                     struct ep_client_spawned *out, char *why);
    void (*on_say)(void *arg, const char *text);  /* to the user */
    void (*on_note)(void *arg, const char *text); /* with --verbose */
};

struct ep_client_cfg {
    struct event_base *base;  /* borrowed, like all that follows */
    const char *nspace;       /* the job's name */
    uint32_t size;            /* processes */
    uint32_t apps, parts;     /* programs; for parts see on_part */
    uint8_t channels;         /* that its processes have, 1 << channel each */
    uint32_t cache_bytes;     /* kept of each channel for on_replay */
    uint32_t push_bytes;      /* the longest message for on_push */
    bool is_dvm;              /* the processes are the daemons: see run.h */
    struct ep_writer *writer; /* for writes that may block */
    const struct ep_client_events *events;
    void *arg;
};

#endif
