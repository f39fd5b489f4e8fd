/* A turn in the library's thread. */
#include "pmix_api/helper/turn.h"

void px_turn(void (*call)(pmix_status_t status, void *arg), void *arg)
{
    /* Nobody has this name: there is nothing to forget, but the call. */
    static const pmix_nspace_t nobody = "xylem-nobody";

    PMIx_server_deregister_nspace(nobody, call, arg);
}
