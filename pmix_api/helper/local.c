/* Names of the processes on this machine, behind the library's back. */
#include "pmix_api/helper/local.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pmix_proc_t *procs; /* owned; NULL: it named none of the two */
    size_t count;
} said;

static bool is_local(const pmix_proc_t *proc)
{
    return proc->rank == PMIX_RANK_LOCAL_NODE ||
           proc->rank == PMIX_RANK_LOCAL_PEERS;
}

static bool has_local(const pmix_proc_t *procs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_local(&procs[i]))
            return true;
    }
    return false;
}

void px_local_read(pmix_proc_t *procs, size_t count)
{
    free(said.procs);
    said.procs = NULL;
    if (!has_local(procs, count))
        return;
    said.procs = calloc(count, sizeof(*said.procs));
    if (said.procs == NULL)
        return; /* it is refused */
    memcpy(said.procs, procs, count * sizeof(*procs));
    said.count = count;
    for (size_t i = 0; i < count; i++) {
        if (is_local(&procs[i]))
            procs[i].rank = PMIX_RANK_WILDCARD;
    }
}

const pmix_proc_t *px_local_said(const pmix_proc_t *procs, size_t count)
{
    if (has_local(procs, count))
        return NULL;
    return said.procs != NULL && said.count == count ? said.procs : procs;
}
