/* The door of the session. */
#include "endpoints/run/door.h"

#include "endpoints/client/door.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/impl.h"
#include "endpoints/sys/why.h"

static void on_stop(void *arg)
{
    ep_run_dvm_stop(arg);
}

void ep_run_door_open(struct run *r)
{
    static const struct ep_door_events events = {.on_stop = on_stop};
    const struct ep_door_cfg cfg = {
        .base = r->base,
        .name = r->plan.nspace,
        .is_dvm = r->options.is_dvm,
        .events = &events,
        .arg = r,
    };
    char why[EP_WHY_MAX];

    if (ep_door_open(&cfg, &r->found.door, why) == 0)
        return;
    if (r->options.is_dvm)
        ep_voice_say(&r->voice,
                     "`xylem run --dvm' and `xylem dvm --stop' cannot find "
                     "this dvm (SIGTERM ends it): %s",
                     why);
    else
        ep_voice_note(&r->voice, "`xylem attach' cannot find this job: %s",
                      why);
}

void ep_run_door_close(struct run *r)
{
    ep_door_close(r->found.door);
    r->found.door = NULL;
}

void ep_run_door_alone(struct run *r)
{
    ep_door_no_tools(r->found.door,
                     r->options.tap == NULL
                         ? "the session was started with --no-pmix"
                         : "tools cannot connect to the session: it was built "
                           "without libpmix, or cannot use it (-v says why)");
}
