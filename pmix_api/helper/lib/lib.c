/* Runs libpmix as a server for one tool. */
#include "config.h"

#include "pmix_api/helper/lib/lib.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/attribute.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/event.h"
#include "pmix_api/helper/lib/flow.h"
#include "pmix_api/helper/lib/query.h"
#include "pmix_api/helper/lib/server.h"
#include "pmix_api/helper/lib/stream.h"
#include "pmix_api/helper/lib/upcall.h"

static struct {
    const struct px_lib_events *events;
    void *arg;
    /* An epoll descriptor, which watches for functions to run (ask.h), and for
     * the end of the tool's socket. */
    int poll;
    int tool;              /* our own descriptor of the tool's socket; -1: none
                              yet */
    atomic_bool is_closed; /* libpmix has seen the end of the socket */
    bool is_gone; /* The tool's end was reported: on_gone was called. */
} lib = {.poll = -1, .tool = -1};

/* --- the end of the tool */

/* Runs in libpmix's thread after everything that had waited for it. */
static void on_last(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
    atomic_store(&lib.is_closed, true);
    px_ask_wake();
}

static void on_closed(bool is_clean)
{
    px_flow_end(is_clean);
    px_call_turn(on_last, NULL);
}

static const struct px_stream_events stream_events = {
    .on_try = px_flow_try,
    .on_wrote = px_flow_wrote,
    .on_closed = on_closed,
};

/* --- the functions to run */

static int watch(int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.fd = fd}};

    return epoll_ctl(lib.poll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : OV_ESYS;
}

/* True when the tool has closed its connection. Before the tool is let in,
 * libpmix may not report that. */
static bool has_hung_up(void)
{
    struct epoll_event events[2];
    int count = epoll_wait(lib.poll, events, 2, 0);
    bool has = false;

    for (int i = 0; i < count; i++)
        has |= events[i].data.fd == lib.tool;
    return has && !px_upcall_is_in();
}

void px_lib_turn(void)
{
    bool has = has_hung_up();

    px_ask_turn();
    if (px_flow_has_room())
        lib.events->on_room(lib.arg);
    if (lib.is_gone || (!has && !atomic_load(&lib.is_closed)))
        return;
    lib.is_gone = true;
    lib.events->on_gone(lib.arg);
}

int px_lib_fd(void)
{
    return lib.poll;
}

/* --- start */

const char *px_lib_open(const struct px_lib_cfg *cfg)
{
    struct px_server_address address = {.port = 0};
    const char *why;

    lib.events = cfg->events;
    lib.arg = cfg->arg;
    lib.poll = epoll_create1(EPOLL_CLOEXEC);
    if (lib.poll < 0 || px_ask_open() != 0 || px_flow_open() != 0 ||
        watch(px_ask_fd(), EPOLLIN) != 0 || !px_stream_open(&stream_events) ||
        !px_query_open())
        return "cannot create descriptors or threads (ulimit -n, ulimit -u)";
    px_call_open(cfg->events, cfg->arg);
    why = px_server_start(cfg, px_upcall_module(), &address);
    if (why != NULL)
        return why;
    px_attribute_register(cfg->query_keys);
    px_stream_listen(address.host, address.port);
    return px_event_listen() == 0 ? NULL : "out of memory";
}

int px_lib_dial(int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (own < 0)
        return OV_ESYS;
    lib.tool = own;
    px_flow_start(own);
    if (watch(own, EPOLLRDHUP | EPOLLONESHOT) == 0 && px_stream_dial(fd) == 0)
        return 0;
    lib.tool = -1;
    px_flow_start(-1);
    close(own);
    return OV_ESYS;
}
