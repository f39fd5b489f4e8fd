/* What tools ask of the launcher, until it has answered.
 *
 * The library's thread opens requests and is the one that they are answered in;
 * the main thread hears the launcher.
 */
#ifndef PMIX_API_HELPER_REQUEST_H
#define PMIX_API_HELPER_REQUEST_H

#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/wire.h"

enum {
    REQUESTS_MAX = 128,
    REQUEST_BYTES_MAX = 512 * 1024, /* of all texts that were not written yet */
};

/* Who is called with the answer: one of them. */
struct px_asker {
    pmix_op_cbfunc_t on_op;
    pmix_info_cbfunc_t on_info;
    pmix_spawn_cbfunc_t on_spawn;
    void *arg;
    uint32_t pull;        /* of on_spawn: gets its output; 0: none does */
    pmix_status_t status; /* the answer, where the launcher has done it */
};

/* Returns a token, not 0; or 0 when too much is open (or memory is out): the
 * asker is then told PMIX_ERR_OUT_OF_RESOURCE, as always later. `bytes` is what
 * the request weighs in the launcher. */
uint32_t px_request_open(const struct px_asker *asker, uint32_t bytes);

/* The launcher's word; a token of nobody's is ignored. */
void px_request_done(const struct px_done *done);

/* Answers at the next turn, without the launcher. */
void px_request_refuse(const struct px_asker *asker, pmix_status_t status);

#endif
