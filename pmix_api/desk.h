/* The desk at which PMIx tools come to a session: a port that tools find by the
 * files of the standard, and for each tool a helper, a process that serves this
 * tool alone.
 *
 * One helper waits in reserve, with libpmix started in it: it gets the next
 * tool's connection, and another one is started. A helper ends with its tool,
 * and a tool with its helper; no other tool notices. A helper that cannot be
 * started, or ends before it is ready, is started again, with pauses that grow
 * up to 10 s. Once the port is open, this goes on as long as it takes, and
 * tools wait. If none of the first helpers becomes ready, the desk is given up
 * for good.
 *
 * The helper's program finds a socket of packets as its descriptor 3. With its
 * first packet it is ready: the text of libpmix's own rendezvous file. Then it
 * gets a packet of one byte with the tool's connection. Its second packet says
 * that it has taken the connection, and before that it reads nothing that the
 * tool has said. So a helper that ends earlier, or has not said so in time and
 * is killed, costs the tool nothing, as the next helper gets the tool. Its
 * third packet says that the tool has been let in: only from then on does its
 * end concern the user. When the socket is cut, the helper has to end.
 *
 * All in the loop's thread, which waits only for the end of a process that was
 * killed. Bounds: PX_DESK_TOOLS_MAX tools, with those whose helper has still to
 * start; five descriptors for each.
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
    struct event_base *base; /* borrowed, as all pointers here */
    const char *path;        /* of the helper's program */
    char *const *argv;       /* its words, with the name in front */
    const char *folder;      /* made with the first helper; gets the files */
    const char *job;         /* the namespace that tools look for */
    bool allows_user;        /* tools of our own user, */
    bool allows_root;        /* and of root */
    unsigned first_ms;       /* before the first helper is started */
    unsigned take_ms;   /* for taking a connection; usual: PX_DESK_TAKE_MS */
    unsigned pause_ms;  /* before the second try; usual: PX_DESK_PAUSE_MS */
    unsigned tries_max; /* before it is given up; usual: PX_DESK_TRIES */
    /* Called from the loop; they may call none of these functions. on_up and
     * on_given_up come once each. The first says that tools can come, to this
     * address. */
    void (*on_up)(void *arg, const char *uri);
    void (*on_given_up)(void *arg, const char *why); /* no tool can come */
    void (*on_say)(void *arg, const char *text);     /* for the user */
    /* For users who want to know all. */
    void (*on_note)(void *arg, const char *text);
    void *arg;
};

/* Opens the desk; the first helper is started after first_ms. Returns 0 or
 * OV_ENOMEM; what fails later is reported by the callbacks. */
int px_desk_open(const struct px_desk_cfg *cfg, struct px_desk **out);
/* Has the first helper started after this time, if it was not started yet. To
 * be called once. */
void px_desk_start_in(struct px_desk *desk, unsigned ms);

/* Removes the files, and waits for helpers that serve tools to end, up to
 * PX_DESK_END_MS or until a signal; then they are killed. The session must have
 * told them before that it ends. No callback follows. NULL is fine. */
void px_desk_close(struct px_desk *desk);

/* The number of tools. */
unsigned px_desk_tools(const struct px_desk *desk);

#endif
