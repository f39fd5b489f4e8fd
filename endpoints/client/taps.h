/* What the clients of a session's door (viewers.h, watchers.h) may want of its
 * launcher: they are its tap. All calls in the loop's thread.
 */
#ifndef ENDPOINTS_CLIENT_TAPS_H
#define ENDPOINTS_CLIENT_TAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/taps_job.h"
#include "job/neighbours.h"
#include "job/record.h"
#include "job/replay.h"
#include "topo/tree.h"

struct ep_writer;
struct event_base;

enum { EP_TAP_WHY_MAX = 256 };

/* Never called from within a call to the tap (viewers.h), but on_part (also
 * from open), on_note, on_say, on_spawn from again, and on_back_over from
 * close. */
struct ep_tap_events {
    /* Where the ranks of the job with this base are: part `index` of parts, in
     * the order of ranks. Only while it runs. The host's name is there as long
     * as the tap, all else until the next call. */
    void (*on_part)(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out);
    /* Redirected output that was taken, and that nobody has got: it is for the
     * console. Borrowed within the call; took_back() follows. In order for each
     * channel. False: it is not taken. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* gives_back() or replays() says no to more than before, or has_room() yes.
     */
    void (*on_back_over)(void *arg);
    /* After flush: all is out. */
    void (*on_flushed)(void *arg);
    /* Text for stdout or stderr (enum ov_channel), which goes out as lines. It
     * is copied. With a token other than 0 the tap's logged() comes once it is
     * written. False: it cannot be taken, and logged() will not come. */
    bool (*on_log)(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes);
    /* A signal for the processes of these ranges, which lie apart; without one
     * for all. Once for each process. False: none runs yet, or any more. */
    bool (*on_signal)(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count);
    /* For stdin of some processes of the job with this base: a message as of
     * overlay/wire/push.h, borrowed within the call. A writer names whom it
     * writes to as if there were no other (job/streams.h); the tap numbers its
     * own, each for one job. pushed() follows, when it has its place. */
    void (*on_push)(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes);
    /* This writer pushes nothing further. It may be said from within pushed().
     */
    void (*on_left)(void *arg, uint32_t base, uint32_t writer);
    /* Somebody is about to push to the run's own job: the end of the launcher's
     * stdin does not end that of the processes. Or nobody of them is left. */
    void (*on_pushers)(void *arg, bool are_there);
    /* Output from before: the processes' daemons are asked for it. Returns a
     * ticket, by which it comes as output of its own: the last of each channel
     * is a turn, and what the channel gives later comes behind it. Before that
     * `heard` says of each process when what it writes is no more from before.
     * 0: nothing is kept. Lost ranks do not answer. */
    uint16_t (*on_replay)(void *arg, const struct job_replay_wish *want);
    /* wants() says yes to more than before. Returns whether nodes that drop it
     * are told; on_replay says when they have heard. */
    bool (*on_wanted)(void *arg);
    /* Processes of a started job are not to be read, or are again: who is to
     * have their output has no room for more. */
    void (*on_hold)(void *arg, const struct topo_range *range, bool is_held);
    /* Starts a job in the tree of the run: output and exits are told as of the
     * run's own. False: cannot, as why (EP_TAP_WHY_MAX bytes) says, or not yet
     * (EP_TAP_LATER). */
    bool (*on_spawn)(void *arg, const struct ep_tap_spawn *spawn,
                     struct ep_tap_spawned *out, char *why);
    void (*on_say)(void *arg, const char *text);  /* to the user */
    void (*on_note)(void *arg, const char *text); /* with --verbose */
};

struct ep_tap_cfg {
    struct event_base *base;  /* borrowed, as all that follows */
    const char *nspace;       /* the job's name */
    uint32_t size;            /* processes */
    uint32_t apps, parts;     /* programs; see on_part */
    uint8_t channels;         /* that its processes have, 1 << channel each */
    uint32_t cache_bytes;     /* that are kept of each channel for on_replay */
    uint32_t push_bytes;      /* of a message for on_push, at most */
    bool is_dvm;              /* these processes are the daemons: see run.h */
    struct ep_writer *writer; /* for what may block */
    const struct ep_tap_events *events;
    void *arg;
};

#endif
