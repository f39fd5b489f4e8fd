/* The tools that are connected: who may come in, who is there, who is stuck.
 *
 * The library's thread admits and forgets them, the main thread watches their
 * sockets; every call takes the lock.
 */
#ifndef PMIX_API_HELPER_TOOLS_H
#define PMIX_API_HELPER_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/helper/sockets.h"

enum {
    TOOLS_MAX = 64,
    TOOLS_GREET_MS = 500, /* between two looks at connections */
};

/* The server listens on this port; `allow` says who may come in, PX_ALLOW_USER
 * being the user of this process. */
void px_tools_open(uint16_t port, uint8_t allow);

/* The library reads what a connection says first: if this is a tool, it asks to
 * come in next. In the library's thread. */
void px_tools_greet(int fd);

/* A tool asks to come in, with a name of its own or (NULL) without. Finds its
 * socket and who holds it: the user of this process and root may come in, but
 * not by the name of another tool, a job or a server.
 * Returns true and its name in *out; or false: its connection was closed, and
 * the library must not be answered, which then never looks at it again. In the
 * library's thread. */
bool px_tools_admit(const pmix_proc_t *given, pmix_proc_t *out);

/* A tool that has gone. */
struct px_gone {
    pmix_proc_t name;
    unsigned entries; /* of its namespace in the library, all of which are to
                         go; 0: another tool has that namespace, too */
};

/* Forgets one whose socket the library has closed; false: there is none. In the
 * library's thread. */
bool px_tools_reap(struct px_gone *gone);

unsigned px_tools_count(void);

/* This is the socket of a tool that has not gone. */
bool px_tools_has(const struct px_socket *sock);
bool px_tools_has_fd(int fd);

/* Ends connections that say nothing at two looks, nor who they are, or at three
 * where there is but one, and at once those of others' processes: each of them
 * stops the library's thread.
 * Returns true when one is left that may become such. Call it that often. */
bool px_tools_sweep(void);

/* What the kernel holds for all of them that they have not taken. */
uint64_t px_tools_unsent_bytes(void);

/* Ends the connection of a tool. */
void px_tools_end(const pmix_proc_t *name);

#endif
