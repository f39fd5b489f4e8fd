/* libpmix, as a server for one tool in a process of its own.
 *
 * This folder is the only place that touches libpmix, and no type of libpmix
 * leaves it. The process that uses it serves exactly one tool, so it is always
 * known who asks. It ends with the tool: there is no close.
 *
 * Threads: all calls are the caller's, from one thread, and all callbacks come
 * in that thread, from px_lib_turn(). libpmix has threads of its own that the
 * caller never sees. This rule prevents a deadlock: a thread of libpmix may
 * wait for the caller, as it does while a request of the tool has no answer,
 * but the caller never waits for a thread of libpmix. So a caller that does not
 * call px_lib_turn() delays the tool, and nothing else.
 *
 * A callback may use any call but px_lib_open(), px_lib_dial() and
 * px_lib_turn(). What a callback is given is valid until it returns, unless its
 * comment says otherwise.
 */
#ifndef PMIX_API_HELPER_LIB_LIB_H
#define PMIX_API_HELPER_LIB_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmix_api/helper/lib/request.h"
#include "pmix_api/helper/lib/value.h"

enum {
    PX_LIB_BYTES_MAX = 1 << 20,         /* of one delivery */
    PX_LIB_UNWRITTEN_BYTES = 768 << 10, /* may wait in libpmix for the tool */
};

/* A namespace that does not exist: no tool may be let in by this name. */
#define PX_LIB_NOBODY "xylem-nobody"

/* What the tool asks for, and what happens to it. */
struct px_lib_events {
    /* The tool wants to be let in. `wanted` is the name that it brought, NULL
     * when it brought none. Call px_lib_admit() once, now or later. There is no
     * way to refuse a tool, for libpmix crashes on any other answer: end the
     * process instead. */
    void (*on_tool)(void *arg, const struct px_lib_name *wanted);
    /* The answer has been sent to the tool, if its connection still lives.
     * Called once. */
    void (*on_in)(void *arg);
    /* Call px_lib_answer_pull() once, now or later; until then libpmix does
     * nothing else. A pull that is not answered with PX_LIB_YES stays
     * registered in libpmix all the same, in all releases: deliveries that it
     * names are sent for it, too, and the tool's library shows them by
     * itself. */
    void (*on_pull)(void *arg, const struct px_lib_pull *pull);
    /* The tool has deregistered a pull; libpmix does not say which. */
    void (*on_stop)(void *arg);
    /* Call px_lib_answer() once, now or later. */
    void (*on_push)(void *arg, const struct px_lib_push *push);
    /* These are answered, too: see request.h. */
    void (*on_query)(void *arg, const struct px_lib_query *query);
    void (*on_spawn)(void *arg, const struct px_lib_spawn *spawn);
    void (*on_control)(void *arg, const struct px_lib_control *control);
    void (*on_log)(void *arg, const struct px_lib_log *log);
    /* The tool has notified an event: bytes for px_lib_event_of() in other
     * helpers. An event for the server alone comes, too, as libpmix does not
     * tell it from those for the machine; an event for the tool itself does
     * not. */
    void (*on_event)(void *arg, const void *mem, size_t len_bytes);
    /* Says, in words for a user, why something was refused that the other
     * callbacks never saw. */
    void (*on_note)(void *arg, const char *text);
    /* px_lib_room() has grown since it was 0. */
    void (*on_room)(void *arg);
    /* The tool has left, or died. Called once, after all that the tool had
     * said. */
    void (*on_gone)(void *arg);
};

struct px_lib_cfg {
    const char *nspace; /* the namespace of the server that the tool sees */
    uint32_t rank;
    const char *dir; /* a folder is made in it, and removed again */
    /* The keys and qualifiers that on_query knows, for tools that ask what is
     * supported; NULL-terminated, borrowed until px_lib_open() returns. */
    const char *const *query_keys;
    /* Borrowed as long as the process runs. */
    const struct px_lib_events *events;
    void *arg; /* for each callback */
};

/* A piece of output. */
struct px_lib_output {
    const char *nspace; /* the process, */
    uint32_t rank;
    uint16_t channel; /* and its channel: one bit */
    const void *mem;  /* copied, unless it lies in: */
    void *block;      /* of malloc(), then the library's; NULL: none */
    size_t len_bytes; /* at most PX_LIB_BYTES_MAX, may be 0 */
    bool is_end;      /* nothing follows in the channel */
    /* For a pull: the tool's library does not show it besides. */
    bool is_pulled;
    uint64_t dropped_bytes; /* missing before it, as dropped; 0: none */
    uint64_t before_bytes;  /* written before the pull, and not kept */
};

/* Starts libpmix as a server. Once in the life of the process, before it has
 * other threads, as the environment is changed. Blocks for some tens of ms.
 * Returns NULL, or what went wrong; libpmix cannot be used then. */
const char *px_lib_open(const struct px_lib_cfg *cfg);

/* The text of the rendezvous file that libpmix wrote about itself. No process
 * gets in by the port in its first line. Valid for good. */
const char *px_lib_rendezvous(void);

/* Hands the tool's connected TCP socket to libpmix, which owns it from now on.
 * Exactly once. Returns 0, or OV_ESYS: the socket is still the caller's. */
int px_lib_dial(int fd);

/* True while the tool is connected. A tool whose credential libpmix does not
 * accept is cut off after on_in, without a report. A system call. */
bool px_lib_has_tool(void);

/* Readable when px_lib_turn() has something to do. */
int px_lib_fd(void);
/* Calls the callbacks that are due. Does not wait. */
void px_lib_turn(void);

/* Lets the tool in under this name. */
void px_lib_admit(const struct px_lib_name *given);
/* Answers the pull that waits for its answer. */
void px_lib_answer_pull(enum px_lib_answer answer);

/* Answers a request with a `call`, once; the call is void after that. A query
 * or a spawn gets PX_LIB_YES by the functions below. */
void px_lib_answer(void *call, enum px_lib_answer answer);

/* Answers a query with an info for each key that is known: PX_LIB_YES when
 * these are all keys, else PX_LIB_PARTIAL. The infos are copied. When memory is
 * out, the tool is told that. O(all that is in them). */
void px_lib_answer_query(void *call, enum px_lib_answer answer,
                         const struct px_lib_info *infos, size_t count);

/* Answers a spawn whose processes all run. px_lib_job() of the namespace comes
 * before that. What is delivered of the job from now on goes to the tool
 * without a pull, where the spawn forwards it, and to all pulls that name it.
 * The tool's library writes what is not for a pull to its own stdout and
 * stderr, where 4.2 may put unfinished lines of several processes together. */
void px_lib_answer_spawn(void *call, const char *nspace);

/* The keys that on_spawn knows, separated by commas. Valid for good. */
const char *px_lib_spawn_keys(void);

/* The first makes a namespace of this many processes known to the tool's
 * queries, the second forgets it and its events. They do not wait for libpmix.
 * Return 0, OV_EINVAL for a name that is too long, or OV_ENOMEM. */
int px_lib_job(const char *nspace, uint32_t size);
int px_lib_job_end(const char *nspace);

/* Tells the tool of an event, now or when it registers for such events, in the
 * order of the calls and after what was delivered before. Copied. Returns 0;
 * OV_EINVAL for a code that is not that of an event; or OV_ENOMEM. */
int px_lib_event(enum px_lib_status code, const struct px_lib_name *source,
                 const struct px_lib_info *infos, size_t count);

/* Tells the tool of an event of another tool: what that one's on_event gave, of
 * the same libpmix. Returns 0, OV_EPROTO for other bytes, or OV_ENOMEM. */
int px_lib_event_of(const void *mem, size_t len_bytes);

/* Reads from the tool more slowly from now on, or again at full speed. It has
 * an effect while the tool's library collects its stdin, without waiting for
 * answers: each push takes a few ms longer, and output waits meanwhile. */
void px_lib_slow(bool is_slow);

/* Gives a piece of output to each pull of the tool that names it, which may be
 * several or none. Returns 0; OV_EFULL when px_lib_room() is 0; OV_EINVAL when
 * it is too large or its names are too long; OV_ECLOSED when there is no tool;
 * or OV_ENOMEM. After an error nothing counts as delivered. O(len_bytes). */
int px_lib_deliver(const struct px_lib_output *output);

/* Keeps from all pulls what was delivered of these channels and libpmix has not
 * handled yet. Only while a pull waits for its answer. O(such deliveries). */
void px_lib_withhold(const char *nspace, uint32_t rank, uint16_t channels);

/* How many bytes may be delivered now. A single piece may be larger, unless
 * this is 0; on_room says when it is above 0 again. O(1). */
size_t px_lib_room(void);

/* How many deliveries, from the first one on and in order, the tool's process
 * has read from its socket, with all messages that were sent for each.
 * Deliveries that no pull named count as soon as all before them do. The number
 * may lag behind, and never runs ahead of a tool that lives or was killed; a
 * tool that closes its connection counts as having read what had come to it by
 * then. No event says that the number has grown: ask now and then while it is
 * less than what was delivered. A few system calls. */
uint64_t px_lib_taken(void);

/* The first delivery after this one (0: of all) that no pull of the tool has
 * named; 0: none is known so far. It is known at the latest when px_lib_taken()
 * counts it. Only the last 256 are kept for a caller that has not asked for
 * long. O(1). */
uint64_t px_lib_missed(uint64_t behind);

#endif
