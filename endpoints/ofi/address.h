/* Addresses: those of this host's interfaces, and addresses as text. All are
 * numeric, because a name service that does not answer would stop the event
 * loop. */
#ifndef ENDPOINTS_OFI_ADDRESS_H
#define ENDPOINTS_OFI_ADDRESS_H

#include "endpoints/ofi/ofi.h"

/* Chooses the address to listen on, with port 0. `interface` is an interface's
 * name, one of this host's addresses, a network like 10.1.0.0/16, or NULL for
 * loopback (is_local) or the first interface that is up and leads to other
 * hosts. Global addresses come before link-local ones, IPv4 before IPv6.
 *
 * Returns 0, or OV_EINVAL with `why`, which lists the interfaces.
 */
int ep_addr_pick(const char *interface, bool is_local, union ep_sockaddr *out,
                 char *why);

/* Reads "1.2.3.4:5", "[::1]:5" or "[fe80::1%eth0]:5". Returns 0 or
 * OV_EINVAL. */
int ep_addr_parse(const char *text, union ep_sockaddr *out);

/* Writes the text that ep_addr_parse() reads, without the scope, which means
 * nothing on other hosts. `text` has EP_ADDR_MAX bytes. */
void ep_addr_format(const union ep_sockaddr *addr, char *text);

/* Writes the address without the port. */
void ep_addr_format_host(const union ep_sockaddr *addr, char *text);

size_t ep_addr_len(const union ep_sockaddr *addr);
uint16_t ep_addr_port(const union ep_sockaddr *addr);
void ep_addr_set_port(union ep_sockaddr *addr, uint16_t port);

/* Compares family, address and port, but not the scope. Returns 0 when they are
 * equal. */
int ep_addr_compare(const union ep_sockaddr *a, const union ep_sockaddr *b);

#endif
