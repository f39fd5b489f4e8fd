/* Reads and writes numeric addresses, and finds those of interfaces. */
#include "endpoints/ofi/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "endpoints/ofi/error.h"

/* The meaning of the text `interface`. */
struct wish {
    const char *name;      /* name of an interface; NULL: any interface */
    union ep_sockaddr net; /* a network; with family AF_UNSPEC: any */
    unsigned prefix_bits;
    bool is_loopback;
};

size_t ep_addr_len(const union ep_sockaddr *addr)
{
    return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6)
                                          : sizeof(addr->in);
}

uint16_t ep_addr_port(const union ep_sockaddr *addr)
{
    return ntohs(addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_port
                                                : addr->in.sin_port);
}

void ep_addr_set_port(union ep_sockaddr *addr, uint16_t port)
{
    if (addr->sa.sa_family == AF_INET6)
        addr->in6.sin6_port = htons(port);
    else
        addr->in.sin_port = htons(port);
}

/* Returns the bytes of the host's address, and the number of their bits. */
static const uint8_t *host_bytes(const union ep_sockaddr *addr, unsigned *bits)
{
    if (addr->sa.sa_family == AF_INET6) {
        *bits = 128;
        return addr->in6.sin6_addr.s6_addr;
    }
    *bits = 32;
    return (const uint8_t *)&addr->in.sin_addr;
}

int ep_addr_compare(const union ep_sockaddr *a, const union ep_sockaddr *b)
{
    unsigned bits;
    const uint8_t *in_a, *in_b;

    if (a->sa.sa_family != b->sa.sa_family)
        return a->sa.sa_family < b->sa.sa_family ? -1 : 1;
    if (ep_addr_port(a) != ep_addr_port(b))
        return ep_addr_port(a) < ep_addr_port(b) ? -1 : 1;
    in_a = host_bytes(a, &bits);
    in_b = host_bytes(b, &bits);
    return memcmp(in_a, in_b, bits / 8);
}

void ep_addr_format_host(const union ep_sockaddr *addr, char *text)
{
    unsigned bits;
    const uint8_t *host = host_bytes(addr, &bits);

    text[0] = '\0';
    inet_ntop(addr->sa.sa_family, host, text, EP_ADDR_MAX);
}

void ep_addr_format(const union ep_sockaddr *addr, char *text)
{
    char host[EP_ADDR_MAX];
    bool is_v6 = addr->sa.sa_family == AF_INET6;

    ep_addr_format_host(addr, host);
    snprintf(text, EP_ADDR_MAX, "%s%.46s%s:%u", is_v6 ? "[" : "", host,
             is_v6 ? "]" : "", ep_addr_port(addr));
}

/* Reads a numeric host, also with a scope as in "fe80::1%eth0". */
static int parse_host(const char *text, union ep_sockaddr *out)
{
    char host[EP_ADDR_MAX];
    char *scope;

    *out = (union ep_sockaddr){0};
    if (strlen(text) >= sizeof(host))
        return OV_EINVAL;
    strcpy(host, text);
    if (inet_pton(AF_INET, host, &out->in.sin_addr) == 1) {
        out->sa.sa_family = AF_INET;
        return 0;
    }
    scope = strchr(host, '%');
    if (scope != NULL) {
        *scope++ = '\0';
        out->in6.sin6_scope_id = if_nametoindex(scope);
    }
    if (inet_pton(AF_INET6, host, &out->in6.sin6_addr) != 1)
        return OV_EINVAL;
    out->sa.sa_family = AF_INET6;
    return 0;
}

/* Reads a number of at most `max`, without sign or blank and with nothing after
 * it; returns -1 when the text is anything else. */
static long parse_number(const char *text, long max)
{
    char *end;
    long number;

    if (*text < '0' || *text > '9')
        return -1;
    number = strtol(text, &end, 10);
    return *end == '\0' && number <= max ? number : -1;
}

int ep_addr_parse(const char *text, union ep_sockaddr *out)
{
    char host[EP_ADDR_MAX];
    const char *start = text, *colon = strrchr(text, ':');
    size_t len_bytes;
    long port;

    if (colon == NULL)
        return OV_EINVAL;
    len_bytes = (size_t)(colon - text);
    if (*text == '[') {
        if (len_bytes < 2 || colon[-1] != ']')
            return OV_EINVAL;
        start++;
        len_bytes -= 2;
    }
    port = parse_number(colon + 1, UINT16_MAX);
    if (port <= 0 || len_bytes >= sizeof(host))
        return OV_EINVAL;
    memcpy(host, start, len_bytes);
    host[len_bytes] = '\0';
    if (parse_host(host, out) ||
        (*text == '[') != (out->sa.sa_family == AF_INET6))
        return OV_EINVAL;
    ep_addr_set_port(out, (uint16_t)port);
    return 0;
}

/* Reads the text `interface`; returns false when it is neither a name nor an
 * address. */
static bool wish_parse(const char *interface, struct wish *wish)
{
    char host[EP_ADDR_MAX];
    const char *slash = strchr(interface, '/');
    size_t len_bytes = slash ? (size_t)(slash - interface) : strlen(interface);
    unsigned bits;
    long prefix;

    if (len_bytes == 0 || len_bytes >= sizeof(host))
        return false;
    memcpy(host, interface, len_bytes);
    host[len_bytes] = '\0';
    if (parse_host(host, &wish->net)) {
        wish->net.sa.sa_family = AF_UNSPEC;
        wish->name = interface;
        return slash == NULL;
    }
    host_bytes(&wish->net, &bits);
    prefix = slash ? parse_number(slash + 1, (long)bits) : (long)bits;
    wish->prefix_bits = (unsigned)prefix;
    return prefix >= 0;
}

static bool is_in_net(const union ep_sockaddr *addr, const struct wish *wish)
{
    unsigned bits, whole = wish->prefix_bits / 8, rest = wish->prefix_bits % 8;
    const uint8_t *host, *net;

    if (addr->sa.sa_family != wish->net.sa.sa_family)
        return false;
    host = host_bytes(addr, &bits);
    net = host_bytes(&wish->net, &bits);
    if (memcmp(host, net, whole) != 0)
        return false;
    return rest == 0 || (host[whole] ^ net[whole]) >> (8 - rest) == 0;
}

/* True for a bridge. It joins containers and virtual machines of this host,
 * often with the same address on each host: other hosts are seldom reached over
 * it. */
static bool is_bridge(const char *name)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {.ifr_data = (char *)&info};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_told;

    if (fd < 0) /* the host has no IPv4, for example */
        fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, IF_NAMESIZE, "%s", name);
    is_told = fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0;
    if (fd >= 0)
        close(fd);
    return is_told && strcmp(info.driver, "bridge") == 0;
}

static bool is_wished(const struct ifaddrs *ifa, const struct wish *wish)
{
    const union ep_sockaddr *addr = (const union ep_sockaddr *)ifa->ifa_addr;
    bool is_loopback = (ifa->ifa_flags & IFF_LOOPBACK) != 0;
    bool is_asked = wish->name || wish->net.sa.sa_family != AF_UNSPEC;

    if (addr == NULL || !(ifa->ifa_flags & IFF_UP))
        return false;
    if (addr->sa.sa_family != AF_INET && addr->sa.sa_family != AF_INET6)
        return false;
    if (wish->name && strcmp(wish->name, ifa->ifa_name) != 0)
        return false;
    if (wish->net.sa.sa_family != AF_UNSPEC && !is_in_net(addr, wish))
        return false;
    return is_asked || is_loopback == wish->is_loopback;
}

/* Ranks addresses, the best first. The worst are those without carrier, then
 * those of links that reach only the other end of a cable, then bridges, then
 * IPv6. */
static unsigned rank(const struct ifaddrs *ifa)
{
    const union ep_sockaddr *addr = (const union ep_sockaddr *)ifa->ifa_addr;
    bool is_ipv4 = addr->sa.sa_family == AF_INET;
    bool is_local = is_ipv4 ? ntohl(addr->in.sin_addr.s_addr) >> 16 == 0xa9fe
                            : IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);

    return (ifa->ifa_flags & IFF_RUNNING ? 0 : 8u) | (is_local ? 4u : 0) |
           (is_bridge(ifa->ifa_name) ? 2u : 0) | !is_ipv4;
}

static bool find_best(const struct ifaddrs *list, const struct wish *wish,
                      union ep_sockaddr *out)
{
    unsigned best = UINT_MAX;

    for (const struct ifaddrs *ifa = list; ifa; ifa = ifa->ifa_next) {
        const union ep_sockaddr *addr =
            (const union ep_sockaddr *)ifa->ifa_addr;

        if (!is_wished(ifa, wish) || rank(ifa) >= best)
            continue;
        best = rank(ifa);
        *out = (union ep_sockaddr){0};
        memcpy(out, addr, ep_addr_len(addr));
        ep_addr_set_port(out, 0);
    }
    return best != UINT_MAX;
}

static void explain(const struct ifaddrs *list, const char *interface,
                    char *why)
{
    char names[120] = "";
    size_t len = 0;

    for (const struct ifaddrs *ifa = list; ifa; ifa = ifa->ifa_next) {
        size_t more = strlen(ifa->ifa_name);

        if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != AF_INET ||
            !(ifa->ifa_flags & IFF_UP) || len + more + 2 > sizeof(names))
            continue;
        len += (size_t)snprintf(names + len, sizeof(names) - len, " %s",
                                ifa->ifa_name);
    }
    ep_why(why,
           "this host has no interface \"%.40s\" that is up; its interfaces "
           "are:%s (give a name, an address or a network like 10.1.0.0/16)",
           interface ? interface : "", *names ? names : " none");
}

int ep_addr_pick(const char *interface, bool is_local, union ep_sockaddr *out,
                 char *why)
{
    struct wish wish = {.is_loopback = is_local};
    struct ifaddrs *list = NULL;
    bool is_found = false;

    if (getifaddrs(&list) != 0) {
        ep_why(why, "the system does not list its network interfaces");
        return OV_EINVAL;
    }
    if (interface == NULL || wish_parse(interface, &wish))
        is_found = find_best(list, &wish, out);
    if (!is_found && interface == NULL) {
        wish.is_loopback = true;
        is_found = find_best(list, &wish, out);
    }
    if (!is_found)
        explain(list, interface, why);
    freeifaddrs(list);
    return is_found ? 0 : OV_EINVAL;
}
