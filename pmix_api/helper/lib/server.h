/* Starts libpmix as a server, and reads the rendezvous file that it writes
 * about itself. */
#ifndef PMIX_API_HELPER_LIB_SERVER_H
#define PMIX_API_HELPER_LIB_SERVER_H

#include <stdint.h>

#include <pmix_server.h>

struct px_lib_cfg;

/* The address at which libpmix listens. */
struct px_server_address {
    char host[64]; /* IPv4 */
    uint16_t port;
};

/* Starts the server; to be called once. It uses a folder that is removed before
 * this returns. Returns NULL, or a sentence that says what went wrong. */
const char *px_server_start(const struct px_lib_cfg *cfg,
                            pmix_server_module_t *module,
                            struct px_server_address *out);

#endif
