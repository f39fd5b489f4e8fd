/* Daemons on this machine: xylemd itself. */
#include "config.h"

#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/spawn/spawner.h"

static int announce(const struct ep_launch *launch)
{
    const char *argv[] = {launch->xylemd, "--boot", NULL};
    struct ep_spawn_job job = {
        .argv = argv, .env = (const char *const *)environ, .new_session = true};

    return ep_spawner_job(launch->spawner, launch->job, &job);
}

static void put_program(struct ep_text *out, const char *xylemd,
                        const char *rsh)
{
    (void)rsh;
    ep_text_puts(out, xylemd);
}

const struct ep_launcher_ops ep_launcher_local = {
    .name = "local", .announce = announce, .put_program = put_program};
