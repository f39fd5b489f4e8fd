/* libpmix, as a server for one tool in a process of its own.
 *
 * This folder is the only place that touches libpmix, and no type of libpmix
 * leaves it. The process that uses it serves exactly one tool, so who asks is
 * always known, and it ends with the tool: there is no close.
 *
 * Threads: all calls are the caller's, from one thread, and all callbacks come
 * in that thread, from px_lib_turn(). libpmix has threads of its own that the
 * caller never sees. The rule that keeps this free of deadlock: a thread of
 * libpmix may wait for the caller, as it does while a request of the tool has
 * no answer, but the caller never waits for a thread of libpmix. So a caller
 * that does not come to px_lib_turn() holds up the tool, and nobody else.
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

/* A namespace that nobody has: none may be let in by this name. */
#define PX_LIB_NOBODY "xylem-nobody"

/* What the tool asks for, and what becomes of it. */
struct px_lib_events {
    /* The tool wants in. `wanted` is the name that it brought, NULL where it
     * brought none. Is to be answered once by px_lib_admit(), now or later. One
     * that is refused gets no answer, for libpmix crashes on any but that: the
     * process is to end. */
    void (*on_tool)(void *arg, const struct px_lib_name *wanted);
    /* The tool has that answer, as far as its connection lives. Once. */
    void (*on_in)(void *arg);
    /* Is to be answered once by px_lib_answer_pull(), now or later; until then
     * libpmix does nothing else. A pull that is not answered with PX_LIB_YES
     * stays registered in libpmix all the same, in all releases: what is
     * delivered that it names is sent for it, too, and the library of the tool
     * shows that by itself. */
    void (*on_pull)(void *arg, const struct px_lib_pull *pull);
    /* The tool has deregistered a pull; libpmix does not say which. */
    void (*on_stop)(void *arg);
    /* Is to be answered once by px_lib_answer(), now or later. */
    void (*on_push)(void *arg, const struct px_lib_push *push);
    /* These, too: see request.h. */
    void (*on_query)(void *arg, const struct px_lib_query *query);
    void (*on_spawn)(void *arg, const struct px_lib_spawn *spawn);
    void (*on_control)(void *arg, const struct px_lib_control *control);
    void (*on_log)(void *arg, const struct px_lib_log *log);
    /* The tool has notified an event: bytes for px_lib_event_of() of others.
     * One that is for the server alone comes, too, as libpmix does not tell it
     * from those for the machine; one for the tool itself does not. */
    void (*on_event)(void *arg, const void *mem, size_t len_bytes);
    /* Why something was refused that the other callbacks never saw; words for
     * a user. */
    void (*on_note)(void *arg, const char *text);
    /* px_lib_room() has grown since it was 0. */
    void (*on_room)(void *arg);
    /* The tool has left, or died; comes once, behind all that it had said. */
    void (*on_gone)(void *arg);
};

struct px_lib_cfg {
    const char *nspace; /* of the server that the tool sees */
    uint32_t rank;
    const char *dir; /* a folder is made below it, and removed again */
    /* Keys and qualifiers that on_query knows, for tools that ask what is
     * supported; NULL-terminated, borrowed until px_lib_open() returns. */
    const char *const *query_keys;
    const struct px_lib_events *events; /* borrowed for good */
    void *arg;                          /* of each callback */
};

/* One piece of output. */
struct px_lib_output {
    const char *nspace; /* its process, */
    uint32_t rank;
    uint16_t channel; /* and channel: one bit */
    const void *mem;  /* copied, but where it lies in */
    void *block;      /* this, of malloc(), which is the library's from then on;
                         NULL: it does not */
    size_t len_bytes; /* at most PX_LIB_BYTES_MAX, may be 0 */
    bool is_end;      /* the channel's last */
    /* A pull has it: the library of the tool does not show it by itself, where
     * a spawn forwards it. */
    bool is_pulled;
    uint64_t dropped_bytes; /* that are missing before it; 0: none */
    uint64_t before_bytes;  /* that came before the pull and were not kept */
};

/* Starts libpmix as a server. Once in the life of the process, before it has
 * other threads: the environment is changed. Blocks for some tens of
 * milliseconds. Returns NULL, or in words what went wrong; the process can do
 * nothing with libpmix then. */
const char *px_lib_open(const struct px_lib_cfg *cfg);

/* The rendezvous file that libpmix wrote of itself: the text, with the address
 * of a port that lets nobody in in its first line. Valid for good. */
const char *px_lib_rendezvous(void);

/* Hands the tool's connected TCP socket to libpmix, which owns it from now on.
 * Exactly once. Returns 0, or OV_ESYS: the socket is still the caller's. */
int px_lib_dial(int fd);

/* Its connection is still there: libpmix closes that of a tool whose credential
 * it does not take, after on_in, and says so to nobody. A system call. */
bool px_lib_has_tool(void);

/* Readable when px_lib_turn() has something to do. */
int px_lib_fd(void);

/* Calls the callbacks that are due, and returns. Does not wait. */
void px_lib_turn(void);

/* The tool is let in under this name. */
void px_lib_admit(const struct px_lib_name *given);

/* Answers the pull that waits. */
void px_lib_answer_pull(enum px_lib_answer answer);

/* Answers what has a `call`, once; that is not valid any more then. Of a query
 * or a spawn anything but PX_LIB_YES. */
void px_lib_answer(void *call, enum px_lib_answer answer);

/* Answers a query: an info for each key that is known. PX_LIB_YES when that is
 * all of them, else PX_LIB_PARTIAL; the infos are copied. Where memory is out
 * the tool is told so. O(all that is in them). */
void px_lib_answer_query(void *call, enum px_lib_answer answer,
                         const struct px_lib_info *infos, size_t count);

/* Answers a spawn: all processes run. px_lib_job() of the namespace comes
 * before that. What is delivered of the job from now on goes to the tool
 * unasked where the spawn forwards it, and to all pulls that name it; its
 * library writes what no pull has to its own stdout and stderr, and puts open
 * lines of several processes together (libpmix 4.2). */
void px_lib_answer_spawn(void *call, const char *nspace);

/* The keys that on_spawn knows, with commas between. Valid for good. */
const char *px_lib_spawn_keys(void);

/* Makes a namespace of so many processes known to the tool's queries, or
 * forgets it, and its events. Do not wait for libpmix. Returns 0, OV_EINVAL for
 * a name that is too long, or OV_ENOMEM. */
int px_lib_job(const char *nspace, uint32_t size);
int px_lib_job_end(const char *nspace);

/* Tells the tool of an event, now or when it asks to hear of such, in the order
 * of the calls and behind what was delivered before. Copied. Returns 0;
 * OV_EINVAL for a code that is none of an event; OV_ENOMEM. */
int px_lib_event(enum px_lib_status code, const struct px_lib_name *source,
                 const struct px_lib_info *infos, size_t count);

/* Tells it of one that another tool has notified, by what on_event has given,
 * of the same libpmix. Returns 0, OV_EPROTO for other bytes, or OV_ENOMEM. */
int px_lib_event_of(const void *mem, size_t len_bytes);

/* The tool is read more slowly from now on while its library collects its
 * stdin, which waits for no answer: a few ms for each push; or no more so. Its
 * output waits meanwhile, too. */
void px_lib_slow(bool is_slow);

/* Gives a piece of output to each pull of the tool that names it, which may be
 * several or none. Returns 0; OV_EFULL where px_lib_room() is 0, OV_EINVAL
 * where it is too large or its names are too long, OV_ECLOSED where no tool was
 * handed in, OV_ENOMEM: it does not count then. O(len_bytes). */
int px_lib_deliver(const struct px_lib_output *output);

/* While a pull waits for its answer: no pull gets what was delivered of these
 * channels and libpmix has yet to handle. O(such deliveries). */
void px_lib_withhold(const char *nspace, uint32_t rank, uint16_t channels);

/* How many bytes may be delivered now. A piece may be larger than that as long
 * as it is not 0; where it is 0 on_room says when it is not any more. O(1). */
size_t px_lib_room(void);

/* How many deliveries, from the first one on and in order, the tool's process
 * has read from its socket, all that was sent for each of them; those that no
 * pull named count as soon as all before them do. It may lag behind, and never
 * runs ahead of a tool that lives or was killed; one that closes its
 * connection counts as having read what had come to it by then. No event tells
 * that it has grown: ask now and then while it is less than what was delivered.
 * A few system calls. */
uint64_t px_lib_taken(void);

/* The first delivery behind this one (0: of all) that no pull of the tool has
 * named; 0: none is known so far. One that px_lib_taken() counts is known by
 * then. Of many that nobody has asked for only the last 256 are. O(1). */
uint64_t px_lib_missed(uint64_t behind);

#endif
