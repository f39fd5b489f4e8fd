/* Connections to the port for PMIx tools, until they are known to be tools. */
#include "config.h"

#include "endpoints/client/tools.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/sys/peer.h"
#include "overlay/base/err.h"

enum { BACKLOG = 2 * EP_TOOLS_HEADS_MAX };

/* What the user is told, each only once. */
enum note { NOTE_USER, NOTE_MACHINE, NOTE_KERNEL, NOTE_DESCRIPTORS, NOTES };

static const char *const notes[NOTES] = {
    [NOTE_USER] =
        "a PMIx tool was refused: its user may not connect (--pmix-allow)",
    [NOTE_MACHINE] = "a PMIx tool was refused: it runs on another machine",
    [NOTE_KERNEL] = ("a PMIx tool was refused: the kernel does not say whose "
                     "it is"),
    [NOTE_DESCRIPTORS] =
        "PMIx tools have to wait: too many open files (ulimit -n)",
};

/* A connection whose first message has not arrived with its whole head. */
struct head {
    struct head *next; /* owned: the next younger head */
    struct ep_tools *tools;
    struct event *comes, *late; /* owned */
    int fd;                     /* owned */
    uid_t uid;
};

struct ep_tools {
    struct ep_tools_cfg cfg;
    struct ep_peers peers;
    int fd; /* owned: the socket that listens */
    uint16_t port;
    struct event *comes; /* owned: fires when a tool connects */
    struct event *rest;  /* owned: no connection is accepted until it fires */
    struct head *first, **last; /* owned: a list, the oldest first */
    unsigned heads;
    /* No connection is accepted until one of the heads is closed or passed
     * on. */
    bool is_full;
    bool is_noted[NOTES];
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static void note(struct ep_tools *tools, enum note what)
{
    if (tools->is_noted[what])
        return;
    tools->is_noted[what] = true;
    tools->cfg.on_note(tools->cfg.arg, notes[what]);
}

static void free_event(struct event *event)
{
    if (event != NULL)
        event_free(event);
}

/* --- heads */

/* Takes a head out of the list and frees it, and accepts connections again if
 * the list was full. The caller owns the returned descriptor. */
static int take_head(struct head *head)
{
    struct ep_tools *tools = head->tools;
    struct head **at = &tools->first;
    int fd = head->fd;

    while (*at != head)
        at = &(*at)->next;
    *at = head->next;
    if (tools->last == &head->next)
        tools->last = at;
    tools->heads--;
    free_event(head->comes);
    free_event(head->late);
    free(head);
    if (tools->is_full)
        event_add(tools->comes, NULL);
    tools->is_full = false;
    return fd;
}

static void drop_head(struct head *head)
{
    close(take_head(head));
}

/* Returns how many bytes of the head have arrived, or -1 with errno. Nothing is
 * read from the socket. */
static ssize_t peek_head(int fd)
{
    uint8_t mem[EP_TOOLS_HEAD_BYTES];

    return recv(fd, mem, sizeof(mem), MSG_PEEK | MSG_DONTWAIT);
}

static bool has_hung_up(int fd)
{
    struct pollfd at = {.fd = fd, .events = POLLRDHUP};

    return poll(&at, 1, 0) != 0;
}

static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

/* Passes the connection on as a tool's. The callee may close the port, so no
 * member of it is used after the call. */
static void hand_on(struct head *head)
{
    struct ep_tools_cfg cfg = head->tools->cfg;
    uid_t uid = head->uid;
    int fd = take_head(head);

    set_option(fd, SOL_SOCKET, SO_RCVLOWAT, 1);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    cfg.on_tool(cfg.arg, fd, uid);
}

/* Called at most once for each piece of the head that arrives. The kernel only
 * reports an incomplete head when it is short of memory. */
static void on_head(evutil_socket_t fd, short what, void *arg)
{
    struct head *head = arg;
    ssize_t there = peek_head(fd);

    (void)what;
    if (there == EP_TOOLS_HEAD_BYTES)
        hand_on(head);
    else if (there == 0 || (there < 0 && errno != EAGAIN && errno != EINTR) ||
             has_hung_up(fd))
        drop_head(head);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    drop_head(arg);
}

static struct timeval of_ms(unsigned ms)
{
    return (struct timeval){.tv_sec = ms / 1000,
                            .tv_usec = (suseconds_t)(ms % 1000) * 1000};
}

/* Begins to wait for the head. The kernel does not wake this process for less
 * than a whole head. */
static bool await(struct head *head)
{
    const struct timeval limit = of_ms(head->tools->cfg.head_ms);
    struct event_base *base = head->tools->cfg.base;

    set_option(head->fd, SOL_SOCKET, SO_RCVLOWAT, EP_TOOLS_HEAD_BYTES);
    head->comes =
        event_new(base, head->fd, EV_READ | EV_ET | EV_PERSIST, on_head, head);
    head->late = evtimer_new(base, on_late, head);
    return head->comes != NULL && head->late != NULL &&
           event_add(head->comes, NULL) == 0 &&
           event_add(head->late, &limit) == 0;
}

/* Adds a head for the connection, whose descriptor it takes over. */
static void add_head(struct ep_tools *tools, int fd, uid_t uid)
{
    struct head *head = calloc(1, sizeof(*head));

    if (head == NULL) {
        close(fd);
        return;
    }
    *head = (struct head){.tools = tools, .fd = fd, .uid = uid};
    *tools->last = head;
    tools->last = &head->next;
    tools->heads++;
    if (!await(head))
        drop_head(head);
}

/* Finds the oldest head that has sent nothing. Returns NULL when all have sent
 * something, or an event for it is pending. */
static struct head *find_silent(const struct ep_tools *tools)
{
    for (struct head *head = tools->first; head != NULL; head = head->next) {
        if (peek_head(head->fd) < 0 && errno == EAGAIN)
            return head;
    }
    return NULL;
}

/* --- connections */

static bool is_allowed(const struct ep_tools_cfg *cfg, uid_t uid)
{
    return (cfg->allows_user && uid == geteuid()) ||
           (cfg->allows_root && uid == 0);
}

/* Tells whether the connection's user may connect. A peer that has closed its
 * connection already is refused without a message. */
static bool may_enter(struct ep_tools *tools, int fd, uid_t *uid)
{
    struct ep_peer peer;
    int rc = ep_peers_ask(&tools->peers, fd, &peer);

    if (rc == 0)
        *uid = peer.uid;
    if (rc == 0 && is_allowed(&tools->cfg, *uid))
        return true;
    if (rc == 0)
        note(tools, NOTE_USER);
    else if (rc != OV_ENOENT)
        note(tools, NOTE_KERNEL);
    else if (!has_hung_up(fd))
        note(tools, NOTE_MACHINE);
    return false;
}

static void pause_for(struct ep_tools *tools, unsigned ms)
{
    const struct timeval pause = of_ms(ms);

    event_del(tools->comes);
    event_add(tools->rest, &pause);
}

/* The listening socket stays open whatever accept() returns. When a resource is
 * missing, the connection waits in the kernel, and would wake the loop again at
 * once without a pause. */
static int accept_one(struct ep_tools *tools)
{
    int fd = accept4(tools->fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return fd;
    if (errno == EMFILE || errno == ENFILE)
        note(tools, NOTE_DESCRIPTORS);
    pause_for(tools, EP_TOOLS_REST_MS);
    return -1;
}

/* Accepts one connection at a time, so that the events of the others are
 * handled in between. A peer that may not connect does not push another head
 * out of the list. */
static void on_comes(evutil_socket_t listener, short what, void *arg)
{
    struct ep_tools *tools = arg;
    struct head *silent = NULL;
    uid_t uid;
    int fd;

    (void)listener;
    (void)what;
    if (tools->heads == EP_TOOLS_HEADS_MAX) {
        silent = find_silent(tools);
        tools->is_full = silent == NULL;
    }
    if (tools->is_full) {
        event_del(tools->comes);
        return;
    }
    fd = accept_one(tools);
    if (fd < 0)
        return;
    if (!may_enter(tools, fd, &uid)) {
        close(fd);
        return;
    }
    if (silent != NULL)
        drop_head(silent);
    add_head(tools, fd, uid);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
    struct ep_tools *tools = arg;

    (void)fd;
    (void)what;
    event_add(tools->comes, NULL);
}

/* --- beginning and end */

/* Returns the length of the address; 0 when the text is not an address. */
static socklen_t read_address(const char *text, union address *out)
{
    *out = (union address){.v6 = {.sin6_family = AF_INET6}};
    if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1)
        return sizeof(out->v6);
    *out = (union address){.v4 = {.sin_family = AF_INET}};
    return inet_pton(AF_INET, text, &out->v4.sin_addr) == 1 ? sizeof(out->v4)
                                                            : 0;
}

static int listen_at(struct ep_tools *tools, const char *text)
{
    union address at;
    socklen_t len_bytes = read_address(text, &at);

    if (len_bytes == 0)
        return OV_EINVAL;
    tools->fd =
        socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (tools->fd < 0)
        return OV_ESYS;
    if (at.any.sa_family == AF_INET6)
        set_option(tools->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind(tools->fd, &at.any, len_bytes) != 0 ||
        listen(tools->fd, BACKLOG) != 0 ||
        getsockname(tools->fd, &at.any, &len_bytes) != 0)
        return OV_ESYS;
    tools->port =
        ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
    return 0;
}

static int attend(struct ep_tools *tools)
{
    tools->comes = event_new(tools->cfg.base, tools->fd, EV_READ | EV_PERSIST,
                             on_comes, tools);
    tools->rest = evtimer_new(tools->cfg.base, on_rest, tools);
    return tools->comes != NULL && tools->rest != NULL &&
                   event_add(tools->comes, NULL) == 0
               ? 0
               : OV_ENOMEM;
}

int ep_tools_open(const struct ep_tools_cfg *cfg, struct ep_tools **out)
{
    struct ep_tools *tools = calloc(1, sizeof(*tools));
    int rc, err;

    *out = NULL;
    if (tools == NULL)
        return OV_ENOMEM;
    tools->cfg = *cfg;
    tools->cfg.address = NULL;
    tools->fd = -1;
    tools->last = &tools->first;
    rc = ep_peers_open(&tools->peers);
    if (rc == 0)
        rc = listen_at(tools, cfg->address);
    if (rc == 0)
        rc = attend(tools);
    if (rc == 0) {
        *out = tools;
        return 0;
    }
    err = errno;
    ep_tools_close(tools);
    errno = err;
    return rc;
}

uint16_t ep_tools_port(const struct ep_tools *tools)
{
    return tools->port;
}

void ep_tools_close(struct ep_tools *tools)
{
    if (tools == NULL)
        return;
    tools->is_full = false;
    while (tools->first != NULL)
        drop_head(tools->first);
    free_event(tools->comes);
    free_event(tools->rest);
    if (tools->fd >= 0)
        close(tools->fd);
    ep_peers_close(&tools->peers);
    free(tools);
}
