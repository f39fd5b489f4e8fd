/* What is known of a run before anything is started. */
#include "endpoints/run/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/impl.h"

static int open_input_file(struct run *r)
{
    if (r->options.input == NULL)
        return 0;
    r->input_fd = open(r->options.input, O_RDONLY | O_CLOEXEC);
    if (r->input_fd >= 0)
        return 0;
    ep_run_say(r, "cannot read '%s': %s", r->options.input, strerror(errno));
    return 1;
}

int ep_run_plan_nodes(struct run *r, uint32_t *most)
{
    int rc;

    if (gethostname(r->host, sizeof(r->host) - 1))
        strcpy(r->host, "localhost");
    rc = ep_run_plan_hosts(r);
    if (rc == 0)
        rc = ep_run_plan_ranks(r, most);
    return rc == 0 ? ep_run_plan_tree(r) : rc;
}

int ep_run_plan(struct run *r)
{
    uint32_t most = 0;
    int rc = open_input_file(r);

    if (rc == 0)
        rc = ep_run_plan_nodes(r, &most);
    if (rc == 0)
        rc = ep_run_plan_job(r);
    if (rc == 0)
        rc = ep_run_plan_session(r, most);
    if (rc == 0)
        rc = ep_run_plan_bind(r);
    if (rc == 0) {
        r->nodes = calloc((size_t)r->nodes_count + 1, sizeof(*r->nodes));
        if (r->nodes == NULL)
            rc = ep_run_fail(r, "out of memory");
    }
    return rc;
}
