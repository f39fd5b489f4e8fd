/* Between the library's own functions: who asks, and who gets what.
 *
 * PMIx_server_IOF_deliver gives output to every tool that wants it, and the
 * upcall for a pull does not say whose it is: a tool that takes nothing would
 * hold up the others, and what one asks to have from before would come to all.
 * Inside, the library asks one function for each request whether a delivery is
 * for it (pmix_iof_process_iof), names the tool to others
 * (pmix_server_iofreg, pmix_server_spawn, pmix_ptl_base_send_handler), and
 * reads the processes of a request with a further one
 * (pmix_bfrops_base_unpack_proc). It exports them for its plugins and calls
 * them as such, so definitions in this program come first; each of them calls
 * the library's. Their arguments are the same from 4.2 to 6.0; what they point
 * to is never looked into.
 *
 * Two more are for tools that connect. One reads what a tool says first
 * (pmix_ptl_base_recv_blocking): the upcall for a tool does not say through
 * which descriptor. The other one sends it the answer
 * (pmix_ptl_base_send_blocking). Where that fails, since the tool has died
 * meanwhile, the library takes the tool's namespace out of a list that it is
 * not yet in, by a null pointer. So it never fails here: the tool comes in, its
 * end is read next, and it has gone as any other one goes.
 *
 * And one is for queries (PMIx_Query_info_nb, by which the server answers those
 * of tools). It looks into what the library remembers first, and falls over
 * some: a query without a key, a rank without a namespace, and all that ask
 * for the attributes that are supported, whose answer it gives to the wrong
 * argument. They go past that to our side.
 *
 * One is for events (pmix_server_notify_client_of_event). The library keeps
 * them for tools that come late, also the one that a tool has gone, which it
 * means for this tool: the next one of that name would be told that it has
 * itself. What is for one process alone is not kept.
 *
 * The last three are not the library's but libc's: read, while the library
 * reads from a tool (pmix_ptl_base_recv_handler), as it loses what comes of a
 * head before the rest of it (helper/head.h); and as an end of the stream says
 * that the tool has read everything, for a socket that is closed with something
 * in it resets the connection (RFC 1122, 4.2.2.13). writev, by which it writes
 * a message to a tool, header and body, in as many parts as that takes: how
 * much of its queue has left is told by nothing else (helper/lag.h). And
 * accept: the library takes all connections that come, as long as there are
 * descriptors, and where it fails it never listens again. So it never fails
 * here but by "not now" (helper/gate.h).
 *
 * Where a library was linked so that it calls them directly, px_hooks_try()
 * says so, and only one pull at a time is served (helper/server.c).
 *
 * All but px_hooks_try() in the library's thread, or that of its listener.
 */
#ifndef PMIX_API_HELPER_HOOKS_H
#define PMIX_API_HELPER_HOOKS_H

#include <stdbool.h>

#include <pmix_server.h>

struct px_write;

/* What is asked of our side; requests and tools are mere names. */
struct px_hooks {
    /* Is this delivery for that request? */
    bool (*on_match)(const pmix_proc_t *source, const void *request);
    /* The pull, deregistration or spawn that follows is that tool's; NULL:
     * over. */
    void (*on_asker)(const void *tool);
    /* The tool is about to deregister something. */
    void (*on_deregister)(const void *tool);
    /* The library has queued a delivery, as on_match() wanted. */
    void (*on_queued)(const pmix_proc_t *source);
    /* It writes to the tool through this descriptor, and has done so. */
    void (*on_socket)(const void *tool, int fd);
    void (*on_write)(const void *tool, const struct px_write *write);
    /* The tool has closed its end, and has read all that was in it. */
    void (*on_closed)(const void *tool);
    /* The library reads here what a connection says first. */
    void (*on_greeting)(int fd);
    /* It is to accept a connection, if that is true; it has done so, or it
     * could not (-1), as for want of a descriptor. */
    bool (*on_accept)(void);
    void (*on_accepted)(int fd);
    /* As px_query(). */
    pmix_status_t (*on_query)(pmix_proc_t *asker, pmix_query_t *queries,
                              size_t nqueries, pmix_info_cbfunc_t answer,
                              void *arg);
};

/* Once, before the library is started. False: the library lacks them. */
bool px_hooks_open(const struct px_hooks *hooks);

/* The library's own answer to queries for attributes. It comes with another
 * argument; one answer for each call, in their order, in the library's
 * thread. */
pmix_status_t px_hooks_support(pmix_query_t *queries, size_t nqueries,
                               pmix_info_cbfunc_t answer);

/* A server has been started: does it come by here? Blocks. */
bool px_hooks_try(void);

/* As PMIx_server_IOF_deliver, at once, to one request. True: it is queued. */
bool px_hooks_give(pmix_iof_channel_t channel, const pmix_proc_t *source,
                   const pmix_byte_object_t *bytes, const pmix_info_t *info,
                   size_t infos, const void *request);

#endif
