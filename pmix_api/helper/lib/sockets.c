/* Connections, and what the kernel says of them. */
#include "pmix_api/helper/lib/sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"

static struct {
    pthread_mutex_t lock;
    int kernel; /* netlink; -1: it cannot be asked */
    uint32_t asked;
} sockets = {.lock = PTHREAD_MUTEX_INITIALIZER, .kernel = -1};

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

void px_sockets_open(void)
{
    sockets.kernel =
        socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

struct px_socket px_socket_of(int fd)
{
    union address address;

    return (struct px_socket){fd, peer_port(fd, &address)};
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

    pthread_mutex_lock(&sockets.lock);
    is_there = ask_kernel(sock, out);
    pthread_mutex_unlock(&sockets.lock);
    return is_there;
}

uint64_t px_socket_unsent(const struct px_socket *sock)
{
    int unsent;

    return ioctl(sock->fd, SIOCOUTQ, &unsent) == 0 ? (uint64_t)unsent : 0;
}
