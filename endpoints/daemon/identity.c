/* Fills in the variables XYLEM_... of a process. */
#include "endpoints/daemon/identity.h"

#include <stdio.h>

#include "endpoints/spawn/spawner.h"

void ep_identity_fill(struct ep_identity *identity, const struct job *job,
                      uint32_t place, uint32_t rank, uint32_t local_rank,
                      const char *mark)
{
    const struct {
        const char *name;
        uint32_t value;
    } vars[EP_IDENTITY_VARS] = {
        {"XYLEM_RANK", rank},
        {"XYLEM_SIZE", job->size},
        {"XYLEM_LOCAL_RANK", local_rank},
        {"XYLEM_NODE", place - 1},
        {"XYLEM_NNODES", job->nodes},
        {"XYLEM_STDDIAG_FD", EP_SPAWN_FURTHER_FD},
    };
    unsigned count = EP_IDENTITY_VARS - !job->has_stddiag;

    for (unsigned i = 0; i < count; i++) {
        snprintf(identity->vars[i], sizeof(identity->vars[i]), "%s=%u",
                 vars[i].name, vars[i].value);
        identity->env[i] = identity->vars[i];
    }
    if (mark[0] != '\0')
        identity->env[count++] = mark;
    identity->env[count] = NULL;
}
