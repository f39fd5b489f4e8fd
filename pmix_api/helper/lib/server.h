/* libpmix as a server: how it is started, and what it writes of itself. */
#ifndef PMIX_API_HELPER_LIB_SERVER_H
#define PMIX_API_HELPER_LIB_SERVER_H

#include <stdint.h>

#include <pmix_server.h>

struct px_lib_cfg;

/* Where it listens. */
struct px_server_address {
    char host[64]; /* IPv4 */
    uint16_t port;
};

/* Starts it, once, in a folder that is gone again when this returns. NULL, or
 * what went wrong. */
const char *px_server_start(const struct px_lib_cfg *cfg,
                            pmix_server_module_t *module,
                            struct px_server_address *out);

#endif
