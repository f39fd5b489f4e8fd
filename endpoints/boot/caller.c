/* Connects to the parent's gate, in a thread of its own. */
#include "config.h"

#include "endpoints/boot/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/boot/call.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/thread.h"
#include "overlay/base/err.h"

enum {
    PATIENCE_FIRST_MS = 1000,
    PATIENCE_MS = 5000,
    REST_FIRST_MS = 5,
    REST_MAX_MS = 250,
    TARGETS_MAX = 32
};

/* An address at which the parent may be. */
struct target {
    struct sockaddr_storage addr; /* the port in `addr` is not used */
    socklen_t len;
    uint16_t port; /* 0: try the ports of the gate in turn */
    char name[EP_ADDR_MAX];
};

struct ep_caller {
    struct ep_caller_cfg cfg;
    struct ep_auth auth; /* with the key for calls */
    struct event *event; /* owned */
    pthread_t thread;
    /* a pipe; the thread closes its writing end when it has finished */
    int done[2];
    /* the connection, or -1; used only by the thread until it has finished */
    int fd;
    unsigned patience_ms;
    uint64_t until_ns;
    atomic_bool is_stopped;
    bool has_thread;
    uint32_t targets_count;
    struct target targets[TARGETS_MAX];
    char why[EP_BOOT_WHY_MAX];
};

/* --- addresses to try
 *
 * They are collected before there is a thread, because the name service reads
 * the environment, which other code changes.
 */

static bool is_loopback(const struct addrinfo *at)
{
    const struct sockaddr_in *in = (const void *)at->ai_addr;
    const struct sockaddr_in6 *in6 = (const void *)at->ai_addr;

    if (at->ai_family == AF_INET)
        return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static void add_target(struct ep_caller *c, const struct addrinfo *at,
                       uint16_t port)
{
    struct target *t = &c->targets[c->targets_count];

    if (c->targets_count == TARGETS_MAX || at->ai_addrlen > sizeof(t->addr))
        return;
    memcpy(&t->addr, at->ai_addr, at->ai_addrlen);
    t->len = at->ai_addrlen;
    t->port = port;
    if (getnameinfo(at->ai_addr, at->ai_addrlen, t->name, sizeof(t->name), NULL,
                    0, NI_NUMERICHOST) != 0)
        strcpy(t->name, "?");
    c->targets_count++;
}

/* Adds all addresses of a name. Those of loopback come last: some hosts files
 * give one to the host's own name. */
static void add_name(struct ep_caller *c, const char *name, int flags,
                     uint16_t port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *list;
    int rc = getaddrinfo(name, NULL, &hints, &list);

    if (rc != 0) {
        snprintf(c->why, sizeof(c->why),
                 "host name %.255s cannot be resolved: %s", name,
                 gai_strerror(rc));
        return;
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        for (const struct addrinfo *at = list; at != NULL; at = at->ai_next) {
            if (is_loopback(at) == (pass > 0))
                add_target(c, at, port);
        }
    }
    freeaddrinfo(list);
}

/* Adds the address "1.2.3.4:5" or "[::1]:5", with the host `instead` if that is
 * not NULL. */
static void add_gate(struct ep_caller *c, const char *gate, const char *instead)
{
    char host[EP_ADDR_MAX];
    const char *colon = strrchr(gate, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - gate);

    if (len == 0 || len >= sizeof(host))
        return;
    if (*gate == '[' && len >= 2) {
        gate++;
        len -= 2;
    }
    memcpy(host, gate, len);
    host[len] = '\0';
    add_name(c, instead != NULL ? instead : host, AI_NUMERICHOST,
             (uint16_t)atoi(colon + 1));
}

static void find_targets(struct ep_caller *c)
{
    const struct ep_boot_config *config = c->cfg.config;
    const char *host = ep_boot_host(config, c->cfg.parent);

    if (c->cfg.parent != 0) {
        if (host != NULL)
            add_name(c, host, 0, 0);
        return;
    }
    if (c->cfg.first_address != NULL && config->gates.count > 0)
        add_gate(c, config->gates.at[0], c->cfg.first_address);
    for (uint32_t i = 0; i < config->gates.count; i++)
        add_gate(c, config->gates.at[i], NULL);
}

/* --- one connection
 * */

static bool is_over(const struct ep_caller *c)
{
    return atomic_load(&c->is_stopped) || ep_clock_ns() >= c->until_ns;
}

static bool send_all(int fd, const uint8_t *mem, size_t len)
{
    return send(fd, mem, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool recv_all(int fd, uint8_t *mem, size_t len)
{
    return recv(fd, mem, len, MSG_WAITALL) == (ssize_t)len;
}

/* Exchanges the proofs that both sides have the key. */
static bool prove(const struct ep_caller *c, int fd)
{
    struct ep_auth_hello hello = {
        .node = c->cfg.node, .target = c->cfg.parent, .attach = 1};
    uint8_t greeting[EP_CALL_GREETING_BYTES];
    uint8_t mine[EP_AUTH_HELLO_BYTES], answer[EP_AUTH_ACCEPT_BYTES];
    const uint8_t *nonce;

    if (!recv_all(fd, greeting, sizeof(greeting)))
        return false;
    nonce = ep_call_nonce(greeting);
    if (nonce == NULL)
        return false;
    ep_auth_hello_make(&c->auth, nonce, &hello, mine);
    return send_all(fd, mine, sizeof(mine)) &&
           recv_all(fd, answer, sizeof(answer)) &&
           ep_auth_accept_check(&c->auth, mine, answer, sizeof(answer)) == 0;
}

/* Connects within the time limit of one attempt. Returns 0 or an errno. */
static int connect_within(int fd, const struct target *to, uint16_t port,
                          unsigned ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    struct sockaddr_storage addr = to->addr;
    int flags = fcntl(fd, F_GETFL), err = 0;
    socklen_t len = sizeof(err);

    if (addr.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&addr)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&addr)->sin_port = htons(port);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    if (connect(fd, (const struct sockaddr *)&addr, to->len) != 0) {
        if (errno != EINPROGRESS)
            return errno;
        if (poll(&ready, 1, (int)ms) != 1)
            return ETIMEDOUT;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
            return errno;
    }
    fcntl(fd, F_SETFL, flags);
    return err;
}

static void bound(int fd, unsigned ms)
{
    struct timeval wait = {(time_t)(ms / 1000),
                           (suseconds_t)(ms % 1000 * 1000)};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
}

/* Tries one port. Returns 0, with the connection in c->fd; an errno; or -1:
 * something else than the parent's gate answers. */
static int call_port(struct ep_caller *c, const struct target *to,
                     uint16_t port)
{
    int fd = socket(to->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int err = fd < 0 ? errno : connect_within(fd, to, port, c->patience_ms);

    if (err == 0) {
        bound(fd, c->patience_ms);
        if (prove(c, fd)) {
            bound(fd, 0);
            c->fd = fd;
            return 0;
        }
        err = -1;
    }
    snprintf(c->why, sizeof(c->why), "%s, port %u: %s", to->name, port,
             err > 0 ? strerror(err) : "another program answers there");
    if (fd >= 0)
        close(fd);
    return err;
}

/* Tries the ports of one address. When no packet comes back, further ports are
 * not tried. */
static bool call_target(struct ep_caller *c, const struct target *to)
{
    const struct ep_boot_config *config = c->cfg.config;

    for (unsigned i = 0; !is_over(c); i++) {
        uint16_t port = to->port;
        int err;

        if (port == 0)
            port = ep_call_port(&c->auth, c->cfg.parent, config->port_first,
                                config->port_last, i);
        if (port == 0)
            return false;
        err = call_port(c, to, port);
        if (err == 0)
            return true;
        if (to->port != 0 || (err > 0 && err != ECONNREFUSED))
            return false;
    }
    return false;
}

static bool call_all(struct ep_caller *c)
{
    bool is_found = false;

    for (uint32_t i = 0; i < c->targets_count && !is_found; i++)
        is_found = call_target(c, &c->targets[i]);
    return is_found;
}

static void *call(void *arg)
{
    struct ep_caller *c = arg;
    int rest_ms = REST_FIRST_MS;

    while (c->targets_count > 0 && !is_over(c) && !call_all(c)) {
        poll(NULL, 0, rest_ms);
        rest_ms = 2 * rest_ms > REST_MAX_MS ? REST_MAX_MS : 2 * rest_ms;
        if (rest_ms == REST_MAX_MS)
            c->patience_ms = PATIENCE_MS;
    }
    close(c->done[1]);
    return NULL;
}

/* --- in the loop's thread */

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    struct ep_caller *c = arg;
    int answer;

    (void)fd;
    (void)what;
    ep_thread_join(c->thread, false);
    c->has_thread = false;
    answer = c->fd;
    c->fd = -1;
    c->cfg.on_answer(c->cfg.arg, answer, c->why);
}

int ep_caller_open(const struct ep_caller_cfg *cfg, struct ep_caller **out)
{
    struct ep_caller *c = calloc(1, sizeof(*c));
    int rc = OV_ENOMEM;

    *out = NULL;
    if (c == NULL)
        return rc;
    c->cfg = *cfg;
    c->fd = c->done[0] = c->done[1] = -1;
    c->patience_ms = PATIENCE_FIRST_MS;
    c->until_ns = ep_clock_ns() +
                  (uint64_t)cfg->config->launch_timeout_ms * UINT64_C(1000000);
    snprintf(c->why, sizeof(c->why), "no address is known");
    rc = ep_call_auth(&cfg->config->auth, &c->auth);
    if (rc == 0)
        find_targets(c);
    if (rc == 0 && pipe2(c->done, O_CLOEXEC) != 0)
        rc = OV_ESYS;
    if (rc == 0)
        c->event = event_new(cfg->base, c->done[0], EV_READ, on_done, c);
    if (rc == 0 && (c->event == NULL || event_add(c->event, NULL) != 0))
        rc = OV_ENOMEM;
    if (rc == 0) {
        c->has_thread = ep_thread_start(&c->thread, call, c) == 0;
        rc = c->has_thread ? 0 : OV_ESYS;
    }
    if (rc != 0) {
        if (c->done[1] >= 0)
            close(c->done[1]);
        ep_caller_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void ep_caller_close(struct ep_caller *c)
{
    if (c == NULL)
        return;
    if (c->event != NULL)
        event_free(c->event);
    atomic_store(&c->is_stopped, true);
    if (c->has_thread && !ep_thread_join(c->thread, true))
        return; /* the thread may still use this memory */
    if (c->done[0] >= 0)
        close(c->done[0]);
    if (c->fd >= 0)
        close(c->fd);
    ep_auth_fini(&c->auth);
    free(c);
}
