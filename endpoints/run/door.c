/* The door of the session. */
#include "endpoints/run/door.h"

#include "endpoints/client/door.h"
#include "endpoints/run/relaunch.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/impl.h"

static void on_stop(void *arg)
{
    ep_run_dvm_stop(arg);
}

void ep_run_door_open(struct run *r)
{
    struct run_relaunch *again = r->plan.relaunch;

    if (!again->has_begun && ep_door_open(&again->door, again->no_door) == 0)
        again->no_door[0] = '\0';
    again->has_begun = true;
}

static void say_none(struct run *r)
{
    char *why = r->plan.relaunch->no_door;

    if (why[0] == '\0')
        return;
    if (r->options.is_dvm)
        ep_voice_say(&r->voice,
                     "`xylem run --dvm' and `xylem dvm --stop' cannot find "
                     "this dvm (SIGTERM ends it): %s",
                     why);
    else
        ep_voice_note(&r->voice, "`xylem attach' cannot find this job: %s",
                      why);
    why[0] = '\0';
}

int ep_run_door_serve(struct run *r)
{
    static const struct ep_door_events events = {.on_stop = on_stop};
    const struct ep_door_cfg cfg = {
        .base = r->base,
        .name = r->plan.nspace,
        .is_dvm = r->options.is_dvm,
        .events = &events,
        .arg = r,
    };

    say_none(r);
    return ep_door_serve(r->plan.relaunch->door, &cfg);
}

void ep_run_door_pause(struct run *r)
{
    ep_door_pause(r->plan.relaunch->door);
}
