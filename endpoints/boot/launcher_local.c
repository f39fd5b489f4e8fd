/* Starts daemons on this machine: runs xylemd itself. */
#include "config.h"

#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/spawn/spawner.h"

enum { WORDS_MAX = 2 };

static int announce(const struct ep_launch *launch)
{
    const char *argv[WORDS_MAX + 2] = {launch->xylemd};
    struct ep_spawn_job job = {.program.argv = argv,
                               .env = (const char *const *)environ,
                               .new_session = true};

    for (unsigned i = 0; i < WORDS_MAX && launch->words[i] != NULL; i++)
        argv[i + 1] = launch->words[i];
    return ep_spawner_job(launch->spawner, launch->job, &job);
}

static void put_program(struct text_buf *out, const char *xylemd,
                        const char *rsh)
{
    (void)rsh;
    text_buf_puts(out, xylemd);
}

const struct ep_launcher_ops ep_launcher_local = {
    .name = "local",
    .is_here = true,
    .exec_hint = " (is xylem installed completely? --xylemd names the daemon)",
    .is_swept = true,
    .announce = announce,
    .put_program = put_program,
};
