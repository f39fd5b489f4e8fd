/* Daemons behind a remote shell: `RSH HOST COMMANDLINE`, RSH being split and
 * quoted as a shell does. */
#include "config.h"

#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"

/* The host travels to the shell in a variable, so that one job of the spawner
 * serves all hosts; it is gone before the remote shell starts. A session of its
 * own: no terminal to ask for a password on, which would stop it in the
 * background, and no SIGINT from there. */
static int announce(const struct ep_launch *launch)
{
    struct ep_text script = {0}, line = {0};
    int rc = OV_ENOMEM;

    ep_text_printf(&script,
                   "h=$" EP_LAUNCHER_HOST_VARIABLE
                   "; unset " EP_LAUNCHER_HOST_VARIABLE
                   "; exec %s \"$h\" \"$1\"",
                   launch->rsh);
    ep_text_puts(&line, "exec ");
    ep_text_shell_word(&line, launch->xylemd);
    ep_text_puts(&line, " --boot");
    if (!script.bad && !line.bad) {
        const char *argv[] = {"/bin/sh", "-c", script.at, "sh", line.at, NULL};
        struct ep_spawn_job job = {.argv = argv,
                                   .env = (const char *const *)environ,
                                   .new_session = true};

        rc = ep_spawner_job(launch->spawner, launch->job, &job);
    }
    ep_text_fini(&script);
    ep_text_fini(&line);
    return rc;
}

static void put_program(struct ep_text *out, const char *xylemd,
                        const char *rsh)
{
    (void)xylemd;
    ep_text_printf(out, "the remote shell \"%s\"", rsh);
}

const struct ep_launcher_ops ep_launcher_ssh = {
    .name = "ssh", .announce = announce, .put_program = put_program};
