/* Connections among this process's descriptors. */
#include "pmix_api/helper/sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"

/* linux/tcp.h cannot stand beside netinet/tcp.h, which lacks this. The kernel
 * fills in as much as it knows. */
struct tcp_info_long {
    struct tcp_info head;
    uint64_t pacing_rate, max_pacing_rate;
    uint64_t bytes_acked, bytes_received;
};

static struct {
    pthread_mutex_t lock; /* of the directory */
    DIR *own;             /* this process's descriptors */
    pthread_mutex_t asks; /* of the rest */
    int kernel;           /* netlink; -1: it cannot be asked */
    uint32_t asked;
} sockets = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .asks = PTHREAD_MUTEX_INITIALIZER,
             .kernel = -1};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static uint16_t port_of(const union address *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohs(address->v4.sin_port);
    if (address->any.sa_family == AF_INET6)
        return ntohs(address->v6.sin6_port);
    return 0;
}

static uint16_t own_port(int fd, union address *address)
{
    socklen_t len = sizeof(*address);

    return getsockname(fd, &address->any, &len) == 0 ? port_of(address) : 0;
}

static uint16_t peer_port(int fd, union address *address)
{
    socklen_t len = sizeof(*address);

    return getpeername(fd, &address->any, &len) == 0 ? port_of(address) : 0;
}

/* Without netlink nobody is let in, which is said when a tool comes. */
int px_sockets_open(void)
{
    sockets.own = opendir("/proc/self/fd");
    sockets.kernel =
        socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return sockets.own != NULL ? 0 : OV_ESYS;
}

struct px_socket px_socket_of(int fd)
{
    union address address;

    return (struct px_socket){fd, peer_port(fd, &address)};
}

/* Calls see(arg, fd) for each descriptor that is a socket of this port. */
static void each(uint16_t port, void (*see)(void *arg, int fd), void *arg)
{
    const struct dirent *entry;
    union address address;

    pthread_mutex_lock(&sockets.lock);
    rewinddir(sockets.own);
    while ((entry = readdir(sockets.own)) != NULL) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0' &&
            own_port((int)fd, &address) == port)
            see(arg, (int)fd);
    }
    pthread_mutex_unlock(&sockets.lock);
}

struct list {
    struct px_socket *out;
    unsigned count;
};

static void see_connection(void *arg, int fd)
{
    struct list *list = arg;
    union address address;
    uint16_t port = peer_port(fd, &address);

    if (port != 0 && list->count < SOCKETS_MAX)
        list->out[list->count++] = (struct px_socket){fd, port};
}

unsigned px_sockets_list(uint16_t port, struct px_socket *out)
{
    struct list list = {.out = out};

    each(port, see_connection, &list);
    return list.count;
}

bool px_socket_is_same(const struct px_socket *sock)
{
    union address address;

    return peer_port(sock->fd, &address) == sock->port;
}

static bool ask_tcp(const struct px_socket *sock, struct tcp_info_long *out)
{
    socklen_t len = sizeof(*out);

    memset(out, 0, sizeof(*out));
    return getsockopt(sock->fd, IPPROTO_TCP, TCP_INFO, out, &len) == 0;
}

bool px_socket_is_read(const struct px_socket *sock)
{
    struct tcp_info_long info;
    int unread = 0;

    return ask_tcp(sock, &info) && info.head.tcpi_state == TCP_ESTABLISHED &&
           ioctl(sock->fd, FIONREAD, &unread) == 0 &&
           info.bytes_received > (uint64_t)unread;
}

bool px_socket_has_spoken(const struct px_socket *sock)
{
    struct tcp_info_long info;

    return ask_tcp(sock, &info) && info.bytes_received > 0;
}

bool px_socket_is_silent(const struct px_socket *sock)
{
    int unread = 0;

    return ioctl(sock->fd, FIONREAD, &unread) == 0 && unread == 0;
}

void px_socket_end(const struct px_socket *sock)
{
    if (px_socket_is_same(sock))
        shutdown(sock->fd, SHUT_RDWR);
}

/* --- the other end */

/* Fills in the name of the other end's socket: its port is its own there. */
static bool name_peer(const struct px_socket *sock, struct inet_diag_sockid *id,
                      uint8_t *family)
{
    union address own, peer;

    if (sock->port == 0 || own_port(sock->fd, &own) == 0 ||
        peer_port(sock->fd, &peer) != sock->port)
        return false;
    *family = (uint8_t)own.any.sa_family;
    id->idiag_sport = htons(port_of(&peer));
    id->idiag_dport = htons(port_of(&own));
    if (own.any.sa_family == AF_INET) {
        memcpy(id->idiag_src, &peer.v4.sin_addr, sizeof(peer.v4.sin_addr));
        memcpy(id->idiag_dst, &own.v4.sin_addr, sizeof(own.v4.sin_addr));
    } else {
        memcpy(id->idiag_src, &peer.v6.sin6_addr, sizeof(peer.v6.sin6_addr));
        memcpy(id->idiag_dst, &own.v6.sin6_addr, sizeof(own.v6.sin6_addr));
    }
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return true;
}

/* An established socket that a process holds: one without an inode belongs to
 * nobody any more, and the kernel then calls its owner 0, as it does root. */
static bool read_answer(const void *mem, size_t len, struct px_peer *out)
{
    const struct nlmsghdr *head = mem;
    struct inet_diag_msg diag;

    if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        len < NLMSG_LENGTH(sizeof(diag)))
        return false;
    memcpy(&diag, NLMSG_DATA(head), sizeof(diag));
    if (diag.idiag_state != TCP_ESTABLISHED || diag.idiag_inode == 0)
        return false;
    *out = (struct px_peer){diag.idiag_uid, diag.idiag_rqueue};
    return true;
}

/* The kernel answers before send() is back, so this waits for nothing. What is
 * not the answer is that to an older question. */
static bool hear_answer(uint32_t asked, struct px_peer *out)
{
    _Alignas(struct nlmsghdr) uint8_t mem[1024];
    const struct nlmsghdr *head = (const void *)mem;
    ssize_t got;

    do {
        got = recv(sockets.kernel, mem, sizeof(mem), MSG_DONTWAIT);
        if (got < (ssize_t)sizeof(*head))
            return false;
    } while (head->nlmsg_seq != asked);
    return read_answer(mem, (size_t)got, out);
}

static bool ask_kernel(const struct px_socket *sock, struct px_peer *out)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } ask = {
        .head = {.nlmsg_len = sizeof(ask),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = ++sockets.asked},
        .body = {.sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u},
    };

    return name_peer(sock, &ask.body.id, &ask.body.sdiag_family) &&
           send(sockets.kernel, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask) &&
           hear_answer(sockets.asked, out);
}

bool px_socket_peer(const struct px_socket *sock, struct px_peer *out)
{
    bool is_there;

    pthread_mutex_lock(&sockets.asks);
    is_there = ask_kernel(sock, out);
    pthread_mutex_unlock(&sockets.asks);
    return is_there;
}

uint64_t px_socket_unsent(const struct px_socket *sock)
{
    int unsent;

    return ioctl(sock->fd, SIOCOUTQ, &unsent) == 0 ? (uint64_t)unsent : 0;
}
