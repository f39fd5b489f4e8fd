/* What is known of a run before anything is started. */
#include "endpoints/run/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/impl.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

static int open_input_file(struct run *r)
{
    char why[EP_WHY_MAX];
    int rc;

    if (r->options.input == NULL)
        return 0;
    rc = ep_path_read("--input", r->options.input, &r->input_fd, why);
    if (rc == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : 1;
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
    if (rc == 0) {
        ep_room_read(&r->room);
        rc = ep_run_plan_session(r, most);
    }
    if (rc == 0)
        rc = ep_run_plan_room(r);
    if (rc == 0)
        rc = ep_run_plan_bind(r);
    if (rc == 0) {
        r->nodes = calloc((size_t)r->nodes_count + 1, sizeof(*r->nodes));
        if (r->nodes == NULL)
            rc = ep_voice_fail(&r->voice, "out of memory");
    }
    return rc;
}
