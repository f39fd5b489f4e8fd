/* Connections over the loopback interface, for tests. */
#ifndef TESTS_UNIT_TCP_RIG_H
#define TESTS_UNIT_TCP_RIG_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Writes the address of a port, for IPv4 or IPv6 depending on the text; returns
 * its length. */
static inline socklen_t tcp_rig_address(const char *text, uint16_t port,
                                        struct sockaddr_storage *out)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port = htons(port)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(out, &v6, sizeof(v6));
        return sizeof(v6);
    }
    if (inet_pton(AF_INET, text, &v4.sin_addr) != 1)
        return 0;
    memcpy(out, &v4, sizeof(v4));
    return sizeof(v4);
}

/* Returns a socket that is connected to that address; -1 with errno. May be
 * called in the child of a fork(), too. */
static inline int tcp_rig_dial(const char *text, uint16_t port)
{
    struct sockaddr_storage to;
    socklen_t len = tcp_rig_address(text, port, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, len) == 0)
        return fd;
    return -1;
}

#endif
