/* Asks sock_diag about the socket at the other end of a connection. */
#include "config.h"

#include "endpoints/sys/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum { ANSWER_BYTES_MAX = 1024 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

int ep_peers_open(struct ep_peers *peers)
{
    *peers = (struct ep_peers){.asked = 0};
    peers->kernel =
        socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return peers->kernel >= 0 ? 0 : OV_ESYS;
}

void ep_peers_close(struct ep_peers *peers)
{
    if (peers->kernel >= 0)
        close(peers->kernel);
    peers->kernel = -1;
}

/* Finds the addresses of both ends of the connection. */
static bool find_ends(int fd, union address *own, union address *peer)
{
    socklen_t own_bytes = sizeof(*own), peer_bytes = sizeof(*peer);

    return getsockname(fd, &own->any, &own_bytes) == 0 &&
           getpeername(fd, &peer->any, &peer_bytes) == 0;
}

/* Names the socket at the other end, whose own address is our peer's. Returns
 * false when these are no addresses of TCP. */
static bool name_socket(const union address *own, const union address *peer,
                        struct inet_diag_req_v2 *out)
{
    struct inet_diag_sockid *name = &out->id;

    out->sdiag_family = (uint8_t)own->any.sa_family;
    name->idiag_cookie[0] = name->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (own->any.sa_family == AF_INET) {
        name->idiag_sport = peer->v4.sin_port;
        name->idiag_dport = own->v4.sin_port;
        memcpy(name->idiag_src, &peer->v4.sin_addr, sizeof(struct in_addr));
        memcpy(name->idiag_dst, &own->v4.sin_addr, sizeof(struct in_addr));
        return true;
    }
    if (own->any.sa_family != AF_INET6)
        return false;
    name->idiag_sport = peer->v6.sin6_port;
    name->idiag_dport = own->v6.sin6_port;
    memcpy(name->idiag_src, &peer->v6.sin6_addr, sizeof(struct in6_addr));
    memcpy(name->idiag_dst, &own->v6.sin6_addr, sizeof(struct in6_addr));
    return true;
}

/* Reads the answer about a socket. A socket without an inode no longer belongs
 * to a process: the kernel then gives 0 as its owner, as for root. */
static int read_socket(const void *mem, struct ep_peer *out)
{
    struct inet_diag_msg said;

    memcpy(&said, mem, sizeof(said));
    if (said.idiag_state != TCP_ESTABLISHED || said.idiag_inode == 0)
        return OV_ENOENT;
    *out = (struct ep_peer){said.idiag_uid, said.idiag_rqueue};
    return 0;
}

static int read_answer(const struct nlmsghdr *head, size_t len_bytes,
                       struct ep_peer *out)
{
    struct nlmsgerr said;

    if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
        len_bytes >= NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return read_socket(NLMSG_DATA(head), out);
    if (head->nlmsg_type != NLMSG_ERROR ||
        len_bytes < NLMSG_LENGTH(sizeof(said)))
        return OV_ESYS;
    memcpy(&said, NLMSG_DATA(head), sizeof(said));
    return said.error == -ENOENT ? OV_ENOENT : OV_ESYS;
}

/* Reads the answer. The kernel answers before send() returns, so this waits for
 * nothing. An answer with another number belongs to an older question. */
static int hear(const struct ep_peers *peers, struct ep_peer *out)
{
    _Alignas(struct nlmsghdr) uint8_t mem[ANSWER_BYTES_MAX];
    const struct nlmsghdr *head = (const void *)mem;
    ssize_t got;

    do {
        got = recv(peers->kernel, mem, sizeof(mem), MSG_DONTWAIT);
        if (got < (ssize_t)sizeof(*head))
            return OV_ESYS;
    } while (head->nlmsg_seq != peers->asked);
    return read_answer(head, (size_t)got, out);
}

int ep_peers_ask(struct ep_peers *peers, int fd, struct ep_peer *out)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } ask = {
        .head = {.nlmsg_len = sizeof(ask),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = ++peers->asked},
        .body = {.sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u},
    };
    union address own, peer;

    if (!find_ends(fd, &own, &peer))
        return errno == ENOTCONN ? OV_ENOENT : OV_ESYS;
    if (!name_socket(&own, &peer, &ask.body) ||
        send(peers->kernel, &ask, sizeof(ask), MSG_DONTWAIT) !=
            (ssize_t)sizeof(ask))
        return OV_ESYS;
    return hear(peers, out);
}
