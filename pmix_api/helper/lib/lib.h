/* Runs libpmix as a server for one tool, in a process of its own.
 *
 * This folder is the only place that touches libpmix, and no type of libpmix
 * leaves it. As the process serves one tool, it is known who asks. The process
 * ends with its tool, so no function closes the library.
 *
 * Threads: the caller calls all functions from one thread, and all callbacks
 * come in that thread, from px_lib_turn(). libpmix has threads of its own that
 * the caller never sees. This rule prevents a deadlock: a thread of libpmix may
 * wait for the caller, as it does while a request of the tool has no answer,
 * but the caller never waits for a thread of libpmix. So a caller that does not
 * call px_lib_turn() delays the tool, and nothing else.
 *
 * A callback may call any function except px_lib_open(), px_lib_dial() and
 * px_lib_turn(). Arguments of a callback are valid until it returns, unless its
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
    PX_LIB_BYTES_MAX = 1 << 20,         /* the most bytes of one delivery */
    PX_LIB_UNWRITTEN_BYTES = 768 << 10, /* most bytes waiting in libpmix */
};

/* A namespace that does not exist: no tool may be let in by this name. */
#define PX_LIB_NOBODY "xylem-nobody"

/* Callbacks for requests of the tool, and for what happens to it. */
struct px_lib_events {
    /* The tool wants to be let in. `wanted` is the name that it asks for, or
     * NULL. Call px_lib_admit() once, now or later. To refuse the tool end the
     * process, as libpmix crashes when the answer is a refusal. */
    void (*on_tool)(void *arg, const struct px_lib_name *wanted);
    /* The tool has been let in, if it is still connected. Called once. */
    void (*on_in)(void *arg);
    /* Call px_lib_answer_pull() once, now or later; until then libpmix does
     * nothing else. After any answer but PX_LIB_YES libpmix keeps the pull all
     * the same, in all releases: it sends the tool what the pull names, and the
     * tool shows that.
     */
    void (*on_pull)(void *arg, const struct px_lib_pull *pull);
    /* The tool has deregistered a pull; libpmix does not say which. */
    void (*on_stop)(void *arg);
    /* Call px_lib_answer() once, now or later. */
    void (*on_push)(void *arg, const struct px_lib_push *push);
    /* These requests need an answer, too: see request.h. */
    void (*on_query)(void *arg, const struct px_lib_query *query);
    void (*on_spawn)(void *arg, const struct px_lib_spawn *spawn);
    void (*on_control)(void *arg, const struct px_lib_control *control);
    void (*on_log)(void *arg, const struct px_lib_log *log);
    /* The tool has notified an event: `mem` is for px_lib_event_of() in other
     * helpers. Events for the server only come, too, as libpmix does not mark
     * them; events for the tool itself do not. */
    void (*on_event)(void *arg, const void *mem, size_t len_bytes);
    /* A sentence for the user: why a request was refused unseen by callbacks.
     */
    void (*on_note)(void *arg, const char *text);
    /* px_lib_room() was 0, and is larger now. */
    void (*on_room)(void *arg);
    /* The tool has disconnected. Called once, after all its requests. */
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
    const char *nspace; /* the namespace of the process; `rank` is its rank */
    uint32_t rank;
    uint16_t channel; /* the channel: one bit */
    const void *mem;  /* copied, unless it is within `block` */
    void *block;      /* from malloc(), then owned by libpmix; NULL: none */
    size_t len_bytes; /* at most PX_LIB_BYTES_MAX, may be 0 */
    bool is_end;      /* the channel ends with this piece */
    /* The piece is for a pull, so the tool's library must not show it. */
    bool is_pulled;
    uint64_t dropped_bytes; /* bytes dropped just before this piece */
    uint64_t before_bytes;  /* bytes before its pull that were not kept */
};

/* Starts libpmix as a server. To be called once, before the process has other
 * threads, as it changes the environment. Blocks for some tens of ms. Returns
 * NULL; or a sentence that says what went wrong, and libpmix cannot be used. */
const char *px_lib_open(const struct px_lib_cfg *cfg);

/* The text of the rendezvous file that libpmix wrote about itself. Connections
 * to the port in its first line are closed. Never freed. */
const char *px_lib_rendezvous(void);

/* Hands the tool's connected TCP socket to libpmix, which owns it from then on.
 * To be called once. Returns 0, or OV_ESYS: the caller keeps the socket. */
int px_lib_dial(int fd);

/* True while the tool is connected. libpmix disconnects a tool whose credential
 * it refuses, after on_in and silently. A system call.
 */
bool px_lib_has_tool(void);

/* A descriptor that is readable when px_lib_turn() has something to do. */
int px_lib_fd(void);
/* Calls the callbacks that are due. Does not wait. */
void px_lib_turn(void);

/* Lets the tool in under this name. */
void px_lib_admit(const struct px_lib_name *given);
/* Answers the pull that waits for its answer. */
void px_lib_answer_pull(enum px_lib_answer answer);

/* Answers a request that has a `call`; the call must not be used after that. To
 * answer a query or a spawn with PX_LIB_YES use the functions below. */
void px_lib_answer(void *call, enum px_lib_answer answer);

/* Answers a query with an info for each known key: with PX_LIB_YES when all
 * keys of the query are known, else with PX_LIB_PARTIAL. The infos are copied.
 * When memory is out, the answer says so. O(infos).
 */
void px_lib_answer_query(void *call, enum px_lib_answer answer,
                         const struct px_lib_info *infos, size_t count);

/* Answers a spawn whose processes all run; px_lib_job() must have been called
 * for the namespace. From now on, deliveries of the job go to the tool without
 * a pull, for channels that the spawn forwards, and to all pulls that name
 * them. The tool's library writes the former to its own stdout and stderr;
 * libpmix 4.2 may then join unfinished lines of several processes. */
void px_lib_answer_spawn(void *call, const char *nspace);

/* The keys that on_spawn knows, separated by commas. Never freed. */
const char *px_lib_spawn_keys(void);

/* px_lib_job() registers a namespace of this many processes with libpmix, so
 * that the tool can ask about it; px_lib_job_end() removes it and its events.
 * Neither waits. They return 0, OV_EINVAL for too long a name, or OV_ENOMEM. */
int px_lib_job(const char *nspace, uint32_t size);
int px_lib_job_end(const char *nspace);

/* Sends the tool an event, now or when it registers for such events, in the
 * order of the calls and after output that was delivered before. It copies.
 * Returns 0; OV_EINVAL for a code of no event; or OV_ENOMEM.
 */
int px_lib_event(enum px_lib_status code, const struct px_lib_name *source,
                 const struct px_lib_info *infos, size_t count);

/* Sends the tool an event of another tool: `mem` is from on_event in the other
 * tool's helper, which must use the same release of libpmix. Returns 0,
 * OV_EPROTO for other bytes, or OV_ENOMEM. */
int px_lib_event_of(const void *mem, size_t len_bytes);

/* Makes libpmix read from the tool slowly, or again at full speed, while the
 * tool's library reads stdin and pushes it without waiting for answers: each
 * push then takes a few ms longer, and output waits meanwhile. */
void px_lib_slow(bool is_slow);

/* Delivers a piece of output to each pull of the tool that names its process
 * and channel; there may be several or none. Returns 0; OV_EFULL when
 * px_lib_room() is 0; OV_EINVAL when it is too large or its names are too long;
 * OV_ECLOSED when no tool is connected; or OV_ENOMEM. After an error the piece
 * does not count as a delivery. O(len_bytes). */
int px_lib_deliver(const struct px_lib_output *output);

/* Keeps deliveries of these channels that libpmix has not handled yet from all
 * pulls. Allowed only while a pull waits for its answer. O(such deliveries). */
void px_lib_withhold(const char *nspace, uint32_t rank, uint16_t channels);

/* How many bytes may be delivered now. Unless this is 0, a single piece may be
 * larger. After 0, on_room is called when there is room again. O(1). */
size_t px_lib_room(void);

/* How many deliveries, from the first one on and in order, the tool's process
 * has read from its socket, with all messages that were sent for each.
 * Deliveries that no pull named count as soon as all before them do. The number
 * may lag behind, and never runs ahead of a tool that lives or was killed; a
 * tool that closes its connection counts as having read what had come to it by
 * then. No event says that the number has grown: ask now and then while it is
 * less than what was delivered. A few system calls. */
uint64_t px_lib_taken(void);

/* Returns the first delivery after number `behind` that no pull has named; 0:
 * none is known so far. This is known at the latest when px_lib_taken() counts
 * the delivery. Only the last 256 are remembered. O(1). */
uint64_t px_lib_missed(uint64_t behind);

#endif
