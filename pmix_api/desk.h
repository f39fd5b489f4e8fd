/* The desk at which PMIx tools come to a session: a port that is found by the
 * files of the standard, and for each tool a helper, a process that serves it
 * alone.
 *
 * One helper waits in reserve, with libpmix started in it: it gets the next
 * tool's connection, and another one is started. A helper ends with its tool,
 * and a tool with its helper; nobody else notices. A helper that cannot be
 * started, or ends before it is ready, is started again, with pauses that grow
 * up to 10 s: as long as it takes once the port is open, and tools wait; where
 * none of the first ones comes up it is given up for good.
 *
 * The helper's program finds, as its descriptor 3, a socket of packets. Its
 * first packet is the text of libpmix's own rendezvous file: it is ready. Then
 * it gets one of a byte, with the tool's connection. Its second packet says
 * that it has taken it, and nothing of what the tool has said was read before
 * that: a helper that ends earlier, or has not said so in time and is killed,
 * costs the tool nothing, as the next helper gets it. Its third packet says
 * that the tool has been let in: only then its end by itself is worth a word to
 * all. When that socket is cut it is to end.
 *
 * All in the loop's thread; only the end of a process that was killed is waited
 * for. Bounds: PX_DESK_TOOLS_MAX tools, with those whose helper is still to
 * come up; five descriptors for each.
 */
#ifndef PMIX_API_DESK_H
#define PMIX_API_DESK_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct px_desk;

enum {
    PX_DESK_TOOLS_MAX = 64,
    PX_DESK_PAUSE_MS = 200,
    PX_DESK_TRIES = 8,
    PX_DESK_TAKE_MS = 5000,
    PX_DESK_END_MS = 12000,
};

struct px_desk_cfg {
    struct event_base *base; /* borrowed, as all that is here */
    const char *path;        /* of the helper's program */
    char *const *argv;       /* its words, the first one too */
    const char *folder;      /* made with the first helper; gets the files */
    const char *job;         /* the namespace that tools look for */
    bool allows_user;        /* tools of our own user, */
    bool allows_root;        /* and of root */
    unsigned first_ms;       /* before the first helper is started */
    unsigned take_ms;  /* to take a tool's connection; usual: PX_DESK_TAKE_MS */
    unsigned pause_ms; /* before the second try; usual: PX_DESK_PAUSE_MS */
    unsigned tries_max; /* until a first one comes up; usual: PX_DESK_TRIES */
    /* From the loop; they call none of these functions. Once each: tools can
     * come, to there; nobody else can. */
    void (*on_up)(void *arg, const char *uri);
    void (*on_given_up)(void *arg, const char *why); /* nobody else can */
    void (*on_say)(void *arg, const char *text);     /* to the user */
    void (*on_note)(void *arg, const char *text);    /* who wants to know all */
    void *arg;
};

/* Starts the first helper, in time. Returns 0 or OV_ENOMEM; what fails later is
 * told. */
int px_desk_open(const struct px_desk_cfg *cfg, struct px_desk **out);
/* The first helper is started after so long, if it was not yet; once. */
void px_desk_start_in(struct px_desk *desk, unsigned ms);

/* Removes the files, and waits for helpers that serve tools to end, up to
 * PX_DESK_END_MS or a signal: then they are killed. The session's words to them
 * are to have ended before. No callback follows. NULL is fine. */
void px_desk_close(struct px_desk *desk);

/* Tools that are there. */
unsigned px_desk_tools(const struct px_desk *desk);

#endif
