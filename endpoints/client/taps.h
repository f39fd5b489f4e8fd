/* Somebody beside the console who hears of the job and its output.
 *
 * The launcher knows a tap by this table only; what it does with the output
 * is its own affair (commands/run_pmix.c has the one for PMIx tools). A tap
 * never ends the job, and never fails: it can only want no more. All calls and
 * callbacks in the loop's thread.
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

/* What a tap may call; never from within a call to it, but on_part (also from
 * open), on_note, on_say, on_spawn from again, and on_returned, on_released
 * and on_back_over from close. */
struct ep_tap_events {
    /* Where the ranks of the job with this base are: part `index` of parts, in
     * the order of ranks. Only while it runs. The host's name is there as long
     * as the tap, all else until the next call. */
    void (*on_part)(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out);
    /* The bytes of an output are not needed any more. */
    void (*on_released)(void *arg, uint64_t cookie);
    /* Redirected output is on its way and counts as delivered. In order for
     * each channel. */
    void (*on_gone)(void *arg, uint64_t cookie);
    /* Nobody is there for this redirected output: it is for the console, before
     * all that comes later. on_released comes for it, too. */
    void (*on_returned)(void *arg, uint64_t cookie);
    /* Redirected output of which on_gone was told, and that nobody has taken:
     * it is for the console. Borrowed within the call; took_back() follows. In
     * order for each channel. False: it is not taken. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* gives_back() or replays() says no to more than before. */
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
    /* Others can come, to this address; again when it has changed. NULL: not
     * any more, for a time. */
    void (*on_up)(void *arg, const char *uri);
    /* With is_dvm: nobody could come yet, and nobody will. */
    void (*on_given_up)(void *arg, const char *why);
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
    void *self;               /* of whoever offers the tap */
    const struct ep_tap_events *events;
    void *arg;
};

/* What a tap does with a record. */
enum ep_tap_output {
    EP_TAP_PASSED, /* nothing, or it sends it on as a copy */
    EP_TAP_TAKEN,  /* it is redirected, and the tap has its bytes: those that it
                      does not get rid of come by on_back */
    EP_TAP_HELD,   /* its bytes are borrowed until on_released comes */
};

/* Where one is NULL it is not told, or nothing is so, unless it says else. */
struct ep_tap_ops {
    /* The job is planned and its daemons are being started. Returns the tap;
     * NULL: there is none, and no other call comes. */
    void *(*open)(const struct ep_tap_cfg *cfg);
    void (*close)(void *tap); /* whatever it holds is released */
    /* A record, or the end of a channel of a lost node. */
    enum ep_tap_output (*output)(void *tap, const struct job_record *rec);
    /* Can the record be given to it, in the place of the console or as output
     * from before? Else on_back_over says when to ask again. NULL: all can. */
    bool (*has_room)(void *tap, const struct job_record *rec);
    /* The node of these ranks is lost: it gives no answers. Before the ends of
     * their channels. */
    void (*lost)(void *tap, uint32_t first, uint32_t count);
    /* Are answers to on_replay still to come? */
    bool (*replays)(void *tap);
    /* Ranks from `rank` on were started; their pids are those of their host. */
    void (*started)(void *tap, uint32_t rank, const uint32_t *pids,
                    uint32_t count);
    /* Is the channel redirected at present? */
    bool (*redirects)(void *tap, uint32_t rank, uint8_t channel);
    /* Does output of the channel come back by on_back at present? What is new
     * is for the console behind that. */
    bool (*gives_back)(void *tap, uint32_t rank, uint8_t channel);
    /* One output of on_back is on its way to the console. */
    void (*took_back)(void *tap);
    /* Is it wanted, of a job that the tap has started? NULL: all is. */
    bool (*wants)(void *tap, uint32_t rank, uint8_t channel);
    void (*exit)(void *tap, uint32_t rank, uint32_t status);
    void (*logged)(void *tap, uint32_t token); /* see on_log */
    /* These ranks have a stdin, or no more; at the start nobody has. */
    void (*has_stdin)(void *tap, uint32_t first, uint32_t last, bool is_open);
    /* This process of a further job is behind in its stdin, so that nothing
     * more is to be pushed to its job for now; or it is not any more. */
    void (*behind)(void *tap, uint32_t number, bool is_behind);
    /* The oldest push of this writer is in its stream. May be called from
     * within on_push and on_pushers. */
    void (*pushed)(void *tap, uint32_t writer);
    void (*job)(void *tap, const struct ep_tap_job *job);
    /* What on_spawn has put off can be tried again, at once: from within it
     * that may be called. */
    void (*again)(void *tap);
    /* No output follows. True when on_flushed comes, in seconds at most. */
    bool (*flush)(void *tap);
};

#endif
