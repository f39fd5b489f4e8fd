/* Listens for the daemons beneath, and checks the proof of each that
 * connects. */
#include "config.h"

#include "endpoints/boot/gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/boot/call.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum { SILENCE_S = 5 };

/* A connection that has proved nothing yet. */
struct visitor {
    TAILQ_ENTRY(visitor) link;
    struct ep_gate *gate; /* borrowed */
    struct event *event;  /* owned */
    int fd;               /* owned */
    uint32_t got;
    uint8_t nonce[EP_AUTH_NONCE_BYTES];
    uint8_t hello[EP_AUTH_HELLO_BYTES];
};

TAILQ_HEAD(visitors, visitor);

struct ep_gate {
    struct ep_gate_cfg cfg;
    struct ep_auth auth; /* with the key for calls */
    struct event *event; /* owned */
    struct visitors visitors;
    uint32_t count;
    uint16_t port;
    int fd; /* owned */
};

union address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static void dismiss(struct visitor *v, bool keeps_fd)
{
    TAILQ_REMOVE(&v->gate->visitors, v, link);
    v->gate->count--;
    event_free(v->event);
    if (!keeps_fd)
        close(v->fd);
    free(v);
}

/* True when the visitor has closed the connection. A caller that has waited
 * long enough does so, and then connects again. If the gate, itself delayed,
 * accepted the old connection, a daemon that is connecting again would count as
 * lost. */
static bool has_left(int fd)
{
    uint8_t byte;
    ssize_t got = recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

/* Checks a visitor that has sent a whole hello. */
static void judge_visitor(struct visitor *v)
{
    struct ep_gate *gate = v->gate;
    struct ep_auth_hello hello;
    uint8_t answer[EP_AUTH_ACCEPT_BYTES];
    int fd = v->fd;

    if (ep_auth_hello_check(&gate->auth, v->nonce, v->hello, sizeof(v->hello),
                            &hello) != 0 ||
        hello.target != gate->cfg.node || has_left(fd)) {
        dismiss(v, false);
        return;
    }
    ep_auth_accept_make(&gate->auth, v->hello, answer);
    if (send(fd, answer, sizeof(answer), MSG_NOSIGNAL) !=
        (ssize_t)sizeof(answer)) {
        dismiss(v, false);
        return;
    }
    dismiss(v, true);
    gate->cfg.on_call(gate->cfg.arg, hello.node, fd);
}

static void on_hello(evutil_socket_t fd, short what, void *arg)
{
    struct visitor *v = arg;
    ssize_t got;

    if ((what & EV_TIMEOUT) != 0) {
        dismiss(v, false);
        return;
    }
    /* Reads no byte after the hello: the owner of the connection reads
     * those. */
    got = recv(fd, v->hello + v->got, sizeof(v->hello) - v->got, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        dismiss(v, false);
        return;
    }
    v->got += (uint32_t)got;
    if (v->got == sizeof(v->hello))
        judge_visitor(v);
}

/* Handles a new connection; owns fd, also after an error. */
static void receive(struct ep_gate *gate, int fd)
{
    struct timeval wait = {SILENCE_S, 0};
    struct visitor *v = calloc(1, sizeof(*v));
    uint8_t greeting[EP_CALL_GREETING_BYTES];

    if (v != NULL)
        v->event =
            event_new(gate->cfg.base, fd, EV_READ | EV_PERSIST, on_hello, v);
    if (v == NULL || v->event == NULL || ep_auth_nonce(v->nonce) != 0) {
        if (v != NULL && v->event != NULL)
            event_free(v->event);
        free(v);
        close(fd);
        return;
    }
    v->gate = gate;
    v->fd = fd;
    TAILQ_INSERT_TAIL(&gate->visitors, v, link);
    gate->count++;
    ep_call_greet(v->nonce, greeting);
    if (event_add(v->event, &wait) != 0 ||
        send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL) !=
            (ssize_t)sizeof(greeting))
        dismiss(v, false);
    else if (gate->count > EP_GATE_PENDING_MAX)
        dismiss(TAILQ_FIRST(&gate->visitors), false);
}

static void on_visitor(evutil_socket_t fd, short what, void *arg)
{
    int got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)what;
    if (got >= 0)
        receive(arg, got);
}

/* Binds a port. An IPv6 socket takes IPv4 connections, too, where the host has
 * IPv6. */
static int bind_port(uint16_t port, union address *addr)
{
    static const int off = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int err;

    *addr = (union address){0};
    if (fd >= 0) {
        addr->in6.sin6_family = AF_INET6;
        addr->in6.sin6_port = htons(port);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
        if (bind(fd, &addr->sa, sizeof(addr->in6)) == 0 &&
            listen(fd, SOMAXCONN) == 0)
            return fd;
        err = errno;
        close(fd);
        if (err == EADDRINUSE || err == EACCES)
            return -1;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *addr = (union address){0};
    addr->in.sin_family = AF_INET;
    addr->in.sin_port = htons(port);
    if (fd >= 0 && (bind(fd, &addr->sa, sizeof(addr->in)) != 0 ||
                    listen(fd, SOMAXCONN) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int listen_somewhere(struct ep_gate *gate, char *why)
{
    const struct ep_gate_cfg *cfg = &gate->cfg;
    union address addr;
    socklen_t len = sizeof(addr);
    uint16_t port;

    if (cfg->any_port && cfg->port_first == 0)
        gate->fd = bind_port(0, &addr);
    for (unsigned i = 0; gate->fd < 0; i++) {
        port = ep_call_port(&gate->auth, cfg->node, cfg->port_first,
                            cfg->port_last, i);
        if (port == 0)
            break;
        gate->fd = bind_port(port, &addr);
    }
    if (gate->fd < 0 || getsockname(gate->fd, &addr.sa, &len) != 0) {
        snprintf(
            why, EP_WHY_MAX,
            "no free port to listen on for daemons started from here (%s)%s",
            strerror(errno), cfg->port_first > 0 ? ": widen --port-range" : "");
        return OV_ESYS;
    }
    gate->port = ntohs(addr.sa.sa_family == AF_INET6 ? addr.in6.sin6_port
                                                     : addr.in.sin_port);
    return 0;
}

int ep_gate_open(const struct ep_gate_cfg *cfg, struct ep_gate **out, char *why)
{
    struct ep_gate *gate = calloc(1, sizeof(*gate));
    int rc = OV_ENOMEM;

    *out = NULL;
    snprintf(why, EP_WHY_MAX, "out of memory");
    if (gate == NULL)
        return rc;
    gate->cfg = *cfg;
    gate->fd = -1;
    TAILQ_INIT(&gate->visitors);
    rc = ep_call_auth(cfg->auth, &gate->auth);
    gate->cfg.auth = NULL;
    if (rc == 0)
        rc = listen_somewhere(gate, why);
    if (rc == 0) {
        gate->event = event_new(cfg->base, gate->fd, EV_READ | EV_PERSIST,
                                on_visitor, gate);
        if (gate->event == NULL || event_add(gate->event, NULL) != 0)
            rc = OV_ENOMEM;
    }
    if (rc != 0) {
        ep_gate_close(gate);
        return rc;
    }
    *out = gate;
    return 0;
}

static int add_address(const struct ep_gate *gate, const struct ifaddrs *ifa,
                       struct ep_boot_config *config)
{
    const union address *addr = (const union address *)ifa->ifa_addr;
    char host[INET6_ADDRSTRLEN] = "", text[EP_ADDR_MAX];
    bool is_v6 = addr->sa.sa_family == AF_INET6;

    if (inet_ntop(addr->sa.sa_family,
                  is_v6 ? (const void *)&addr->in6.sin6_addr
                        : (const void *)&addr->in.sin_addr,
                  host, sizeof(host)) == NULL)
        return 0;
    snprintf(text, sizeof(text), "%s%s%s:%u", is_v6 ? "[" : "", host,
             is_v6 ? "]" : "", gate->port);
    return ep_boot_add_gate(config, text);
}

/* True when other hosts can connect to the address; with is_loopback, when only
 * this host can. */
static bool is_wanted(const struct ifaddrs *ifa, bool is_loopback)
{
    const union address *addr = (const union address *)ifa->ifa_addr;

    if (addr == NULL || !(ifa->ifa_flags & IFF_UP) ||
        ((ifa->ifa_flags & IFF_LOOPBACK) != 0) != is_loopback)
        return false;
    /* A link-local address cannot be used without the name of an interface. */
    return addr->sa.sa_family == AF_INET ||
           (addr->sa.sa_family == AF_INET6 &&
            !IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr));
}

int ep_gate_list(const struct ep_gate *gate, struct ep_boot_config *config)
{
    struct ifaddrs *list;
    int rc = 0;

    if (getifaddrs(&list) != 0)
        return OV_ESYS;
    for (unsigned pass = 0; pass < 2 && config->gates.count == 0; pass++) {
        for (const struct ifaddrs *ifa = list; ifa && rc == 0;
             ifa = ifa->ifa_next) {
            if (is_wanted(ifa, pass > 0) &&
                config->gates.count < EP_BOOT_GATES_MAX)
                rc = add_address(gate, ifa, config);
        }
    }
    freeifaddrs(list);
    return rc;
}

void ep_gate_close(struct ep_gate *gate)
{
    if (gate == NULL)
        return;
    while (!TAILQ_EMPTY(&gate->visitors))
        dismiss(TAILQ_FIRST(&gate->visitors), false);
    if (gate->event != NULL)
        event_free(gate->event);
    if (gate->fd >= 0)
        close(gate->fd);
    ep_auth_fini(&gate->auth);
    free(gate);
}
