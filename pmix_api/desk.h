/* The desk is the part of a launcher that PMIx tools connect to: a port, which
 * tools find by the rendezvous files of PMIx, and for each tool a helper, a
 * process that serves this tool alone.
 *
 * One helper waits in reserve, with libpmix started in it: it gets the next
 * tool's connection, and another one is started. A helper ends with its tool,
 * and a tool with its helper; no other tool notices. A helper that cannot be
 * started, or ends before it is ready, is started again, with pauses that grow
 * up to 10 s. Once the port is open, this goes on as long as it takes, and
 * tools wait. If none of the first `tries_max` helpers becomes ready, the desk
 * closes its port for good.
 *
 * The helper's program has a socket of packets as its descriptor 3. Its first
 * packet, the text of libpmix's own rendezvous file, says that the helper is
 * ready. Then the desk sends it a packet of one byte with the tool's
 * connection. The helper's second packet acknowledges the connection; before
 * that the helper reads nothing from the tool. So if a helper ends earlier, or
 * is killed because its second packet is late, the tool loses nothing: the next
 * helper gets the connection. The third packet says that the tool has been let
 * in: the end of a helper is reported to the user only after this. When the
 * socket is closed, the helper must end.
 *
 * Everything runs in the event loop's thread, which blocks only for the end of
 * a process that it has killed. Bounds: PX_DESK_TOOLS_MAX tools, including
 * those that wait for their helper; five descriptors for each tool.
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
    const char *path;        /* the path of the helper's program */
    char *const *argv;       /* the arguments of the helper, with the program's
                                name first */
    const char *folder;      /* the folder for the rendezvous files; made with
                                the first helper */
    const char *job;         /* the namespace that tools look for */
    bool allows_user;        /* tools of our own user may connect */
    bool allows_root;        /* tools of root may connect */
    unsigned first_ms;       /* time until the first helper is started */
    unsigned take_ms;        /* time for a helper to acknowledge; by default
                                PX_DESK_TAKE_MS */
    unsigned pause_ms;       /* time before the second try; by default
                                PX_DESK_PAUSE_MS */
    unsigned tries_max;      /* first helpers that may fail; by default
                                PX_DESK_TRIES */
    /* Callbacks from the event loop, which may call no function of the desk.
     * on_up and on_given_up are called at most once each. on_up reports that
     * tools can connect, and the address. */
    void (*on_up)(void *arg, const char *uri);
    /* No tool can ever connect. */
    void (*on_given_up)(void *arg, const char *why);
    void (*on_say)(void *arg, const char *text); /* a message for the
                                                    user */
    /* A message that is shown with --verbose only. */
    void (*on_note)(void *arg, const char *text);
    void *arg;
};

/* Opens the desk; the first helper is started after first_ms. Returns 0 or
 * OV_ENOMEM; what fails later is reported by the callbacks. */
int px_desk_open(const struct px_desk_cfg *cfg, struct px_desk **out);
/* Sets that the first helper is started after this time, unless it was started
 * already. To be called once. */
void px_desk_start_in(struct px_desk *desk, unsigned ms);

/* Removes the files, and waits for helpers that serve tools to end, up to
 * PX_DESK_END_MS or until a signal; then they are killed. Before this is
 * called, the session must have told its clients, the helpers among them, that
 * it ends. No callback follows. NULL is fine. */
void px_desk_close(struct px_desk *desk);

/* The number of tools that are connected or wait for their helper. */
unsigned px_desk_tools(const struct px_desk *desk);

#endif
