/* Functions of the library that come by here first. */
#include "config.h"

#include "pmix_api/helper/hooks.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "pmix_api/helper/gate.h"
#include "pmix_api/helper/head.h"
#include "pmix_api/helper/lag.h"

#define OF_LIBRARY(name) __asm__(name) __attribute__((visibility("default")))

/* A message's head, as it is on the wire. */
enum { HEAD_TAG = 4, HEAD_TAG_BYTES = 4, TAG_OUTPUT = 2 };

typedef void (*function)(void);

pmix_status_t
px_hook_process(pmix_iof_channel_t channel, const pmix_proc_t *source,
                const pmix_byte_object_t *bytes, const pmix_info_t *info,
                size_t infos, const void *request)
    OF_LIBRARY("pmix_iof_process_iof");
pmix_status_t px_hook_pull(void *tool, void *buffer, pmix_op_cbfunc_t answer,
                           void *arg) OF_LIBRARY("pmix_server_iofreg");
pmix_status_t px_hook_deregister(void *tool, void *buffer,
                                 pmix_op_cbfunc_t answer, void *arg)
    OF_LIBRARY("pmix_server_iofdereg");
pmix_status_t px_hook_spawn(void *tool, void *buffer,
                            pmix_spawn_cbfunc_t answer, void *arg)
    OF_LIBRARY("pmix_server_spawn");
void px_hook_send(int fd, short what, void *tool)
    OF_LIBRARY("pmix_ptl_base_send_handler");
void px_hook_receive(int fd, short what, void *tool)
    OF_LIBRARY("pmix_ptl_base_recv_handler");
pmix_status_t px_hook_hear(int fd, char *mem, size_t bytes)
    OF_LIBRARY("pmix_ptl_base_recv_blocking");
pmix_status_t px_hook_answer(int fd, char *mem, size_t bytes)
    OF_LIBRARY("pmix_ptl_base_send_blocking");
pmix_status_t px_hook_query(pmix_query_t *queries, size_t nqueries,
                            pmix_info_cbfunc_t answer, void *arg)
    OF_LIBRARY("PMIx_Query_info_nb");
pmix_status_t px_hook_notify(pmix_status_t code, const pmix_proc_t *source,
                             pmix_data_range_t range, const pmix_info_t *info,
                             size_t infos, pmix_op_cbfunc_t done, void *arg)
    OF_LIBRARY("pmix_server_notify_client_of_event");
ssize_t px_hook_writev(int fd, const struct iovec *parts, int count)
    OF_LIBRARY("writev");
ssize_t px_hook_read(int fd, void *mem, size_t bytes) OF_LIBRARY("read");
int px_hook_accept(int fd, struct sockaddr *address, socklen_t *len)
    OF_LIBRARY("accept");

static struct {
    const struct px_hooks *ours;
    pmix_status_t (*process)(pmix_iof_channel_t, const pmix_proc_t *,
                             const pmix_byte_object_t *, const pmix_info_t *,
                             size_t, const void *);
    pmix_status_t (*pull)(void *, void *, pmix_op_cbfunc_t, void *);
    pmix_status_t (*deregister)(void *, void *, pmix_op_cbfunc_t, void *);
    pmix_status_t (*spawn)(void *, void *, pmix_spawn_cbfunc_t, void *);
    void (*send)(int, short, void *);
    void (*receive)(int, short, void *);
    pmix_status_t (*hear)(int, char *, size_t);
    pmix_status_t (*answer)(int, char *, size_t);
    pmix_status_t (*query)(pmix_query_t *, size_t, pmix_info_cbfunc_t, void *);
    pmix_status_t (*notify)(pmix_status_t, const pmix_proc_t *,
                            pmix_data_range_t, const pmix_info_t *, size_t,
                            pmix_op_cbfunc_t, void *);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*read)(int, void *, size_t);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    bool was_asked;
} hooks;

static _Thread_local const void *receiver; /* who is written to; NULL: nobody */
static _Thread_local const void *sender;   /* who is read from, */
static _Thread_local int reading = -1;     /* at this socket; -1: nobody */

static bool find(const char *name, void *out)
{
    function found = (function)(uintptr_t)dlsym(RTLD_NEXT, name);

    memcpy(out, &found, sizeof(found));
    return found != NULL;
}

bool px_hooks_open(const struct px_hooks *ours)
{
    hooks.ours = ours;
    find("pmix_ptl_base_recv_blocking", &hooks.hear); /* may be missing, */
    find("pmix_ptl_base_send_blocking", &hooks.answer);
    find("pmix_server_notify_client_of_event", &hooks.notify); /* as these */
    return find("pmix_iof_process_iof", &hooks.process) &&
           find("pmix_server_iofreg", &hooks.pull) &&
           find("pmix_server_iofdereg", &hooks.deregister) &&
           find("pmix_server_spawn", &hooks.spawn) &&
           find("PMIx_Query_info_nb", &hooks.query) &&
           find("pmix_ptl_base_send_handler", &hooks.send) &&
           find("pmix_ptl_base_recv_handler", &hooks.receive) &&
           find("writev", &hooks.writev);
}

/* A request of the server itself, which gets nothing: it is there to be asked
 * about. The library keeps the delivery, see bind() of helper/pulls.c; no tool
 * may have asked before, as the delivery also names requests that are no pulls.
 */
bool px_hooks_try(void)
{
    static const pmix_proc_t nobody = {.nspace = "xylem-nobody", .rank = 0};
    static const pmix_byte_object_t nothing = {"", 0};

    PMIx_IOF_pull(&nobody, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, NULL, NULL,
                  NULL);
    PMIx_server_IOF_deliver(&nobody, PMIX_FWD_STDOUT_CHANNEL, &nothing, NULL, 0,
                            NULL, NULL);
    return hooks.was_asked;
}

bool px_hooks_give(pmix_iof_channel_t channel, const pmix_proc_t *source,
                   const pmix_byte_object_t *bytes, const pmix_info_t *info,
                   size_t infos, const void *request)
{
    return hooks.process(channel, source, bytes, info, infos, request) ==
           PMIX_OPERATION_SUCCEEDED;
}

/* SUCCEEDED says that somebody has it: the library does not keep it then. */
pmix_status_t px_hook_process(pmix_iof_channel_t channel,
                              const pmix_proc_t *source,
                              const pmix_byte_object_t *bytes,
                              const pmix_info_t *info, size_t infos,
                              const void *request)
{
    pmix_status_t rc;

    hooks.was_asked = true;
    if (hooks.ours->on_match(source, request)) {
        rc = hooks.process(channel, source, bytes, info, infos, request);
        if (rc == PMIX_OPERATION_SUCCEEDED)
            hooks.ours->on_queued(source);
        return rc;
    }
    return strcmp(source->nspace, "xylem-nobody") == 0
               ? PMIX_SUCCESS
               : PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t px_hook_pull(void *tool, void *buffer, pmix_op_cbfunc_t answer,
                           void *arg)
{
    pmix_status_t rc;

    hooks.ours->on_asker(tool);
    rc = hooks.pull(tool, buffer, answer, arg);
    hooks.ours->on_asker(NULL);
    return rc;
}

pmix_status_t px_hook_deregister(void *tool, void *buffer,
                                 pmix_op_cbfunc_t answer, void *arg)
{
    pmix_status_t rc;

    hooks.ours->on_deregister(tool);
    hooks.ours->on_asker(tool);
    rc = hooks.deregister(tool, buffer, answer, arg);
    hooks.ours->on_asker(NULL);
    return rc;
}

pmix_status_t px_hook_spawn(void *tool, void *buffer,
                            pmix_spawn_cbfunc_t answer, void *arg)
{
    pmix_status_t rc;

    hooks.ours->on_asker(tool);
    rc = hooks.spawn(tool, buffer, answer, arg);
    hooks.ours->on_asker(NULL);
    return rc;
}

/* The library makes a copy of what it is given. */
static pmix_status_t notify_once(pmix_status_t code, const pmix_proc_t *source,
                                 pmix_data_range_t range,
                                 const pmix_info_t *info, size_t infos,
                                 pmix_op_cbfunc_t done, void *arg)
{
    pmix_info_t *more = calloc(infos + 1, sizeof(*more));
    bool yes = true;
    pmix_status_t rc;

    if (more == NULL)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < infos; i++)
        more[i] = info[i];
    PMIX_INFO_LOAD(&more[infos], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    rc = hooks.notify(code, source, range, more, infos + 1, done, arg);
    free(more);
    return rc;
}

pmix_status_t px_hook_notify(pmix_status_t code, const pmix_proc_t *source,
                             pmix_data_range_t range, const pmix_info_t *info,
                             size_t infos, pmix_op_cbfunc_t done, void *arg)
{
    return range == PMIX_RANGE_PROC_LOCAL
               ? notify_once(code, source, range, info, infos, done, arg)
               : hooks.notify(code, source, range, info, infos, done, arg);
}

void px_hook_send(int fd, short what, void *tool)
{
    hooks.ours->on_socket(tool, fd);
    receiver = tool;
    hooks.send(fd, what, tool);
    receiver = NULL;
}

static bool is_output(const struct iovec *head)
{
    uint32_t tag;

    if (head->iov_len < HEAD_TAG + HEAD_TAG_BYTES)
        return false;
    memcpy(&tag, (const char *)head->iov_base + HEAD_TAG, sizeof(tag));
    return ntohl(tag) == TAG_OUTPUT;
}

static void tell(const struct iovec *parts, int count, size_t bytes)
{
    struct px_write write = {.bytes = bytes};
    size_t asked = 0;

    for (int i = 0; i < count; i++)
        asked += parts[i].iov_len;
    write.is_whole = bytes == asked;
    write.is_delivery = count > 0 && is_output(&parts[0]);
    hooks.ours->on_write(receiver, &write);
}

/* The library of a tool loses the head of a message of which it reads a part
 * (4.2.2): what it read before the rest had come is forgotten, and whatever
 * follows is taken for a head. So no segment ends within a head: each message
 * begins one, as nothing is put behind a message in its last one. */
static ssize_t send_message(int fd, const struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts,
                             .msg_iovlen = (size_t)count};

    return sendmsg(fd, &message, MSG_EOR | MSG_NOSIGNAL);
}

ssize_t px_hook_writev(int fd, const struct iovec *parts, int count)
{
    ssize_t done;

    if (hooks.writev == NULL && !find("writev", &hooks.writev)) {
        errno = ENOSYS;
        return -1;
    }
    if (receiver == NULL)
        return hooks.writev(fd, parts, count);
    done = send_message(fd, parts, count);
    if (done > 0)
        tell(parts, count, (size_t)done);
    return done;
}

void px_hook_receive(int fd, short what, void *tool)
{
    sender = tool;
    reading = fd;
    hooks.receive(fd, what, tool);
    reading = -1;
}

static ssize_t read_tool(int fd, void *mem, size_t bytes)
{
    ssize_t got = px_head_is_one(fd, bytes)
                      ? px_head_read(fd, mem, bytes, hooks.read)
                      : hooks.read(fd, mem, bytes);

    if (got == 0 && bytes > 0)
        hooks.ours->on_closed(sender);
    return got;
}

ssize_t px_hook_read(int fd, void *mem, size_t bytes)
{
    if (hooks.read == NULL && !find("read", &hooks.read)) {
        errno = ENOSYS;
        return -1;
    }
    return fd == reading ? read_tool(fd, mem, bytes)
                         : hooks.read(fd, mem, bytes);
}

pmix_status_t px_hook_hear(int fd, char *mem, size_t bytes)
{
    hooks.ours->on_greeting(fd);
    return hooks.hear(fd, mem, bytes);
}

/* Of the connection, or for want of something: the listener is as it was. */
static bool is_passing(int error)
{
    return error != EBADF && error != ENOTSOCK && error != EINVAL;
}

/* The last segment of a message is a small one and ends with it: it does not
 * wait for the tool to acknowledge what is before, or for the next message. */
static void set_hasty(int fd)
{
    static const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Who cannot be accepted waits, without the library asking all the time. */
static int accept_later(void)
{
    static const struct timespec pause = {.tv_nsec = GATE_WAIT_MS * 1000000};

    nanosleep(&pause, NULL);
    errno = EAGAIN;
    return -1;
}

int px_hook_accept(int fd, struct sockaddr *address, socklen_t *len)
{
    int got;

    if (hooks.accept == NULL && !find("accept", &hooks.accept)) {
        errno = ENOSYS;
        return -1;
    }
    if (hooks.ours == NULL)
        return hooks.accept(fd, address, len);
    if (!hooks.ours->on_accept()) {
        errno = EAGAIN;
        return -1;
    }
    got = hooks.accept(fd, address, len);
    if (got < 0 && (errno == EAGAIN || !is_passing(errno)))
        return got;
    if (got >= 0) {
        set_hasty(got);
        px_head_forget(got);
    }
    hooks.ours->on_accepted(got);
    return got >= 0 ? got : accept_later();
}

/* Who is not there any more is found out by the next read. */
pmix_status_t px_hook_answer(int fd, char *mem, size_t bytes)
{
    hooks.answer(fd, mem, bytes);
    return PMIX_SUCCESS;
}

/* Of a tool: the helper itself asks nothing. */
pmix_status_t px_hook_query(pmix_query_t *queries, size_t nqueries,
                            pmix_info_cbfunc_t answer, void *arg)
{
    return hooks.ours->on_query(NULL, queries, nqueries, answer, arg);
}

pmix_status_t px_hooks_support(pmix_query_t *queries, size_t nqueries,
                               pmix_info_cbfunc_t answer)
{
    return hooks.query(queries, nqueries, answer, NULL);
}
